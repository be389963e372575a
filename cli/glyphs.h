/*
 * Text on a screen: how many columns it takes, and how foreign text is shown so that it cannot move
 * the cursor, change colours or turn the line round. Pure functions, any thread.
 */
#ifndef CLI_GLYPHS_H
#define CLI_GLYPHS_H

#include <stdbool.h>
#include <stddef.h>

struct buffer;

/* Whether it is UTF-8. */
bool glyphs_are_text(const char *text);
/*
 * Columns that the text takes: of each grapheme cluster the largest width of its code points; 2 for a flag
 * and for what U+FE0F makes an emoji. Bytes that are no UTF-8 count 1 each.
 */
size_t glyphs_width(const char *text);
/* The bytes of the longest beginning that takes at most `width` columns; ends between two clusters. */
size_t glyphs_fit(const char *text, size_t width);

/*
 * Appends foreign text: controls (C0, DEL, C1), line and paragraph separators, marks that turn the direction,
 * and bytes that are no UTF-8 become escapes: \n, \x1b, \u202e.
 */
void glyphs_show(struct buffer *out, const char *text);
/* The same as a copy; NULL becomes "-". The caller frees it. */
char *glyphs_shown(const char *text);
/* JSON text as it may be shown: the same characters, which stand in strings only, become \uXXXX. */
void glyphs_show_json(struct buffer *out, const char *json);

#endif

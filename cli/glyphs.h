/*
 * The width of text on a screen, and the safe display of foreign text, which must not move the cursor, change
 * colours or change the direction of a line. Pure functions, any thread.
 */
#ifndef CLI_GLYPHS_H
#define CLI_GLYPHS_H

#include <stdbool.h>
#include <stddef.h>

struct buffer;

/* Whether the text is valid UTF-8. */
bool glyphs_are_text(const char *text);
/*
 * Returns the number of columns of the text. A grapheme cluster is as wide as its widest code point. The
 * emoji of a flag has 2 columns, and so has a character that U+FE0F turns into an emoji. Each byte that is
 * not UTF-8 counts as 1.
 */
size_t glyphs_width(const char *text);
/* Returns the length in bytes of the longest beginning of the text that has at most `width` columns. This
 * beginning ends between two grapheme clusters. */
size_t glyphs_fit(const char *text, size_t width);

/*
 * Appends foreign text. The following become escapes such as \x1b or \u202e: control characters (C0, DEL,
 * C1), line and paragraph separators, marks that change the direction of text, and bytes that are not UTF-8.
 */
void glyphs_show(struct buffer *out, const char *text);
/* Does the same as glyphs_show in a new string, which the caller frees; NULL becomes "-". */
char *glyphs_shown(const char *text);
/* Appends JSON text for display. The characters that glyphs_show escapes become \uXXXX; valid JSON has them
 * only inside strings. */
void glyphs_show_json(struct buffer *out, const char *json);

#endif

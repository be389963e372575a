/*
 * The width of text on a screen, and safe display of foreign text: it cannot move the cursor, change colours
 * or turn the direction of a line. Pure functions, any thread.
 */
#ifndef CLI_GLYPHS_H
#define CLI_GLYPHS_H

#include <stdbool.h>
#include <stddef.h>

struct buffer;

/* Whether the text is valid UTF-8. */
bool glyphs_are_text(const char *text);
/*
 * The columns that the text takes. A grapheme cluster is as wide as its widest code point; a flag takes 2,
 * an emoji made by U+FE0F too. Each byte that is not UTF-8 counts 1.
 */
size_t glyphs_width(const char *text);
/* The length in bytes of the longest beginning that takes at most `width` columns. It ends between two
 * grapheme clusters. */
size_t glyphs_fit(const char *text, size_t width);

/*
 * Appends foreign text. These become escapes such as \x1b or \u202e: controls (C0, DEL, C1), line and
 * paragraph separators, marks that turn the direction, and bytes that are not UTF-8.
 */
void glyphs_show(struct buffer *out, const char *text);
/* As glyphs_show, but makes a new string; NULL becomes "-". The caller frees it. */
char *glyphs_shown(const char *text);
/* Appends JSON text for display. The characters that glyphs_show escapes become \uXXXX; valid JSON has them
 * only inside strings. */
void glyphs_show_json(struct buffer *out, const char *json);

#endif

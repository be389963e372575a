/* Where texts may be cut. Pure; any thread. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stddef.h>

/*
 * The length of the longest beginning of `text` that has at most `max` bytes and ends between two characters.
 * The text is UTF-8; of other bytes nothing is promised but the bound.
 */
size_t utf8_cut(const char *text, size_t max);
/* A copy of that beginning; NULL stays NULL. The caller frees it. */
char *utf8_cut_copy(const char *text, size_t max);

#endif

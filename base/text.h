/* Texts: where they may be cut, how foreign ones are shown, what names in HTTP are made of. Pure functions,
 * any thread. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The length of the longest beginning of `text` that has at most `max` bytes and ends between two characters.
 * The text is UTF-8; of other bytes nothing is promised but the bound.
 */
size_t utf8_cut(const char *text, size_t max);
/* A copy of that beginning; NULL stays NULL. The caller frees it. */
char *utf8_cut_copy(const char *text, size_t max);

/*
 * Foreign text that is shown to people: in logs, messages, the delivery log. Controls (C0, C1, line
 * separators) and marks that turn the direction of what stands beside them become a space each, bytes that
 * are no UTF-8 a question mark, and a cut falls between two characters. Writes what fits into `size` bytes,
 * at least one, with the NUL, which is always written; its length without the NUL. It is never longer than
 * `len`. `to` may be `from`: then `size` is at least len + 1.
 */
size_t printable_write(char *to, size_t size, const char *from, size_t len);

/* A token of RFC 9110 5.6.2, as the names of header fields are: letters, digits and a few signs. */
bool http_is_token(const char *text, size_t len);

#endif

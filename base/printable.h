/*
 * Foreign text that is shown to people: in logs, messages, the delivery log. Controls (C0, C1, line
 * separators) and marks that turn the direction of what stands beside them become a space each, bytes that
 * are no UTF-8 a question mark, and a cut falls between two characters. Pure functions, any thread.
 */
#ifndef BASE_PRINTABLE_H
#define BASE_PRINTABLE_H

#include <stddef.h>

/* Writes what fits into `size` bytes with the NUL, which is always written; its length without the NUL. It is
 * never longer than `len`. `to` may be `from`: then `size` is at least len + 1. */
size_t printable_write(char *to, size_t size, const char *from, size_t len);

#endif

/* Unpacks a gzip text that somebody else made: bounded, whatever it claims. Pure; any thread. */
#ifndef BASE_GUNZIP_H
#define BASE_GUNZIP_H

#include <stdbool.h>

#include "base/buffer.h"

enum gunzip_end { GUNZIP_OK, GUNZIP_MALFORMED, GUNZIP_TOO_LARGE };

/* Appends to `out`, whose maximum is the bound (TOO_LARGE). */
enum gunzip_end gunzip(const char *bytes, size_t len, struct buffer *out);

#endif

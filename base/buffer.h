/*
 * A growing byte buffer that is born with a maximum size: whatever a peer can make grow goes through one.
 * Not shared between threads. Appending past the maximum sets `overflow` and changes nothing else, so a
 * sequence of appends is checked once at its end.
 */
#ifndef BASE_BUFFER_H
#define BASE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/attrs.h"

struct buffer {
    char *data; /* always terminated by a NUL byte that `len` does not count; NULL while empty */
    size_t len;
    size_t capacity;
    size_t max;
    bool overflow;
};

void buffer_init(struct buffer *b, size_t max_bytes);
/* Frees the bytes; the struct may be used again with the same maximum. */
void buffer_done(struct buffer *b);
/* Appends; false when the maximum would be passed. */
bool buffer_add(struct buffer *b, const void *bytes, size_t len);
bool buffer_add_str(struct buffer *b, const char *text);
bool buffer_printf(struct buffer *b, const char *format, ...) ATTR_PRINTF(2, 3);
/* Moves the bytes out (never NULL); the caller frees them. */
char *buffer_take(struct buffer *b, size_t *ret_len);

#define CLEANUP_BUFFER CLEANUP(buffer_done)

enum gunzip_end { GUNZIP_OK, GUNZIP_MALFORMED, GUNZIP_TOO_LARGE };
/* Appends what a gzip text of somebody else's holds, whatever it claims: the maximum of `b` is the bound. */
enum gunzip_end buffer_gunzip(struct buffer *b, const char *bytes, size_t len);

/* Bytes that do not grow any more: a body in gzip form, made by those who serve it. */
struct http_coded {
    size_t len;
    char bytes[];
};

#endif

/*
 * A byte buffer that grows up to a maximum size. All data whose size a peer can choose is stored in such a
 * buffer. Not shared between threads. Appending past the maximum sets `overflow` and changes nothing else. A
 * sequence of appends is therefore checked once, at its end.
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
void buffer_add(struct buffer *b, const void *bytes, size_t len);
void buffer_add_str(struct buffer *b, const char *text);
void buffer_printf(struct buffer *b, const char *format, ...) ATTR_PRINTF(2, 3);
/* Moves the bytes out (never NULL); the caller frees them. */
char *buffer_take(struct buffer *b, size_t *ret_len);

#define CLEANUP_BUFFER CLEANUP(buffer_done)

enum gunzip_end { GUNZIP_OK, GUNZIP_MALFORMED, GUNZIP_TOO_LARGE };
/* Unpacks gzip data of a peer and appends the result. The maximum of `b` limits the result, whatever size the
 * data claims to have. */
enum gunzip_end buffer_gunzip(struct buffer *b, const char *bytes, size_t len);

/* A body as gzip. http/answer.c makes it when the body is sent. */
struct http_coded {
    size_t len;
    char bytes[];
};

#endif

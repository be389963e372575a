/*
 * Compresses a large body in pieces while it is sent. Compression of the whole body at once would block the
 * worker for milliseconds. Runs on the worker of the request.
 */
#ifndef HTTP_GZIP_STREAM_H
#define HTTP_GZIP_STREAM_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct gzip_stream;

/* Takes over `text`, whose first `len` bytes are the body. NULL when there is no memory; then `text` is not
 * taken. */
struct gzip_stream *gzip_stream_new(char *text, size_t len, int level);
/* NULL is allowed. */
void gzip_stream_free(struct gzip_stream *s);

/* For libmicrohttpd: a content reader, and the function that is called at the end of its response. Each piece
 * takes well below a millisecond. */
ssize_t gzip_stream_read(void *stream, uint64_t position, char *bytes, size_t max);
void gzip_stream_response_free(void *stream);

#endif

#include "http/gzip_stream.h"

#include <assert.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <zlib.h>

#include "http/message/content.h"

enum { PIECE_BYTES = 128 * 1024 };

struct gzip_stream {
    z_stream z;
    char *text;
    size_t left; /* the number of bytes of the body that were not yet passed to zlib */
    int last;    /* the last return value of zlib */
};

struct gzip_stream *gzip_stream_new(char *text, size_t len, int level)
{
    assert(text && len);
    struct gzip_stream *s = calloc(1, sizeof(*s));
    if (!s || !compress_begin(&s->z, level)) {
        free(s);
        return NULL;
    }
    s->text = text;
    s->left = len;
    s->z.next_in = (z_const Bytef *)text;
    return s;
}

void gzip_stream_free(struct gzip_stream *s)
{
    if (!s)
        return;
    (void)deflateEnd(&s->z);
    free(s->text);
    free(s);
}

/* Compresses a piece. A flush follows each piece, so that each call produces bytes to send. */
static void code_piece(struct gzip_stream *s)
{
    if (!s->z.avail_in) {
        s->z.avail_in = (uInt)(s->left < PIECE_BYTES ? s->left : PIECE_BYTES);
        s->left -= s->z.avail_in;
    }
    s->last = deflate(&s->z, s->left ? Z_SYNC_FLUSH : Z_FINISH);
}

ssize_t gzip_stream_read(void *stream, uint64_t position ATTR_UNUSED, char *bytes, size_t max)
{
    struct gzip_stream *s = stream;
    assert(max > 0 && max <= UINT32_MAX);
    if (s->last == Z_STREAM_END)
        return MHD_CONTENT_READER_END_OF_STREAM;
    s->z.next_out = (Bytef *)bytes;
    s->z.avail_out = (uInt)max;
    while (s->z.avail_out == max && s->last != Z_STREAM_END) {
        code_piece(s);
        if (s->last != Z_OK && s->last != Z_BUF_ERROR && s->last != Z_STREAM_END)
            return MHD_CONTENT_READER_END_WITH_ERROR;
    }
    ssize_t made = (ssize_t)(max - s->z.avail_out);
    return made ? made : MHD_CONTENT_READER_END_OF_STREAM;
}

void gzip_stream_response_free(void *stream)
{
    gzip_stream_free(stream);
}

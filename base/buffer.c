#include "base/buffer.h"

#include <assert.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/mem.h"

enum { BUFFER_FIRST_BYTES = 256 };

void buffer_init(struct buffer *b, size_t max_bytes)
{
    *b = (struct buffer){.max = max_bytes};
}

void buffer_done(struct buffer *b)
{
    free(b->data);
    *b = (struct buffer){.max = b->max};
}

static bool buffer_reserve(struct buffer *b, size_t extra)
{
    if (b->overflow || extra > b->max || b->len > b->max - extra) {
        b->overflow = true;
        return false;
    }
    size_t need = b->len + extra + 1;
    if (need <= b->capacity)
        return true;
    size_t capacity = b->capacity ? b->capacity : BUFFER_FIRST_BYTES;
    while (capacity < need)
        capacity *= 2;
    b->data = mem_realloc_array(b->data, capacity, 1);
    b->capacity = capacity;
    return true;
}

void buffer_add(struct buffer *b, const void *bytes, size_t len)
{
    if (!buffer_reserve(b, len))
        return;
    if (len)
        memcpy(b->data + b->len, bytes, len);
    b->len += len;
    assert(b->len <= b->max && b->len < b->capacity);
    b->data[b->len] = '\0';
}

void buffer_add_str(struct buffer *b, const char *text)
{
    buffer_add(b, text, strlen(text));
}

void buffer_printf(struct buffer *b, const char *format, ...)
{
    va_list args;
    char *text = NULL;
    va_start(args, format);
    int n = vasprintf(&text, format, args);
    va_end(args);
    if (n < 0)
        abort();
    buffer_add(b, text, (size_t)n);
    free(text);
}

char *buffer_take(struct buffer *b, size_t *ret_len)
{
    char *data = b->data ? b->data : mem_calloc(1, 1);
    if (ret_len)
        *ret_len = b->len;
    *b = (struct buffer){.max = b->max};
    return data;
}

enum gunzip_end buffer_gunzip(struct buffer *b, const char *bytes, size_t len)
{
    enum { GZIP_WINDOW = 15 + 16, PIECE = 64 * 1024 };
    unsigned char *piece = malloc(PIECE);
    z_stream z = {.next_in = (unsigned char *)(uintptr_t)bytes, .avail_in = (uInt)len};
    if (!piece || inflateInit2(&z, GZIP_WINDOW) != Z_OK)
        abort();
    enum gunzip_end end = len > UINT32_MAX ? GUNZIP_TOO_LARGE : GUNZIP_OK;
    int r = Z_OK;
    while (end == GUNZIP_OK && r == Z_OK) {
        z.next_out = piece;
        z.avail_out = PIECE;
        r = inflate(&z, Z_NO_FLUSH);
        buffer_add(b, piece, PIECE - z.avail_out);
        if (b->overflow)
            end = GUNZIP_TOO_LARGE;
        if (r == Z_STREAM_END && z.avail_in) /* a file may have several members (RFC 1952, 2.2) */
            r = inflateReset(&z);
    }
    if (end == GUNZIP_OK && (r != Z_STREAM_END || z.avail_in))
        end = GUNZIP_MALFORMED;
    (void)inflateEnd(&z);
    free(piece);
    return end;
}

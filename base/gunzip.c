#include "base/gunzip.h"

#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>

enum { GZIP_WINDOW = 15 + 16, PIECE = 64 * 1024 };

enum gunzip_end gunzip(const char *bytes, size_t len, struct buffer *out)
{
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
        if (!buffer_add(out, piece, PIECE - z.avail_out))
            end = GUNZIP_TOO_LARGE;
    }
    if (end == GUNZIP_OK && (r != Z_STREAM_END || z.avail_in))
        end = GUNZIP_MALFORMED;
    (void)inflateEnd(&z);
    free(piece);
    return end;
}

#include "api/compress.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "api/checks.h"
#include "api/conditional.h"
#include "api/routes.h"

enum {
    AT_LEAST = 1024,           /* below, the packet is what counts */
    AT_MOST = 4 * 1024 * 1024, /* above, a worker would be held up for longer than a client gains */
    LEVEL_KEPT = 6,
    LEVEL_ONCE = Z_BEST_SPEED,
    WINDOW_BITS_GZIP = 15 + 16,
    MEMORY_LEVEL = 8,
};

bool compress_is_possible(const struct request *r)
{
    return r->route && !(r->route->flags & ROUTE_SECRET);
}

/* Quality of a coding, 0 to 1000; -1 when neither it nor "*" stands in the list. */
static int quality(const char *list, const char *coding)
{
    const char *item;
    size_t len;
    int found = -1;
    while (header_next_item(&list, &item, &len)) {
        size_t name = 0;
        while (name < len && !strchr("; \t", item[name]))
            name++;
        if (header_item_is(item, name, coding))
            return (int)item_weight(item, item + len);
        if (header_item_is(item, name, "*"))
            found = (int)item_weight(item, item + len);
    }
    return found;
}

bool compress_is_wanted(const char *accept_encoding)
{
    if (!accept_encoding)
        return false;
    int gzip = quality(accept_encoding, "gzip");
    return gzip > 0 && gzip >= quality(accept_encoding, "identity");
}

struct view_coded *compress_bytes(const char *bytes, size_t len, int level)
{
    struct view_coded *coded = malloc(sizeof(*coded) + len);
    z_stream z = {.next_in = (z_const Bytef *)(uintptr_t)bytes, .avail_in = (uInt)len};
    if (!coded ||
        deflateInit2(&z, level, Z_DEFLATED, WINDOW_BITS_GZIP, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK) {
        free(coded);
        return NULL;
    }
    z.next_out = (Bytef *)coded->bytes;
    z.avail_out = (uInt)len - 1; /* does it not end in there, it is not worth it */
    int r = deflate(&z, Z_FINISH);
    coded->len = z.total_out;
    (void)deflateEnd(&z);
    if (r == Z_STREAM_END)
        return coded;
    free(coded);
    return NULL;
}

/* The kept form of a prepared body, made by whoever is first. */
static const struct view_coded *kept_form(struct answer *a)
{
    struct view_coded *kept = atomic_load(a->coded_place);
    if (kept)
        return kept;
    struct view_coded *made = compress_bytes(a->bytes, a->len, LEVEL_KEPT);
    if (!made || atomic_compare_exchange_strong(a->coded_place, &kept, made))
        return made;
    free(made);
    return kept;
}

static bool send_coded(struct answer *a)
{
    const struct view_coded *coded = a->coded_place ? kept_form(a) : NULL;
    if (!a->coded_place) {
        struct view_coded *made = compress_bytes(a->bytes, a->len, LEVEL_ONCE);
        if (made) {
            free(a->text);
            a->text = (char *)made;
        }
        coded = made;
    }
    if (!coded)
        return false;
    a->bytes = coded->bytes;
    a->len = coded->len;
    return true;
}

static struct answer_header *find_etag(struct answer *a)
{
    for (unsigned i = 0; i < a->header_count; i++)
        if (!strcmp(a->headers[i].name, "ETag"))
            return &a->headers[i];
    return NULL;
}

/* The client's stored form, when it named only one of the two; else what it would get now. */
static bool form_of_304(const struct request *r, const char *etag, const char *coded_etag, bool wanted)
{
    const char *list = r->headers.values[HEADER_IF_NONE_MATCH];
    bool plain = list && etag_list_holds(list, etag, true);
    bool coded = list && etag_list_holds(list, coded_etag, true);
    return plain == coded ? wanted : coded;
}

void compress_answer(struct request *r)
{
    struct answer *a = &r->answer;
    bool wanted = compress_is_wanted(r->headers.values[HEADER_ACCEPT_ENCODING]);
    bool not_modified = a->status == MHD_HTTP_NOT_MODIFIED;
    if (a->secret || a->len < AT_LEAST || a->len > AT_MOST || !compress_is_possible(r) ||
        a->status >= MHD_HTTP_BAD_REQUEST || (!wanted && !not_modified))
        return;
    struct answer_header *etag = find_etag(a);
    char coded_etag[ANSWER_HEADER_BYTES] = "";
    if (etag && !etag_of_coded(etag->value, coded_etag, sizeof(coded_etag)))
        return;
    if (not_modified && etag)
        wanted = form_of_304(r, etag->value, coded_etag, wanted);
    if (!wanted || !send_coded(a))
        return;
    if (etag)
        memcpy(etag->value, coded_etag, sizeof(coded_etag));
    if (!not_modified)
        answer_header(a, "Content-Encoding", "gzip");
}

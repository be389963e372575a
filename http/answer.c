#include "http/answer.h"

#include <assert.h>
#include <microhttpd.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/etag.h"
#include "base/mem.h"
#include "http/event_stream.h"
#include "http/gzip_stream.h"
#include "http/message/content.h"

enum {
    COMPRESS_AT_LEAST = 1024,      /* smaller bodies are not compressed, because that saves no packet */
    COMPRESS_AT_ONCE = 256 * 1024, /* larger bodies are compressed in pieces, each of which takes half a
                                    * millisecond */
    LEVEL_KEPT = 6,
    LEVEL_ONCE = 1,
};

static void drop_body(struct answer *a)
{
    if (a->secret)
        mem_free_secret(a->text);
    else
        free(a->text);
    if (a->owner)
        a->release(a->owner);
    event_stream_unref(a->stream);
    gzip_stream_free(a->coded);
    a->coded = NULL;
    a->stream = NULL;
    a->is_stream = false;
    a->is_unsized = false;
    a->text = NULL;
    a->owner = NULL;
    a->coded_place = NULL;
    a->bytes = NULL;
    a->len = 0;
    a->secret = false;
}

void answer_drop_fields(struct answer *a)
{
    a->header_count = 0;
    free(a->long_field.value);
    a->long_field.name = NULL;
    a->long_field.value = NULL;
}

void answer_done(struct answer *a)
{
    drop_body(a);
    answer_drop_fields(a);
}

void answer_header(struct answer *a, const char *name, const char *format, ...)
{
    if (a->header_count == ANSWER_MAX_HEADERS)
        return;
    struct answer_header *h = &a->headers[a->header_count];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(h->value, sizeof(h->value), format, args);
    va_end(args);
    if (n <= 0 || (size_t)n >= sizeof(h->value))
        return;
    h->name = name;
    a->header_count++;
}

void answer_field(struct answer *a, const char *name, const char *value)
{
    size_t len = strlen(value);
    if (a->header_count == ANSWER_MAX_HEADERS || !len || len >= ANSWER_HEADER_BYTES)
        return;
    struct answer_header *h = &a->headers[a->header_count++];
    h->name = name;
    memcpy(h->value, value, len + 1);
}

void answer_long_field(struct answer *a, const char *name, char *value)
{
    assert(!a->long_field.name && *value);
    a->long_field.name = name;
    a->long_field.value = value;
}

void answer_number(struct answer *a, const char *name, uint64_t number)
{
    char text[24], *first = text + sizeof(text) - 1;
    *first = '\0';
    do
        *--first = (char)('0' + number % 10);
    while (number /= 10);
    answer_field(a, name, first);
}

void answer_empty(struct answer *a, int status)
{
    drop_body(a);
    a->status = status;
}

void answer_static(struct answer *a, int status, const char *type, const void *bytes, size_t len)
{
    drop_body(a);
    a->status = status;
    a->bytes = bytes;
    a->len = len;
    answer_field(a, "Content-Type", type);
}

void answer_shared(struct answer *a, int status, const char *type, const void *bytes, size_t len,
                   _Atomic(struct http_coded *) *coded_place, void *owner, void (*release)(void *owner))
{
    assert(!owner == !release);
    answer_static(a, status, type, bytes, len);
    a->coded_place = coded_place;
    a->owner = owner;
    a->release = release;
}

void answer_text(struct answer *a, int status, const char *type, char *text, size_t len)
{
    drop_body(a);
    a->status = status;
    a->text = text;
    a->bytes = text;
    a->len = len;
    answer_field(a, "Content-Type", type);
}

void answer_json(struct answer *a, int status, json_t *doc)
{
    char *text = json_text(doc);
    json_decref(doc);
    answer_text(a, status, TYPE_JSON, text, strlen(text));
}

/* ---- gzip: the gzip form of prepared bytes is made once and cached; other bytes are compressed for each
 * answer. When compression fails, the plain answer is sent ---- */

/* Returns the cached gzip form of a prepared body. The first caller makes the form. */
static const struct http_coded *kept_form(struct answer *a)
{
    struct http_coded *kept = atomic_load(a->coded_place);
    if (kept)
        return kept;
    struct http_coded *made = compress_bytes(a->bytes, a->len, LEVEL_KEPT);
    if (!made || atomic_compare_exchange_strong(a->coded_place, &kept, made))
        return made;
    free(made);
    return kept;
}

/* Passes the body to a gzip stream. */
static bool send_in_pieces(struct answer *a)
{
    a->coded = gzip_stream_new(a->text, a->len, LEVEL_ONCE);
    if (!a->coded)
        return false;
    a->text = NULL;
    a->bytes = NULL;
    return true;
}

/* For a body that would be compressed in pieces: sends the answer to HEAD, or a 304, without a
 * Content-Length, because the length of the gzip form is not known (RFC 9110 8.6). */
static bool send_without_length(struct answer *a)
{
    drop_body(a);
    a->is_unsized = true;
    return true;
}

static bool send_coded(struct answer *a, bool is_head)
{
    if (a->text && a->len > COMPRESS_AT_ONCE)
        return is_head || a->status == MHD_HTTP_NOT_MODIFIED ? send_without_length(a) : send_in_pieces(a);
    const struct http_coded *coded = a->coded_place ? kept_form(a) : NULL;
    if (!a->coded_place) {
        struct http_coded *made = compress_bytes(a->bytes, a->len, LEVEL_ONCE);
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

void answer_compress(struct answer *a, bool is_head, const char *accept_encoding, const char *if_none_match)
{
    bool wanted = compress_is_wanted(accept_encoding);
    bool not_modified = a->status == MHD_HTTP_NOT_MODIFIED;
    if (a->secret || a->len < COMPRESS_AT_LEAST || a->status >= MHD_HTTP_BAD_REQUEST ||
        (!wanted && !not_modified))
        return;
    struct answer_header *etag = NULL;
    for (unsigned i = 0; i < a->header_count && !etag; i++)
        if (!strcmp(a->headers[i].name, "ETag"))
            etag = &a->headers[i];
    char coded_etag[ANSWER_HEADER_BYTES] = "";
    if (etag && !etag_of_coded(etag->value, coded_etag, sizeof(coded_etag)))
        return;
    if (not_modified && etag && if_none_match) {
        /* When the client's list has the entity tag of only one form, the 304 has this entity tag. Otherwise
         * the 304 has the entity tag of the form that the client would get now. */
        bool plain = etag_list_holds(if_none_match, etag->value);
        bool coded = etag_list_holds(if_none_match, coded_etag);
        wanted = plain == coded ? wanted : coded;
    }
    if (!wanted || !send_coded(a, is_head))
        return;
    if (etag)
        memcpy(etag->value, coded_etag, sizeof(coded_etag));
    if (!not_modified)
        answer_header(a, "Content-Encoding", "gzip");
}

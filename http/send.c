/* Makes a response of libmicrohttpd from struct answer and queues it. Runs on the worker of the request. */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "http/gzip_stream.h"
#include "http/http_private.h"

#define VARY "Vary"

enum {
    FIELDS_MAX = ANSWER_MAX_HEADERS + 8,
    VARY_BYTES = 512,
    RATE_LIMIT_BYTES = 96,
    /* A client of HTTP/1.0 gets at most this many bytes of a stream at once. Other clients get as many bytes
     * as fit into the connection's memory. */
    STREAM_BLOCK = 1024,
    CODED_BLOCK = 16 * 1024,
};

/* All header fields of one answer, in order. */
struct fields {
    unsigned count;
    struct {
        const char *name; /* the name, a literal */
        const char *value;
        size_t len; /* the length of the value */
    } items[FIELDS_MAX];
    char vary[VARY_BYTES];
    char rate_limit[RATE_LIMIT_BYTES];
    char rate_limit_policy[RATE_LIMIT_BYTES];
};

/* ---- pages of other origins (HT-39 to HT-41): their credentials are in Authorization, never in cookies
 * ---- */

/* Chromium's limit of the time for which a preflight is stored. */
enum { PREFLIGHT_S = 7200 };

static const char cors_exposed[] = "Age, Allow, Cache-Status, ETag, Idempotency-Replayed, Link, Location, "
                                   "Observed-At, Preference-Applied, RateLimit, RateLimit-Policy, "
                                   "Retry-After, WWW-Authenticate, X-Request-Id";

static char *const *cors_origins(const struct http *http)
{
    const struct http_application *application = http->options.application;
    return application->cors_origins ? application->cors_origins(http->options.ctx) : NULL;
}

/* Whether answers depend on Origin. */
static bool cors_is_on(const struct http *http)
{
    char *const *origins = cors_origins(http);
    return origins && origins[0];
}

/* Returns the origin that may read the answer, or NULL. */
static const char *cors_origin(const struct server_request *r)
{
    const char *given = r->headers.values[HEADER_ORIGIN];
    if (!given || r->headers.counts[HEADER_ORIGIN] != 1 || !cors_is_on(r->server))
        return NULL;
    for (char *const *origin = cors_origins(r->server); *origin; origin++)
        if (!strcmp(*origin, given))
            return *origin;
    return NULL;
}

void http_answer_preflight(struct server_request *r, const char *allow)
{
    if (!r->headers.values[HEADER_ACR_METHOD] || !cors_origin(r))
        return;
    answer_header(&r->answer, "Access-Control-Allow-Methods", "%s", allow);
    answer_header(&r->answer, "Access-Control-Allow-Headers",
                  "Authorization, Cache-Control, Content-Type, Idempotency-Key, If-Match, If-None-Match, "
                  "Last-Event-ID, Prefer, X-Request-Id, traceparent, tracestate");
    answer_header(&r->answer, "Access-Control-Max-Age", "%d", PREFLIGHT_S);
}

/*
 * ---- the cached response of a connection's last answer with shared bytes. A client that polls a resource
 * gets the same bytes, with a different request id and age. Only fields that differ are replaced, which
 * costs much less than a new response. The connection owns the cache. ----
 */

struct response_cache {
    struct MHD_Response *response;
    const char *body; /* the address of the body; no other body can have this address, because the body is
                       * valid as long as the response exists */
    unsigned count;
    struct answer_header fields[FIELDS_MAX];
};

static bool has_names(const struct response_cache *kept, const struct fields *fields)
{
    if (kept->count != fields->count)
        return false;
    for (unsigned i = 0; i < fields->count; i++) {
        const char *ours = kept->fields[i].name, *other = fields->items[i].name;
        if (ours != other && strcmp(ours, other) != 0)
            return false;
    }
    return true;
}

static bool values_fit(const struct fields *fields)
{
    for (unsigned i = 0; i < fields->count; i++)
        if (fields->items[i].len >= ANSWER_HEADER_BYTES)
            return false;
    return true;
}

static void set_value(struct answer_header *field, const char *value, size_t len)
{
    memcpy(field->value, value, len + 1);
}

/* Returns the cached response when it has this body and exactly these fields, otherwise NULL. Borrowed until
 * the next call. */
static struct MHD_Response *response_cache_take(struct response_cache *kept, const char *body,
                                                const struct fields *fields)
{
    if (!kept || kept->body != body || !has_names(kept, fields) || !values_fit(fields))
        return NULL;
    for (unsigned i = 0; i < fields->count; i++) {
        struct answer_header *field = &kept->fields[i];
        const char *value = fields->items[i].value;
        if (!memcmp(field->value, value, fields->items[i].len + 1))
            continue;
        (void)MHD_del_response_header(kept->response, field->name, field->value);
        (void)MHD_add_response_header(kept->response, field->name, value);
        set_value(field, value, fields->items[i].len);
    }
    return kept->response;
}

/* Caches a response with this body and these fields, in place of the cached one, and takes it over. The
 * response keeps `body` valid. False when the response was not cached; the caller then still owns it. */
static bool response_cache_put(struct response_cache **place, struct MHD_Response *response, const char *body,
                               const struct fields *fields)
{
    if (!values_fit(fields))
        return false;
    struct response_cache *kept = *place;
    if (kept)
        MHD_destroy_response(kept->response);
    else
        kept = *place = MEM_NEW(struct response_cache);
    kept->response = response;
    kept->body = body;
    kept->count = fields->count;
    for (unsigned i = 0; i < fields->count; i++) {
        kept->fields[i].name = fields->items[i].name;
        set_value(&kept->fields[i], fields->items[i].value, fields->items[i].len);
    }
    return true;
}

void response_cache_free(struct response_cache *kept)
{
    if (!kept)
        return;
    MHD_destroy_response(kept->response);
    free(kept);
}

/* ---- a response ---- */

static void free_text(void *text)
{
    mem_free_secret(text);
}

static void free_plain(void *text)
{
    free(text);
}

/* Passes the body to the response without a copy. */
static struct MHD_Response *make_response(struct answer *a)
{
    void *bytes = (void *)(uintptr_t)a->bytes; /* libmicrohttpd does not change the body */
    struct MHD_Response *response;
    const bool headers_only = a->is_unsized || (a->is_stream && !a->stream);
    if (a->is_stream || a->is_unsized)
        response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_BLOCK, event_stream_read,
                                                     a->stream, event_stream_response_free);
    else if (a->coded)
        response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, CODED_BLOCK, gzip_stream_read,
                                                     a->coded, gzip_stream_response_free);
    else if (a->owner)
        response =
            MHD_create_response_from_buffer_with_free_callback_cls(a->len, bytes, a->release, a->owner);
    else if (a->text)
        response = MHD_create_response_from_buffer_with_free_callback_cls(
            a->len, bytes, a->secret ? free_text : free_plain, a->text);
    else
        response = MHD_create_response_from_buffer(a->len, bytes, MHD_RESPMEM_PERSISTENT);
    /* Without this option the library would send the last chunk of a chunked body, although this answer has
     * no body. The option also ends the connection after the answer. */
    if (response && headers_only)
        (void)MHD_set_response_options(response, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
    if (response) {
        a->stream = NULL;
        a->coded = NULL;
        a->owner = NULL;
        a->text = NULL;
    }
    return response;
}

static bool is_vary(const struct answer_header *h)
{
    return !strcmp(h->name, VARY);
}

static size_t append_name(char list[static VARY_BYTES], size_t len, const char *name)
{
    size_t name_len = strlen(name);
    const size_t comma = len ? 2 : 0;
    if (len + comma + name_len >= VARY_BYTES)
        return len;
    memcpy(list + len, ", ", comma);
    memcpy(list + len + comma, name, name_len + 1);
    return len + comma + name_len;
}

static void add_field(struct fields *f, const char *name, const char *value)
{
    assert(f->count < FIELDS_MAX);
    f->items[f->count].name = name;
    f->items[f->count].len = strlen(value);
    f->items[f->count++].value = value;
}

/* Adds one field with all names on which the answer depends (HT-30): the names that follow from the options
 * of server and request, and the names that the handler has added. */
static void add_vary(struct server_request *r, struct fields *f)
{
    const struct answer *a = &r->answer;
    size_t len = 0;
    if (r->may_compress)
        len = append_name(f->vary, len, "Accept-Encoding");
    if (cors_is_on(r->server))
        len = append_name(f->vary, len, "Origin");
    for (unsigned i = 0; i < a->header_count; i++)
        if (is_vary(&a->headers[i]))
            len = append_name(f->vary, len, a->headers[i].value);
    if (len)
        add_field(f, VARY, f->vary);
}

/* Adds the fields only when the request was refused because of the limit, or when less than a quarter remains
 * (HT-42). */
static void add_rate_limit(const struct server_request *r, struct fields *f)
{
    const struct rate_limit_state *state = &r->rate_limit;
    if (!state->limit || state->remaining * 4 > state->per_minute)
        return;
    const char *name = state->limit->name;
    (void)snprintf(f->rate_limit_policy, RATE_LIMIT_BYTES, "\"%s\";q=%" PRId64 ";w=%d", name,
                   state->per_minute, RATE_LIMIT_WINDOW_S);
    (void)snprintf(f->rate_limit, RATE_LIMIT_BYTES, "\"%s\";r=%" PRId64 ";t=%d", name, state->remaining,
                   state->seconds);
    add_field(f, "RateLimit-Policy", f->rate_limit_policy);
    add_field(f, "RateLimit", f->rate_limit);
}

static void add_cors(const struct server_request *r, struct fields *f)
{
    const char *origin = cors_origin(r);
    if (!origin)
        return;
    add_field(f, "Access-Control-Allow-Origin", origin);
    if (r->method != METHOD_OPTIONS)
        add_field(f, "Access-Control-Expose-Headers", cors_exposed);
}

static void collect_fields(struct server_request *r, struct fields *f)
{
    const struct answer *a = &r->answer;
    f->count = 0;
    add_field(f, "X-Request-Id", r->id);
    for (unsigned i = 0; i < a->header_count; i++)
        if (!is_vary(&a->headers[i]))
            add_field(f, a->headers[i].name, a->headers[i].value);
    if (a->long_field.name)
        add_field(f, a->long_field.name, a->long_field.value);
    add_vary(r, f);
    add_rate_limit(r, f);
    add_cors(r, f);
    if (r->must_close || http_is_draining(r))
        add_field(f, MHD_HTTP_HEADER_CONNECTION, "close");
}

enum MHD_Result server_request_send(struct server_request *r)
{
    struct answer *a = &r->answer;
    struct fields f;
    assert(a->status >= MHD_HTTP_OK && r->stage != STAGE_ANSWERED);
    if (r->method == METHOD_OPTIONS &&
        a->status >= 400) /* a refused OPTIONS request also gets the fields of a preflight */
        http_answer_preflight(r, "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS");
    if (r->may_compress)
        answer_compress(a, r->method == METHOD_HEAD, r->headers.values[HEADER_ACCEPT_ENCODING],
                        r->headers.values[HEADER_IF_NONE_MATCH]);
    collect_fields(r, &f);
    bool may_keep = r->peer && a->owner;
    struct MHD_Response *response =
        may_keep ? response_cache_take(r->peer->response_cache, a->bytes, &f) : NULL;
    bool is_kept = response != NULL;
    if (!response) {
        response = make_response(a);
        if (!response)
            return MHD_NO;
        for (unsigned i = 0; i < f.count; i++)
            (void)MHD_add_response_header(response, f.items[i].name, f.items[i].value);
        is_kept = may_keep && response_cache_put(&r->peer->response_cache, response, a->bytes, &f);
    }
    r->stage = STAGE_ANSWERED;
    enum MHD_Result result = MHD_NO;
    if (!r->peer || connection_enter(r->peer, PHASE_CONN_SEND,
                                     r->took_time ? env_mono(r->server->options.env) : r->started))
        result = MHD_queue_response(r->mhd, (unsigned)a->status, response);
    if (!is_kept)
        MHD_destroy_response(response);
    return result;
}

#include "api/respond.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api_private.h"
#include "api/compress.h"
#include "api/cors.h"
#include "api/kept.h"
#include "api/routes.h"
#include "api/stream.h"
#include "base/log.h"
#include "base/mem.h"

#define VARY "Vary"

/* What clients of HTTP/1.0 get at once; the others get what fits into the connection's memory. */
enum { STREAM_BLOCK = 1024 };

static void free_blob(void *blob)
{
    view_blob_unref(blob);
}

static void free_text(void *text)
{
    mem_free_secret(text);
}

static void free_plain(void *text)
{
    free(text);
}

/* Hands the body over to the response: nothing is copied. */
static struct MHD_Response *make_response(struct answer *a)
{
    void *bytes = (void *)(uintptr_t)a->bytes; /* only read by libmicrohttpd */
    struct MHD_Response *response;
    const bool headers_only = a->is_stream && !a->stream;
    if (a->is_stream)
        response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_BLOCK, stream_read, a->stream,
                                                     stream_response_free);
    else if (a->blob)
        response = MHD_create_response_from_buffer_with_free_callback_cls(a->len, bytes, free_blob, a->blob);
    else if (a->text)
        response = MHD_create_response_from_buffer_with_free_callback_cls(
            a->len, bytes, a->secret ? free_text : free_plain, a->text);
    else
        response = MHD_create_response_from_buffer(a->len, bytes, MHD_RESPMEM_PERSISTENT);
    if (response && headers_only) /* else an end of chunks would follow, which is a body */
        (void)MHD_set_response_options(response, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
    if (response) {
        a->stream = NULL;
        a->blob = NULL;
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
    if (f->count < FIELDS_MAX) {
        f->items[f->count].name = name;
        f->items[f->count++].value = value;
    }
}

/* One field of all that the answer depends on (HT-30): what is so for the route, and what its handler told.
 */
static void add_vary(struct request *r, struct fields *f)
{
    const struct answer *a = &r->answer;
    size_t len = 0;
    if (compress_is_possible(r))
        len = append_name(f->vary, len, "Accept-Encoding");
    if (cors_is_on(r->api))
        len = append_name(f->vary, len, "Origin");
    for (unsigned i = 0; i < a->header_count; i++)
        if (is_vary(&a->headers[i]))
            len = append_name(f->vary, len, a->headers[i].value);
    if (len)
        add_field(f, VARY, f->vary);
}

/* Told once it matters: when a request was refused for it, or less than a quarter is left (HT-42). */
static void add_rate_limit(const struct request *r, struct fields *f)
{
    const struct quota_state *state = &r->quota;
    if (!state->quota || state->remaining * 4 > state->quota->per_minute)
        return;
    const char *name = state->quota->name;
    (void)snprintf(f->rate_limit_policy, RATE_LIMIT_BYTES, "\"%s\";q=%" PRId64 ";w=%d", name,
                   state->quota->per_minute, QUOTA_WINDOW_S);
    (void)snprintf(f->rate_limit, RATE_LIMIT_BYTES, "\"%s\";r=%" PRId64 ";t=%d", name, state->remaining,
                   state->seconds);
    add_field(f, "RateLimit-Policy", f->rate_limit_policy);
    add_field(f, "RateLimit", f->rate_limit);
}

static void add_cors(const struct request *r, struct fields *f)
{
    const char *origin = cors_origin(r);
    if (!origin)
        return;
    add_field(f, "Access-Control-Allow-Origin", origin);
    if (r->method != METHOD_OPTIONS)
        add_field(f, "Access-Control-Expose-Headers", cors_exposed);
}

static void collect_fields(struct request *r, struct fields *f)
{
    const struct answer *a = &r->answer;
    f->count = 0;
    add_field(f, "X-Request-Id", r->id);
    for (unsigned i = 0; i < a->header_count; i++)
        if (!is_vary(&a->headers[i]))
            add_field(f, a->headers[i].name, a->headers[i].value);
    add_vary(r, f);
    add_rate_limit(r, f);
    add_cors(r, f);
    if (r->must_close || atomic_load(&r->api->draining))
        add_field(f, MHD_HTTP_HEADER_CONNECTION, "close");
}

static struct MHD_Response *new_response(struct answer *a, const struct fields *f)
{
    struct MHD_Response *response = make_response(a);
    for (unsigned i = 0; response && i < f->count; i++)
        (void)MHD_add_response_header(response, f->items[i].name, f->items[i].value);
    return response;
}

enum MHD_Result respond_send(struct request *r)
{
    struct answer *a = &r->answer;
    struct fields f;
    if (r->method == METHOD_OPTIONS &&
        a->status >= 400) /* a preflight: scripts are to see what the resource says */
        cors_answer_preflight(r, "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS");
    compress_answer(r);
    collect_fields(r, &f);
    bool may_keep = r->peer && a->blob;
    struct MHD_Response *response = may_keep ? kept_take(r->peer->kept, a->bytes, &f) : NULL;
    bool is_kept = response != NULL;
    if (!response) {
        response = new_response(a, &f);
        if (!response)
            return MHD_NO;
        is_kept = may_keep && kept_put(&r->peer->kept, response, a->bytes, &f);
    }
    r->stage = STAGE_ANSWERED;
    enum MHD_Result result = MHD_NO;
    if (!r->peer || connection_enter(r->peer, PHASE_CONN_SEND))
        result = MHD_queue_response(r->mhd, (unsigned)a->status, response);
    if (!is_kept)
        MHD_destroy_response(response);
    return result;
}

void access_log_write(struct request *r, int64_t duration_us, const char *outcome)
{
    bool quiet = r->route && r->route->flags & ROUTE_QUIET;
    enum log_level level = quiet ? LOG_LEVEL_DEBUG : LOG_LEVEL_INFO;
    if (!log_is_written(level))
        return; /* its values cost something */
    log_write(level, "{method} {route} answered {status}", "request_id", r->id, "trace_id",
              request_trace(r)->id, "method", r->method_text, "route", r->route ? r->route->template : "none",
              "status", LOG_INT(r->answer.status), "duration_us", LOG_INT(duration_us), "bytes_in",
              LOG_INT(r->body_seen), "bytes_out", LOG_INT(r->answer.len), "token",
              r->token ? r->token->id : NULL, "project", r->project, "cluster", r->name, "code",
              r->problem == PROBLEM_MAX_ ? NULL : problem_kind(r->problem)->code, "client", r->client,
              "outcome", outcome, NULL);
}

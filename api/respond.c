#include "api/respond.h"

#include <stdlib.h>
#include <string.h>

#include "api/api_private.h"
#include "api/compress.h"
#include "api/cors.h"
#include "api/routes.h"
#include "base/log.h"
#include "base/mem.h"

#define VARY "Vary"

enum { VARY_BYTES = 512 };

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
    if (a->blob)
        response = MHD_create_response_from_buffer_with_free_callback_cls(a->len, bytes, free_blob, a->blob);
    else if (a->text)
        response = MHD_create_response_from_buffer_with_free_callback_cls(
            a->len, bytes, a->secret ? free_text : free_plain, a->text);
    else
        response = MHD_create_response_from_buffer(a->len, bytes, MHD_RESPMEM_PERSISTENT);
    if (response) {
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

/* One field of all that the answer depends on (HT-30): what is so for the route, and what its handler told.
 */
static void add_vary(struct request *r, struct MHD_Response *response)
{
    const struct answer *a = &r->answer;
    char value[VARY_BYTES];
    size_t len = 0;
    if (compress_is_possible(r))
        len = append_name(value, len, "Accept-Encoding");
    if (cors_is_on(r->api))
        len = append_name(value, len, "Origin");
    for (unsigned i = 0; i < a->header_count; i++)
        if (is_vary(&a->headers[i]))
            len = append_name(value, len, a->headers[i].value);
    if (len)
        (void)MHD_add_response_header(response, VARY, value);
}

static void add_cors(const struct request *r, struct MHD_Response *response)
{
    const char *origin = cors_origin(r);
    if (!origin)
        return;
    (void)MHD_add_response_header(response, "Access-Control-Allow-Origin", origin);
    if (r->method != METHOD_OPTIONS)
        (void)MHD_add_response_header(response, "Access-Control-Expose-Headers", cors_exposed);
}

static void add_fields(struct request *r, struct MHD_Response *response)
{
    const struct answer *a = &r->answer;
    (void)MHD_add_response_header(response, "X-Request-Id", r->id);
    for (unsigned i = 0; i < a->header_count; i++)
        if (!is_vary(&a->headers[i]))
            (void)MHD_add_response_header(response, a->headers[i].name, a->headers[i].value);
    add_vary(r, response);
    add_cors(r, response);
    if (r->must_close || atomic_load(&r->api->draining))
        (void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
}

enum MHD_Result respond_send(struct request *r)
{
    compress_answer(r);
    struct MHD_Response *response = make_response(&r->answer);
    if (!response)
        return MHD_NO;
    add_fields(r, response);
    r->stage = STAGE_ANSWERED;
    enum MHD_Result result = MHD_NO;
    if (!r->peer || connection_enter(r->peer, PHASE_CONN_SEND))
        result = MHD_queue_response(r->mhd, (unsigned)r->answer.status, response);
    MHD_destroy_response(response);
    return result;
}

void access_log_write(struct request *r, int64_t duration_us, const char *outcome)
{
    bool quiet = r->route && r->route->flags & ROUTE_QUIET;
    enum log_level level = quiet ? LOG_LEVEL_DEBUG : LOG_LEVEL_INFO;
    if (!log_is_written(level))
        return; /* its values cost something */
    log_write(level, "request", "request_id", r->id, "trace_id", request_trace(r)->id, "method",
              r->method_text, "route", r->route ? r->route->template : "none", "status",
              LOG_INT(r->answer.status), "duration_us", LOG_INT(duration_us), "bytes_in",
              LOG_INT(r->body_seen), "bytes_out", LOG_INT(r->answer.len), "token",
              r->token ? r->token->id : NULL, "project", r->project, "cluster", r->name, "code",
              r->problem == PROBLEM_MAX_ ? NULL : problem_kind(r->problem)->code, "client",
              r->peer ? r->peer->address : NULL, "outcome", outcome, NULL);
}

#include "http/server_request.h"

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/etag.h"
#include "base/ids.h"
#include "base/mem.h"
#include "base/span.h"
#include "base/text.h"
#include "http/http_private.h"
#include "http/message/headers.h"

enum {
    REFUSED_BODY_BYTES = 16 * 1024, /* the limit of bytes that the client of a refused request may still
                                     * send */
    BODY_VALUES_MAX = 100000,
};

#define ALL_METHODS "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"

static const char *const method_names[METHOD_MAX_] = {
    [METHOD_GET] = "GET",         [METHOD_HEAD] = "HEAD",   [METHOD_POST] = "POST",
    [METHOD_PUT] = "PUT",         [METHOD_PATCH] = "PATCH", [METHOD_DELETE] = "DELETE",
    [METHOD_OPTIONS] = "OPTIONS", [METHOD_TRACE] = "TRACE", [METHOD_CONNECT] = "CONNECT",
};

const char *method_name(enum method method)
{
    assert(method <= METHOD_MAX_);
    return method == METHOD_MAX_ ? "_OTHER" : method_names[method];
}

/* Sets the id of the request: the client's own id if it is valid, otherwise a new id. */
static void choose_id(struct server_request *r)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    const char *given = r->headers.values[HEADER_REQUEST_ID];
    size_t len = given ? strnlen(given, REQUEST_ID_BYTES) : 0;
    if (len >= 8 && len < REQUEST_ID_BYTES && strspn(given, allowed) == len &&
        r->headers.counts[HEADER_REQUEST_ID] == 1)
        memcpy(r->id, given, len + 1);
    else
        (void)id_new(r->server->options.env, ID_REQUEST, r->id);
}

/* ---- start and end ---- */

/* Returns a request whose members are zero, except the header fields of the answer, which are not
 * cleared. */
static struct server_request *cleared_request(const struct http *http, struct connection *peer)
{
    size_t size = http->options.application->request_size;
    struct server_request *r = peer ? TAKE_PTR(peer->spare) : NULL;
    if (!r)
        return mem_calloc(1, size);
    memset(r, 0, offsetof(struct server_request, answer.headers));
    memset(r + 1, 0, size - sizeof(*r));
    return r;
}

static void identify_client(struct server_request *r)
{
    const char *forwarded_for = r->headers.values[HEADER_FORWARDED_FOR], *named = NULL;
    r->client = r->peer ? r->peer->address : NULL;
    if (r->peer && r->peer->is_proxy && forwarded_for)
        named = trust_find_client(&r->server->trust, forwarded_for, r->forwarded_for);
    if (named)
        r->client = named;
}

struct server_request *server_request_new(struct http *http, struct MHD_Connection *mhd,
                                          struct connection *peer, const char *method, const char *version)
{
    struct server_request *r = cleared_request(http, peer);
    r->server = http;
    r->mhd = mhd;
    r->peer = peer;
    r->started = env_mono(http->options.env);
    r->method = METHOD_GET; /* method names are case-sensitive (HT-9) */
    while (r->method < METHOD_MAX_ && strcmp(method, method_names[r->method]) != 0)
        r->method++;
    r->method_text = method_name(r->method);
    r->problem = PROBLEM_MAX_;
    headers_collect(&r->headers, mhd, method, version);
    r->is_http_1_0 = !strcmp(version, MHD_HTTP_VERSION_1_0);
    identify_client(r);
    choose_id(r);
    http->options.application->begin(r, http->options.ctx);
    return r;
}

void server_request_free(struct server_request *r)
{
    assert(!r->suspension && !r->stream);
    headers_done(&r->headers);
    buffer_done(&r->body);
    json_decref(r->document);
    answer_done(&r->answer);
    free(r->path);
    if (r->peer && !r->peer->spare)
        r->peer->spare = r;
    else
        free(r);
}

const struct trace *server_request_trace(struct server_request *r)
{
    const char *given = r->headers.values[HEADER_TRACEPARENT];
    bool named = given && r->headers.counts[HEADER_TRACEPARENT] == 1;
    if (r->trace.id[0])
        return &r->trace;
    named = named && trace_parse(given, &r->trace);
    if (!named)
        trace_begin(r->server->options.env, &r->trace);
    memcpy(r->caller_span, r->trace.span, sizeof(r->caller_span));
    trace_new_span(r->server->options.env, r->trace.span);
    span_decide(r->server->options.env, &r->trace, named && r->peer && r->peer->is_proxy);
    return &r->trace;
}

bool http_is_draining(const struct server_request *r)
{
    return atomic_load(&r->server->draining);
}

const char *http_query_text(const struct server_request *r, const char *name)
{
    return MHD_lookup_connection_value(r->mhd, MHD_GET_ARGUMENT_KIND, name);
}

/* ---- checks ---- */

static struct problem *check_framing(struct server_request *r)
{
    struct framing framing = framing_of(&r->headers);
    r->has_body = framing.has_body;
    r->must_close = framing.must_close;
    struct problem *p = framing_check(&r->headers, r->peer ? r->peer->target_len : 0, r->is_http_1_0);
    if (p)
        r->must_close = true;
    return p;
}

static struct problem *check_method(struct server_request *r)
{
    return r->method == METHOD_MAX_
               ? problem_new(PROBLEM_METHOD_UNKNOWN, "This server does not know the method.")
               : NULL;
}

static struct problem *check_draining(struct server_request *r)
{
    bool is_safe = r->method == METHOD_GET || r->method == METHOD_HEAD || r->method == METHOD_OPTIONS;
    if (is_safe || !http_is_draining(r))
        return NULL;
    return problem_passing(PROBLEM_SHUTTING_DOWN, 5, "The server is being stopped; nothing was accepted.");
}

static struct problem *check_path(struct server_request *r)
{
    if (r->method == METHOD_OPTIONS && !strcmp(r->target, "*")) {
        answer_empty(&r->answer, MHD_HTTP_NO_CONTENT);
        answer_field(&r->answer, "Allow", ALL_METHODS);
        return NULL;
    }
    const char *path = path_of_target(r->target);
    r->path = mem_strdup(path);
    const char *fault = path ? path_split(r->path, &r->segments) : "The request target is not a path.";
    return fault ? problem_new(PROBLEM_MALFORMED_REQUEST, "%s", fault) : NULL;
}

static struct problem *check_by_application(struct server_request *r)
{
    return r->server->options.application->check(r);
}

struct problem *http_refuse_method(struct server_request *r, unsigned allowed)
{
    char allow[128] = "";
    size_t len = 0;
    for (int m = 0; m < METHOD_MAX_; m++)
        if (allowed & 1U << m)
            len += (size_t)snprintf(allow + len, sizeof(allow) - len, "%s%s", len ? ", " : "",
                                    method_name((enum method)m));
    if (r->method == METHOD_OPTIONS) {
        answer_empty(&r->answer, MHD_HTTP_NO_CONTENT);
        http_answer_preflight(r, allow);
        answer_field(&r->answer, "Allow", allow);
        return NULL;
    }
    struct problem *p = problem_new(PROBLEM_METHOD_NOT_ALLOWED, "The resource has the methods %s.", allow);
    problem_set_field(p, "Allow", allow);
    return p;
}

/* Compares the preconditions with a resource that exists. */
static enum precondition conditions_of(const struct server_request *r, const char *etag)
{
    const struct preconditions p =
        preconditions_read(r->headers.values[HEADER_IF_MATCH], r->headers.values[HEADER_IF_NONE_MATCH]);
    return preconditions_check(&p, &(struct etag_current){.exists = true, .tag = etag});
}

struct problem *http_apply_conditions(struct server_request *r, const char *etag)
{
    switch (conditions_of(r, etag)) {
    case PRECONDITION_HOLDS:
        return NULL;
    case PRECONDITION_EXISTS:
    case PRECONDITION_CURRENT:
        /* the library sends only the length of this body (MH-7) */
        r->answer.status = MHD_HTTP_NOT_MODIFIED;
        return NULL;
    case PRECONDITION_OTHER:
    case PRECONDITION_ABSENT:
        break;
    }
    return problem_new(PROBLEM_PRECONDITION_FAILED, "The resource has the entity tag %s.", etag);
}

struct problem *http_check_collection_conditions(const struct server_request *r)
{
    if (conditions_of(r, "") == PRECONDITION_HOLDS)
        return NULL;
    return problem_new(PROBLEM_PRECONDITION_FAILED,
                       "POST makes a member of a collection, which exists and has no entity tag; leave the "
                       "precondition out, or use PUT where there is one.");
}

/* ---- the body: its size is limited while it is received; it is parsed when it is complete (MH-3) ---- */

struct problem *http_check_content(struct server_request *r, const struct content_rules *rules)
{
    struct problem *p = content_check_expect(&r->headers);
    if (p)
        return p;
    buffer_init(&r->body, content_limit(rules));
    r->keeps_body = rules->flags & CONTENT_BODY;
    return content_check(&r->headers, rules, r->method == METHOD_PATCH, r->has_body);
}

bool server_request_append(struct server_request *r, const char *bytes, size_t len)
{
    r->body_seen += len;
    if (r->answer.status == 0 && r->keeps_body)
        buffer_add(&r->body, bytes, len);
    return r->body_seen <= 4 * r->body.max;
}

struct problem *http_check_body_size(struct server_request *r)
{
    if (r->body_seen <= r->body.max)
        return NULL;
    r->must_close = true;
    return problem_new(PROBLEM_BODY_TOO_LARGE, "The body is longer than the %zu bytes of this operation.",
                       r->body.max);
}

struct problem *http_read_document(struct server_request *r, const struct content_rules *rules)
{
    if (!(rules->flags & CONTENT_BODY))
        return NULL;
    const size_t skip = text_mark_length(r->body.data, r->body.len), len = r->body.len - skip;
    if (!len)
        return rules->flags & CONTENT_BODY_OPTIONAL
                   ? NULL
                   : problem_new(PROBLEM_INVALID_JSON, "The body is empty; a JSON object is needed.");
    static const struct json_limits limits = {SIZE_MAX, BODY_VALUES_MAX, BODY_VALUES_MAX};
    if (json_scan(r->body.data + skip, len, &limits) == JSON_SCAN_TOO_MANY_VALUES)
        return problem_new(PROBLEM_BODY_TOO_LARGE, "The body has more than %d values.", BODY_VALUES_MAX);
    struct json_fault fault;
    r->document = json_parse_strict(r->body.data + skip, len, &fault);
    buffer_done(&r->body);
    if (!r->document)
        return problem_new(PROBLEM_INVALID_JSON, "Line %d, column %d: %s.", fault.line, fault.column,
                           fault.text);
    return json_is_object(r->document) ? NULL
                                       : problem_new(PROBLEM_INVALID_JSON, "The body is not a JSON object.");
}

/* ---- stages ---- */

/* Only this function turns problems into answers (HT-1 to HT-5). The function takes over `p`; NULL means that
 * there is no problem. */
static void answer_problem(struct server_request *r, struct problem *p)
{
    if (!p)
        return;
    answer_drop_fields(&r->answer); /* removes the header fields of the answer that was set before */
    r->problem = p->code;
    json_t *doc CLEANUP_JSON = problem_to_json(p, r->id);
    char *text = json_text(doc);
    answer_text(&r->answer, problem_kind(p->code)->status, TYPE_PROBLEM, text, strlen(text));
    answer_field(&r->answer, "Cache-Control", "no-store");
    if (p->retry_after_s > 0)
        answer_header(&r->answer, "Retry-After", "%d", p->retry_after_s);
    if (p->field)
        answer_field(&r->answer, p->field, p->field_value);
    r->server->options.application->add_fields(r, p->code);
    problem_free(p);
}

bool server_request_check(struct server_request *r, const char *target)
{
    static struct problem *(*const checks[])(struct server_request * r) = {
        check_framing, check_method, check_draining, check_path, check_by_application,
    };
    assert(r->stage == STAGE_OPENED && !r->answer.status);
    r->target = target;
    buffer_init(&r->body, REFUSED_BODY_BYTES);
    for (size_t i = 0; i < ARRAY_LEN(checks) && !r->answer.status; i++)
        answer_problem(r, checks[i](r));
    return !r->answer.status;
}

void server_request_handle(struct server_request *r)
{
    assert(r->stage == STAGE_BODY && !r->answer.status);
    answer_problem(r, r->server->options.application->handle(r));
}

/* Ends the suspension. After this call the request may be suspended again. */
static void *leave_suspension(struct server_request *r, enum request_stage stage)
{
    void *result = suspension_leave(r);
    r->stage = stage;
    r->took_time = true;
    return result;
}

bool server_request_resume_check(struct server_request *r)
{
    assert(r->stage == STAGE_CHECK_SUSPENDED && !r->answer.status);
    void *result = leave_suspension(r, STAGE_OPENED);
    answer_problem(r, r->server->options.application->check_resume(r, result));
    return !r->answer.status;
}

void server_request_resume(struct server_request *r)
{
    assert(r->stage == STAGE_SUSPENDED && !r->answer.status);
    void *result = leave_suspension(r, STAGE_BODY);
    answer_problem(r, r->server->options.application->resume(r, result));
}

#include "api/request.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/api_private.h"
#include "api/checks.h"
#include "api/cors.h"
#include "api/match.h"
#include "api/reaper.h"
#include "api/routes.h"
#include "base/ids.h"
#include "base/mem.h"

static const char *const method_names[METHOD_MAX_] = {
    [METHOD_GET] = "GET",         [METHOD_HEAD] = "HEAD",   [METHOD_POST] = "POST",
    [METHOD_PUT] = "PUT",         [METHOD_PATCH] = "PATCH", [METHOD_DELETE] = "DELETE",
    [METHOD_OPTIONS] = "OPTIONS", [METHOD_TRACE] = "TRACE", [METHOD_CONNECT] = "CONNECT",
};

const char *method_name(enum method method)
{
    return method == METHOD_MAX_ ? "_OTHER" : method_names[method];
}

/* Method names are case-sensitive (HT-9). */
static enum method method_from_name(const char *name)
{
    for (int m = 0; m < METHOD_MAX_; m++)
        if (!strcmp(name, method_names[m]))
            return (enum method)m;
    return METHOD_MAX_;
}

static bool request_id_is_valid(const char *id)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    size_t len = strnlen(id, REQUEST_ID_BYTES);
    return len >= 8 && len < REQUEST_ID_BYTES && strspn(id, allowed) == len;
}

static void choose_id(struct request *r)
{
    const char *given = r->headers.values[HEADER_REQUEST_ID];
    if (given && r->headers.counts[HEADER_REQUEST_ID] == 1 && request_id_is_valid(given))
        memcpy(r->id, given, strlen(given) + 1);
    else
        (void)id_new(r->api->options.env, ID_REQUEST, r->id);
}

static struct request *cleared_request(struct connection *peer)
{
    struct request *r = peer ? TAKE_PTR(peer->spare) : NULL;
    if (!r)
        return MEM_NEW(struct request);
    memset(r, 0, offsetof(struct request, answer.headers));
    return r;
}

struct request *request_new(struct api *api, struct MHD_Connection *mhd, struct connection *peer,
                            const char *method, const char *version)
{
    struct request *r = cleared_request(peer);
    r->api = api;
    r->mhd = mhd;
    r->peer = peer;
    r->started = env_mono(api->options.env);
    r->method = method_from_name(method);
    r->method_text = method_name(r->method);
    r->problem = PROBLEM_MAX_;
    headers_collect(&r->headers, mhd, method, version);
    r->is_http_1_0 = !strcmp(version, MHD_HTTP_VERSION_1_0);
    client_identify(r);
    choose_id(r);
    return r;
}

const struct trace *request_trace(struct request *r)
{
    const char *given = r->headers.values[HEADER_TRACEPARENT];
    bool told = given && r->headers.counts[HEADER_TRACEPARENT] == 1;
    if (!r->trace.id[0] && !(told && trace_parse(given, &r->trace)))
        trace_begin(r->api->options.env, &r->trace);
    return &r->trace;
}

void request_free(struct request *r)
{
    headers_done(&r->headers);
    params_done(&r->params);
    buffer_done(&r->body);
    json_decref(r->document);
    answer_done(&r->answer);
    view_blob_unref(r->token_blob);
    free(r->path);
    if (r->peer && !r->peer->spare)
        r->peer->spare = r;
    else
        free(r);
}

/* Origin-form, or absolute-form without its authority (6.5); NULL for anything else. */
static const char *path_of_target(const char *target)
{
    if (*target == '/')
        return target;
    size_t scheme = !strncasecmp(target, "http://", 7) ? 7 : !strncasecmp(target, "https://", 8) ? 8 : 0;
    if (!scheme)
        return NULL;
    const char *path = strchr(target + scheme, '/');
    return path ? path : "/";
}

static struct problem *check_method(struct request *r)
{
    return r->method == METHOD_MAX_
               ? problem_new(PROBLEM_METHOD_UNKNOWN, "This server does not know the method.")
               : NULL;
}

static bool method_is_safe(enum method m)
{
    return m == METHOD_GET || m == METHOD_HEAD || m == METHOD_OPTIONS;
}

static struct problem *check_draining(struct request *r)
{
    if (method_is_safe(r->method) || !atomic_load(&r->api->draining))
        return NULL;
    struct problem *p =
        problem_new(PROBLEM_SHUTTING_DOWN, "The server is being stopped; nothing was accepted.");
    p->retry_after_s = 5;
    return p;
}

static void answer_options(struct request *r, const char *allow)
{
    answer_empty(&r->answer, MHD_HTTP_NO_CONTENT);
    cors_answer_preflight(r, allow);
    answer_header(&r->answer, "Allow", "%s", allow);
}

/* The path is known, the method is none of its own. */
static struct problem *refuse_method(struct request *r, unsigned allowed)
{
    char allow[128];
    route_allow(allowed, allow, sizeof(allow));
    if (r->method == METHOD_OPTIONS) {
        answer_options(r, allow);
        return NULL;
    }
    struct problem *p = problem_new(PROBLEM_METHOD_NOT_ALLOWED, "The resource has the methods %s.", allow);
    problem_set_field(p, "Allow", allow);
    return p;
}

static struct problem *check_route(struct request *r)
{
    if (r->method == METHOD_OPTIONS && !strcmp(r->target, "*")) {
        answer_empty(&r->answer, MHD_HTTP_NO_CONTENT);
        answer_header(&r->answer, "Allow", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS");
        return NULL;
    }
    const char *path = path_of_target(r->target);
    r->path = mem_strdup(path);
    const char *fault = path ? path_split(r) : "The request target is not a path.";
    if (fault)
        return problem_new(PROBLEM_MALFORMED_REQUEST, "%s", fault);
    unsigned allowed;
    r->route = route_match(r, &allowed);
    if (r->route)
        return NULL;
    return allowed ? refuse_method(r, allowed)
                   : problem_new(PROBLEM_NOT_FOUND,
                                 "There is no resource at this path; GET /openapi.yaml lists all.");
}

/* Challenges of AU-7. */
static void add_challenge(struct request *r, enum problem_code code)
{
    static const char *const challenges[PROBLEM_MAX_] = {
        [PROBLEM_UNAUTHENTICATED] = "Bearer realm=\"shootd\"",
        [PROBLEM_INVALID_TOKEN] = "Bearer realm=\"shootd\", error=\"invalid_token\"",
        [PROBLEM_FORBIDDEN] = "Bearer realm=\"shootd\", error=\"insufficient_scope\"",
    };
    if (!challenges[code])
        return;
    const char *role = code == PROBLEM_FORBIDDEN && r->route ? role_name(r->route->role) : NULL;
    answer_header(&r->answer, "WWW-Authenticate", role ? "%s, scope=\"%s\"" : "%s", challenges[code], role);
}

/* The one place where problems become answers (HT-1 to HT-5); takes `p`, NULL is none. */
static void answer_problem(struct request *r, struct problem *p)
{
    if (!p)
        return;
    r->answer.header_count = 0; /* those of the answer that it replaces */
    r->problem = p->code;
    json_t *doc CLEANUP_JSON = problem_to_json(p, r->id);
    char *text = json_text(doc);
    answer_text(&r->answer, problem_kind(p->code)->status, TYPE_PROBLEM, text, strlen(text));
    answer_field(&r->answer, "Cache-Control", "no-store");
    if (p->retry_after_s > 0)
        answer_header(&r->answer, "Retry-After", "%d", p->retry_after_s);
    add_challenge(r, p->code);
    if (p->field)
        answer_field(&r->answer, p->field, p->field_value);
    problem_free(p);
}

bool request_check(struct request *r, const char *target)
{
    static struct problem *(*const checks[])(struct request * r) = {
        check_framing, check_method,     check_draining, check_route, check_token,
        check_quota,   check_permission, check_content,  params_read, check_idempotency_key,
    };
    r->target = target;
    buffer_init(&r->body, 16 * 1024); /* bounds what a refused request may still send */
    for (size_t i = 0; i < ARRAY_LEN(checks) && !r->answer.status; i++)
        answer_problem(r, checks[i](r));
    return !r->answer.status;
}

void request_handle(struct request *r)
{
    struct problem *p = check_body(r);
    if (!p)
        p = check_collection(r);
    answer_problem(r, p ? p : r->route->handler(r));
}

void request_resumed(struct request *r)
{
    answer_problem(r, request_unpark(r));
}

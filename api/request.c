#include "api/request.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/api_private.h"
#include "api/checks.h"
#include "api/cors.h"
#include "api/match.h"
#include "api/problem_reply.h"
#include "api/reaper.h"
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

static bool check_method(struct request *r)
{
    if (r->method != METHOD_MAX_)
        return true;
    respond_with(r, PROBLEM_METHOD_UNKNOWN, "This server does not know the method.");
    return false;
}

static bool method_is_safe(enum method m)
{
    return m == METHOD_GET || m == METHOD_HEAD || m == METHOD_OPTIONS;
}

static bool check_draining(struct request *r)
{
    if (method_is_safe(r->method) || !atomic_load(&r->api->draining))
        return true;
    struct problem *p =
        problem_new(PROBLEM_SHUTTING_DOWN, "The server is being stopped; nothing was accepted.");
    p->retry_after_s = 5;
    respond_problem(r, p);
    return false;
}

static void answer_methods(struct request *r, unsigned allowed)
{
    char allow[128];
    route_allow(allowed, allow, sizeof(allow));
    if (r->method == METHOD_OPTIONS) {
        answer_empty(&r->answer, MHD_HTTP_NO_CONTENT);
        cors_answer_preflight(r, allow);
    } else {
        respond_with(r, PROBLEM_METHOD_NOT_ALLOWED, "The resource has the methods %s.", allow);
    }
    answer_header(&r->answer, "Allow", "%s", allow);
}

static bool check_route(struct request *r, const char *target)
{
    if (r->method == METHOD_OPTIONS && !strcmp(target, "*")) {
        answer_empty(&r->answer, MHD_HTTP_NO_CONTENT);
        answer_header(&r->answer, "Allow", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS");
        return false;
    }
    const char *path = path_of_target(target);
    r->path = mem_strdup(path);
    const char *fault = path ? path_split(r) : "The request target is not a path.";
    if (fault) {
        respond_with(r, PROBLEM_MALFORMED_REQUEST, "%s", fault);
        return false;
    }
    unsigned allowed;
    r->route = route_match(r, &allowed);
    if (r->route)
        return true;
    if (allowed)
        answer_methods(r, allowed);
    else
        respond_with(r, PROBLEM_NOT_FOUND, "There is no resource at this path; GET /openapi.yaml lists all.");
    return false;
}

bool request_check(struct request *r, const char *target)
{
    buffer_init(&r->body, 16 * 1024); /* bounds what a refused request may still send */
    return check_framing(r) && check_method(r) && check_draining(r) && check_route(r, target) &&
           check_token(r) && check_quota(r) && check_permission(r) && check_content(r) &&
           params_read(r, r->route->params) && check_idempotency_key(r);
}

void request_handle(struct request *r)
{
    if (check_body(r) && check_collection(r))
        r->route->handler(r);
}

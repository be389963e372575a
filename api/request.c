/* The stages of a request in the application, in the order of docs/rules.md. Before, the HTTP server has
 * checked the framing; it also sends the problems that these functions return. */
#include "api/request.h"

#include <assert.h>
#include <string.h>

#include "api/api_private.h"
#include "api/auth.h"
#include "api/commands.h"
#include "api/export.h"
#include "api/fresh.h"
#include "api/other_name.h"
#include "api/routes.h"
#include "base/mem.h"
#include "base/span.h"
#include "http/http.h"

static void enter(void *ctx)
{
    const struct api *api = ctx;
    config_current_enter(api->options.config);
}

static void leave(void *ctx)
{
    const struct api *api = ctx;
    config_current_leave(api->options.config);
}

static char *const *cors_origins(void *ctx)
{
    return api_config(ctx)->cors.origins;
}

static struct request *request_of(struct server_request *r)
{
    return CONTAINER_OF(r, struct request, http);
}

static void request_begin(struct server_request *http, void *ctx)
{
    request_of(http)->api = ctx;
}

static struct problem *check_route(struct request *r)
{
    unsigned allowed;
    r->route = route_match(r, &allowed);
    if (!r->route && allowed)
        return http_refuse_method(&r->http, allowed);
    if (!r->route)
        return problem_new(PROBLEM_NOT_FOUND,
                           "There is no resource at this path; GET /openapi.yaml lists all paths.");
    r->http.may_compress = !(r->route->flags & ROUTE_SECRET);
    return NULL;
}

static struct problem *check_content(struct request *r)
{
    assert(r->route); /* an earlier check found the route, or refused the request */
    const struct content_rules rules = route_content(r->route);
    return http_check_content(&r->http, &rules);
}

/* Makes the remaining checks, until a check refuses or suspends the request. */
static struct problem *run_checks(struct request *r)
{
    static struct problem *(*const checks[])(struct request * r) = {
        check_route,   check_token, check_rate_limit,      check_permission,
        check_content, params_read, check_idempotency_key,
    };
    struct problem *p = NULL;
    while (r->checked < ARRAY_LEN(checks) && !p && !r->http.answer.status && !r->http.suspension)
        p = checks[r->checked++](r);
    return p;
}

static struct problem *request_check(struct server_request *http)
{
    struct request *r = request_of(http);
    return with_other_name(r, run_checks(r));
}

static struct problem *request_check_resume(struct server_request *http, void *result)
{
    struct request *r = request_of(http);
    struct problem *p = check_verified_jwt(r, result);
    return with_other_name(r, p ? p : run_checks(r));
}

static struct problem *read_and_handle(struct request *r)
{
    struct server_request *http = &r->http;
    assert(r->route && r->route->handler);
    idempotency_take_fingerprint(r);
    const struct content_rules rules = route_content(r->route);
    struct problem *p = http_read_document(http, &rules);
    if (!p && r->route->flags & ROUTE_COLLECTION)
        p = http_check_collection_conditions(http);
    if (!p && r->route->flags & ROUTE_FRESH)
        p = fresh_ask(r);
    return p || http->suspension ? p : r->route->handler(r);
}

/* Whether the request would change something. */
static bool is_change(const struct request *r)
{
    return r->token && r->route->method != METHOD_GET && !r->params.numbers[PARAM_DRY_RUN];
}

/*
 * Called when the body is complete and the caller was checked again. The loop adds audit entries for refused
 * commands only. A change that this function refuses never becomes a command, so this function reports the
 * refusal.
 */
static struct problem *handle_checked(struct request *r)
{
    if (r->http.suspension)
        return NULL;
    struct problem *p = read_and_handle(r);
    if (p && is_change(r))
        report_refused(r, p->code);
    return p;
}

static struct problem *request_handle(struct server_request *http)
{
    struct request *r = request_of(http);
    struct problem *p = http_check_body_size(http);
    if (!p && http->has_body)
        p = check_caller_again(r);
    return with_other_name(r, p ? p : handle_checked(r));
}

/* Turns the result of the request's command into the answer. */
static struct problem *answer_command(struct request *r, struct command *cmd)
{
    assert(r->route && (cmd->reply.problem || cmd->reply.status));
    if (cmd->reply.problem)
        return TAKE_PTR(cmd->reply.problem);
    if (cmd->type == COMMAND_FRESH) {
        fresh_name_outcome(r, cmd->fresh.outcome);
        return r->route->handler(r);
    }
    struct problem *p = r->finish ? r->finish(r, cmd) : NULL;
    return p || r->http.answer.status ? p : answer_with_reply(r, cmd);
}

static struct problem *request_continue(struct server_request *http, void *result)
{
    struct request *r = request_of(http);
    if (r->awaits_jwt) {
        struct problem *p = check_verified_jwt_again(r, result);
        return with_other_name(r, p ? p : handle_checked(r));
    }
    struct command *cmd = result; /* NULL: the result did not come in time */
    struct problem *p = cmd ? answer_command(r, cmd) : request_overdue(r);
    command_free(cmd);
    return with_other_name(r, p);
}

static void add_problem_fields(struct server_request *http, enum problem_code code)
{
    auth_add_fields(request_of(http), code);
}

/* Records the spans of writes, and of reads that called Cleura. */
static void record_span(struct request *r, int64_t duration_us)
{
    struct server_request *http = &r->http;
    if (!r->is_traced || !span_is_recorded(&http->trace))
        return;
    /* a 4xx is a fault of the client (OB-13) */
    const bool failed = http->answer.status >= MHD_HTTP_INTERNAL_SERVER_ERROR;
    const char *code = http->problem == PROBLEM_MAX_ ? NULL : problem_kind(http->problem)->code;
    const struct span_attribute attributes[] = {
        SPAN_STR("http.request.method", http->method_text),
        SPAN_STR("http.route", r->route ? r->route->template : NULL),
        SPAN_STATUS(http->answer.status),
        SPAN_STR("error.type", code),
        SPAN_STR("client.address", http->client),
        SPAN_STR("shootd.project", r->project),
        SPAN_STR("shootd.cluster", r->name),
        SPAN_STR("shootd.request_id", http->id),
    };
    char *name CLEANUP_FREE = mem_printf("%s %s", http->method_text, r->route ? r->route->template : "none");
    struct trace caller = http->trace;
    memcpy(caller.span, http->caller_span, sizeof(caller.span));
    const wall_us now = env_wall(r->api->options.env);
    span_record(&(struct span){.trace = &caller,
                               .id = http->trace.span,
                               .name = name,
                               .kind = SPAN_SERVER,
                               .begun = now - duration_us,
                               .ended = now,
                               .error = failed ? code : NULL,
                               SPAN_ATTRIBUTES(attributes)});
}

static void request_done(struct server_request *http, int64_t duration_us, const char *outcome)
{
    struct request *r = request_of(http);
    if (export_is(r))
        outcome = export_completed(r);
    else if (r->http.stream)
        outcome = stream_end_name(streams_completed(r));
    metrics_count(&r->api->metrics, r, duration_us);
    record_span(r, duration_us); /* the span is recorded first, because the access log would begin a trace for
                                  * its line */
    access_log_add(&r->api->access_log, r, duration_us, outcome);
    query_done(&r->params);
    view_blob_unref(r->token_blob);
}

static void end_streams(void *ctx)
{
    struct api *api = ctx;
    streams_end_all(&api->streams);
}

const struct http_application api_application = {
    .request_size = sizeof(struct request),
    .enter = enter,
    .leave = leave,
    .cors_origins = cors_origins,
    .begin = request_begin,
    .check = request_check,
    .check_resume = request_check_resume,
    .handle = request_handle,
    .resume = request_continue,
    .add_fields = add_problem_fields,
    .done = request_done,
    .end_streams = end_streams,
};

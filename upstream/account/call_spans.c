/* The spans of a client's call: one for the time in which it waited in the lane, and one for each request
 * that was sent for it. Loop thread. */
#include "base/mem.h"
#include "base/span.h"
#include "upstream/account/account_private.h"

/* Converts a monotonic time to the wall clock. */
static wall_us wall_of(const struct upstream_call *call, mono_us at)
{
    const struct env *env = call->account->env;
    return env_wall(env) - (env_mono(env) - at);
}

void call_waited(struct upstream_call *call, const char *error)
{
    if (!span_is_recorded(&call->trace))
        return;
    const struct upstream_account *a = call->account;
    char id[TRACE_SPAN_BYTES];
    const struct span_attribute attributes[] = {
        SPAN_STR("shootd.account", a->config->name),
        SPAN_STR("shootd.call", upstream_op_name(call->op)),
        SPAN_INT("shootd.calls_in_flight", a->lane.in_flight),
    };
    trace_new_span(a->env, id);
    span_record(&(struct span){.trace = &call->trace,
                               .id = id,
                               .name = "wait for a turn",
                               .kind = SPAN_INTERNAL,
                               .begun = wall_of(call, call->queued_at),
                               .ended = env_wall(a->env),
                               .error = error,
                               SPAN_ATTRIBUTES(attributes)});
}

/* Records the span of one request; `status` is 0 when there was no answer. */
static void sent_span(const struct upstream_call *call, int status, mono_us ended, const char *error)
{
    const struct span_attribute attributes[] = {
        SPAN_STR("shootd.account", call->account->config->name),
        SPAN_STR("shootd.call", upstream_op_name(call->op)),
        SPAN_STR("shootd.cluster", call->name),
        SPAN_STR("http.request.method", call->method),
        SPAN_STR("error.type", error),
        SPAN_STATUS(status),
    };
    char *name CLEANUP_FREE = mem_printf("%s %s", call->method, upstream_op_name(call->op));
    span_record(&(struct span){.trace = &call->trace,
                               .id = call->span,
                               .name = name,
                               .kind = SPAN_CLIENT,
                               .begun = wall_of(call, call->started_at),
                               .ended = wall_of(call, ended),
                               .error = error,
                               SPAN_ATTRIBUTES(attributes)});
}

void call_answered(const struct upstream_call *call, const struct exchange_end *end, const char *why)
{
    if (!span_is_recorded(&call->trace))
        return;
    const char *error = end->http.error ? end->http.error : why;
    if (!error && end->result.class != UPSTREAM_OK)
        error = upstream_class_name(end->result.class);
    if (!error && end->read != READ_OK)
        error = end->why;
    sent_span(call, end->http.status, end->answered_at, error);
}

void call_cancelled(struct upstream_call *call)
{
    if (!span_is_recorded(&call->trace))
        return;
    if (call->state == CALL_SENT)
        sent_span(call, 0, env_mono(call->account->env), "cancelled");
    else
        call_waited(call, "cancelled");
}

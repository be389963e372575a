/* Operations: the monitors of accepted writes (AO-1 to AO-17). */
#include "api/resources/handlers.h"

#include <assert.h>
#include <string.h>

#include "api/api_private.h"
#include "api/commands.h"
#include "api/reads.h"
#include "base/mem.h"
#include "http/message/content.h"

enum { POLL_AGAIN_S = 5 };

static bool operation_is_wanted(struct request *r, const struct view_blob *blob)
{
    const struct operation *op = blob->subject;
    const struct query_values *p = &r->params;
    bool in_path = (!r->project || !strcmp(op->project, r->project)) &&
                   (!r->name || (op->cluster && !strcmp(op->cluster, r->name)));
    return in_path && api_token_sees_project(r->token, op->project) &&
           param_lists(p, PARAM_PROJECT, op->project) && param_lists(p, PARAM_CLUSTER, op->cluster) &&
           param_has_value(p, PARAM_STATUS, (int)op->status);
}

struct problem *handle_operations(struct request *r)
{
    return list_answer(r, &(struct list_query){.section = VIEW_OPERATIONS,
                                               .newest_first = true,
                                               .wanted = operation_is_wanted});
}

struct problem *handle_cluster_operations(struct request *r)
{
    return handle_operations(r);
}

/* Seconds to wait for the end; adds what the answer has to say about it. */
static int64_t wait_seconds(struct request *r)
{
    int64_t wait = param_number(&r->params, PARAM_WAIT);
    int64_t preferred = r->params.given[PARAM_WAIT] ? -1 : prefer_read(&r->http.headers).wait_s;
    int64_t most = r->api->limits.wait_max_s;
    answer_header(&r->http.answer, "Vary", "Prefer");
    if (preferred >= 0) {
        wait = preferred;
        answer_header(&r->http.answer, "Preference-Applied", "wait=%lld",
                      (long long)(wait < most ? wait : most));
    }
    return wait < most ? wait : most;
}

/* The operation of the path. */
static struct problem *find_operation(struct request *r, struct view_blob **ret)
{
    assert(r->item);
    struct view_blob *blob = read_blob(r, VIEW_OPERATIONS, r->item);
    const struct operation *op = blob ? blob->subject : NULL;
    if (op && api_token_sees_project(r->token, op->project)) {
        *ret = blob;
        return NULL;
    }
    view_blob_unref(blob);
    return problem_new(PROBLEM_OPERATION_NOT_FOUND,
                       "There is no operation of this id that the token may see.");
}

struct problem *handle_operation_cancel(struct request *r)
{
    struct view_blob *blob;
    struct problem *p = find_operation(r, &blob);
    if (p)
        return p;
    view_blob_unref(blob);
    return request_park(r, request_command(r, COMMAND_OPERATION_CANCEL));
}

struct problem *handle_operation(struct request *r)
{
    struct view_blob *blob;
    struct problem *p = find_operation(r, &blob);
    if (p)
        return p;
    const struct operation *op = blob->subject;
    bool is_final = operation_status_is_final(op->status);
    int64_t seconds = wait_seconds(r);
    if (!is_final && seconds > 0 && request_may_wait(r)) {
        struct command *cmd = request_command(r, COMMAND_OPERATION_WAIT);
        cmd->deadline = env_mono(r->api->options.env) + seconds * US_PER_S;
        view_blob_unref(blob);
        return request_park(r, cmd);
    }
    if (!is_final)
        answer_header(&r->http.answer, "Retry-After", "%d", POLL_AGAIN_S);
    return answer_with_blob(r, blob);
}

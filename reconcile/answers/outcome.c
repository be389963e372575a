/* Operations that callers wait for, and writes that are answered when theirs ended. Loop thread. */
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/mem.h"
#include "reconcile/answers/replay.h"
#include "reconcile/answers/reply.h"
#include "reconcile/world/entity.h"
#include "reconcile/world/waiting.h"
#include "reconcile/world/world.h"

static void answer_operation(struct waiting *w)
{
    struct operation_entry *entry = operation_entry(w->r, w->cmd->id);
    struct command *cmd = wait_take(w);
    if (entry)
        reply_operation(cmd, entry->op);
    else
        reply_problem(cmd, problem_new(PROBLEM_OPERATION_NOT_FOUND, "no operation %s", cmd->id));
}

void command_operation_wait(struct reconcile *r, struct command *cmd)
{
    struct operation_entry *entry = operation_entry(r, cmd->id);
    if (!entry)
        reply_problem(cmd, problem_new(PROBLEM_OPERATION_NOT_FOUND, "no operation %s", cmd->id));
    else if (operation_status_is_final(entry->op->status) || r->stopping)
        reply_operation(cmd, entry->op);
    else
        (void)wait_new(r, cmd, &entry->waiters, answer_operation);
}

/* ---- writes that are answered when their operation ended ---- */

static void reply_failed(struct command *cmd, const struct operation *op)
{
    struct problem *p = problem_from_error_json(op->error);
    if (!json_str(p->extra, "operation_id"))
        json_set_str(p->extra, "operation_id", op->id);
    reply_problem(cmd, p);
}

/* What became of the write: the cluster as it is now, or why it failed. */
static void reply_outcome(struct reconcile *r, struct command *cmd, const struct operation *op)
{
    struct entity *e = entity_find(r, op->project, op->cluster);
    bool is_same = e && !strcmp(e->cluster->id, op->cluster_id);
    cmd->wait_until = 0;
    if (!operation_status_is_final(op->status) && is_same) {
        reply_prepare_cluster(cmd, 202, e, op);
        reply_give_back(cmd);
    } else if (op->status != OPERATION_SUCCEEDED) {
        reply_failed(cmd, op);
    } else if (op->type == OPERATION_DELETE) {
        cmd->reply.etag[0] = '\0';
        free(TAKE_PTR(cmd->reply.location));
        cmd->reply.retry_after_s = 0;
        reply_json(cmd, 204, NULL);
    } else if (is_same) {
        reply_prepare_cluster(cmd, op->type == OPERATION_CREATE ? 201 : 200, e, op);
        reply_give_back(cmd);
    } else {
        reply_problem(cmd, problem_new(PROBLEM_CLUSTER_NOT_FOUND, "the cluster was deleted since"));
    }
}

static void answer_outcome(struct waiting *w)
{
    struct reconcile *r = w->r;
    struct operation_entry *entry = operation_entry(r, w->cmd->reply.operation_id);
    struct command *cmd = wait_take(w);
    if (entry)
        reply_outcome(r, cmd, entry->op);
    else
        reply_give_back(cmd); /* with what was promised */
}

void reply_prepared(struct reconcile *r, struct command *cmd)
{
    struct operation_entry *entry =
        cmd->reply.status == 202 && cmd->wait_until ? operation_entry(r, cmd->reply.operation_id) : NULL;
    if (!entry || r->stopping) {
        reply_give_back(cmd);
    } else if (operation_status_is_final(entry->op->status)) {
        reply_outcome(r, cmd, entry->op);
    } else {
        replay_let_go(cmd); /* the answer is kept already: who repeats the request waits too */
        cmd->deadline = cmd->wait_until;
        (void)wait_new(r, cmd, &entry->waiters, answer_outcome);
    }
}

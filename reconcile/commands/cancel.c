/*
 * Cancelling (AO-9): no further step of an operation begins. A call that Cleura has received continues to its
 * end. An operation whose calls were all sent cannot be cancelled. The desired spec does not change: the part
 * that was not carried out is shown as drift. Loop thread.
 */
#include <assert.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "reconcile/answers/objects.h"
#include "reconcile/answers/operation_answers.h"
#include "reconcile/answers/reply.h"
#include "reconcile/commands/commands.h"
#include "reconcile/commands/decide.h"
#include "reconcile/operations/ends.h"
#include "reconcile/operations/steps.h"
#include "reconcile/world/assess.h"
#include "reconcile/world/deciders.h"
#include "reconcile/world/entity.h"
#include "reconcile/world/operation_table.h"
#include "reconcile/world/save.h"
#include "reconcile/world/world.h"

static struct problem *not_cancellable(const struct operation *op, const char *why)
{
    struct problem *p = problem_new(PROBLEM_OPERATION_NOT_CANCELLABLE, "%s", why);
    reply_name_operation(p, op);
    return p;
}

static void prepare_cancelled(struct command *cmd, const struct operation *op)
{
    bool is_final = operation_status_is_final(op->status);
    cmd->reply.retry_after_s = is_final ? 0 : 1;
    reply_prepare_operation(cmd, is_final ? 200 : 202, op);
}

/* Answers a repeated cancellation. */
static void repeat(struct reconcile *r, struct command *cmd, const struct operation *op)
{
    prepare_cancelled(cmd, op);
    reply_unchanged(r, cmd);
}

/* Whether the operation has a call that was not sent, or was perhaps not sent. */
static bool can_be_stopped(const struct operation *op)
{
    for (unsigned i = op->step_index; i < op->step_count; i++)
        if (step_is_unsent(&op->steps[i]) || op->steps[i].status == STEP_SENDING)
            return true;
    return false;
}

/* Shows the cluster without the cancelled operation, which may be a delete that waited for the create. */
static void show_as_before(struct entity *e, struct save *save)
{
    struct cluster *c = e->cluster;
    if (c->shoot) {
        assess_settle(e, save);
    } else if (c->phase == PHASE_DELETING && entity_has_open_operation(e)) { /* its create */
        c->phase = PHASE_PENDING;
        mem_set_str(&c->message, e->op->message);
    }
}

/* A waiting operation ends at once. */
static void cancel_queued(struct entity *e, struct command *cmd, size_t index)
{
    struct operation *op = entity_queue_take(e, index);
    struct save *save = save_answer(e->r, command_saved_go_on, cmd);
    mem_set_str(&op->cancelled_by, cmd->caller.token_name);
    operation_finish(e, save, op, OPERATION_CANCELLED, operation_cancelled_problem(op));
    save_operation(save, op);
    e->saves.asked_for++;
    show_as_before(e, save);
    save_entity(save, e);
    prepare_cancelled(cmd, op);
    command_keep(save, cmd);
    save_submit(save, false);
    operation_free(op);
}

/* The current operation ends at its next safe point; it may already be at this point. */
static void cancel_current(struct entity *e, struct command *cmd)
{
    assert(entity_has_open_operation(e) && !e->op->cancelled_by);
    struct save *save = save_answer(e->r, command_saved_go_on, cmd);
    mem_set_str(&e->op->cancelled_by, cmd->caller.token_name);
    operation_says(e->op, env_wall(e->r->env), "Cancelling");
    e->saves.asked_for++;
    save_entity(save, e);
    prepare_cancelled(cmd, e->op);
    command_keep(save, cmd);
    save_submit(save, false);
    if (step_is_unsent(&e->op->steps[e->op->step_index]))
        life_end_pause(e);
}

static struct problem *cancel(struct entity *e, struct command *cmd, const struct operation *op)
{
    for (size_t i = 0; i < e->queued; i++) {
        if (!strcmp(e->queue[i]->id, op->id)) {
            cancel_queued(e, cmd, i);
            return NULL;
        }
    }
    if (!e->op || strcmp(e->op->id, op->id) != 0 || operation_status_is_final(e->op->status))
        return not_cancellable(op, "the operation has ended");
    if (!e->op->cancelled_by && !can_be_stopped(e->op))
        return not_cancellable(op, "everything was sent to Cleura, which cannot be stopped");
    if (e->op->cancelled_by)
        repeat(e->r, cmd, e->op);
    else
        cancel_current(e, cmd);
    return NULL;
}

/* Takes project and cluster from the operation, because the path of the request has only the operation's id.
 */
static void name_cluster(struct command *cmd, const struct operation *op)
{
    if (cmd->project)
        return;
    cmd->project = mem_strdup(op->project);
    cmd->name = mem_strdup(op->cluster);
}

/* Only the store has this operation, because it ended long ago. */
static struct problem *on_ended_read(struct store_query *s)
{
    struct command *cmd = s->cmd;
    const struct operation *op;
    struct problem *refusal = operation_recalled(s, &op);
    if (refusal)
        return refusal;
    if (!project_find(cmd->decided_by, op->project) || !projects_include(cmd->caller.projects, op->project))
        return problem_no_operation(cmd);
    name_cluster(cmd, op);
    if (op->status != OPERATION_CANCELLED)
        return not_cancellable(op, "the operation has ended");
    repeat(cmd->decided_by, cmd, op);
    return NULL;
}

struct problem *command_operation_cancel(struct reconcile *r, struct command *cmd)
{
    struct operation_entry *entry = operation_entry(r, cmd->id);
    if (!entry && operation_has_left(r, cmd->id)) {
        operation_recall(r, cmd, cmd->id, on_ended_read);
        return NULL;
    }
    if (!entry || !projects_include(cmd->caller.projects, entry->op->project))
        return problem_no_operation(cmd);
    struct entity *e = entity_find(r, entry->op->project, entry->op->cluster);
    name_cluster(cmd, entry->op);
    struct problem *refusal = e ? location_refusal(e->project) : NULL;
    if (refusal || command_wait_until_settled(e, cmd))
        return refusal;
    if (entry->op->status == OPERATION_CANCELLED) {
        repeat(r, cmd, entry->op);
        return NULL;
    }
    if (!e || operation_status_is_final(entry->op->status))
        return not_cancellable(entry->op, "the operation has ended");
    log_info("cancellation requested", "operation", cmd->id, "by", cmd->caller.token_name, "request_id",
             cmd->request_id);
    return cancel(e, cmd, entry->op);
}

/* Actions on a cluster. They are operations with one step, queued like changes. Loop thread. */
#include <assert.h>
#include <string.h>

#include "reconcile/answers/reply.h"
#include "reconcile/commands/commands.h"
#include "reconcile/commands/decide.h"
#include "reconcile/lookups/lookup.h"
#include "reconcile/operations/action_kinds.h"
#include "reconcile/operations/plan.h"
#include "reconcile/operations/step_kind.h"
#include "reconcile/world/entity.h"
#include "reconcile/world/project.h"
#include "reconcile/world/world.h"

/* Returns the open or waiting operation of the same kind, with which a repeated action is answered; or
 * NULL. */
static const struct operation *same_under_way(const struct entity *e, enum operation_type type)
{
    const struct operation *waiting = entity_queue_find(e, type);
    if (waiting)
        return waiting;
    return entity_open_type(e) == (int)type && !e->queued ? e->op : NULL;
}

/* Whether the result of the action exists already. Always false while an operation is open or waits, because
 * this operation may change the result; the action is then queued. */
static bool is_done(const struct entity *e, const struct action_kind *action)
{
    return action->is_done && !entity_has_open_operation(e) && !e->queued && !e->cluster->guard_since &&
           action->is_done(e->cluster);
}

/* Answers an action whose result exists, or will exist after `same`. */
static void reply_needless(struct entity *e, struct command *cmd, const struct operation *same)
{
    if (cmd->write.dry_run)
        dry_run_action(cmd, NULL);
    else
        reply_cluster(cmd, same ? 202 : 200, e, same);
}

/* False when the command was answered. */
static bool may_act(struct entity *e, struct command *cmd, const struct action_kind *action)
{
    const struct cluster *c = e->cluster;
    const char *name = operation_type_name(cmd->write.action);
    bool ends_here = entity_is_deleted_at_cleura(e) && cmd->write.action != OPERATION_RETRY;
    if (entity_is_leaving(e) || ends_here) {
        command_reply_busy(cmd, e, "the cluster is being deleted");
    } else if (!c->managed) {
        reply_not_managed(cmd);
    } else if (!upstream_supports(project_lane(e->project),
                                  step_kind(&(struct operation_step){.type = action->step})->op)) {
        reply_problem(cmd, problem_new(PROBLEM_NOT_SUPPORTED,
                                       "%s does not exist in Cleura's API v1, which the account of this "
                                       "project uses; nothing was sent",
                                       name));
    } else if (create_is_leftover(e)) { /* this cluster will never exist, so waiting would not help */
        reply_problem(cmd, problem_new(PROBLEM_ACTION_NOT_POSSIBLE,
                                       "the cluster was never created: create it again with PUT or POST"));
    } else if (!c->shoot || !c->upstream_exists) {
        reply_not_ready(cmd, c);
    } else {
        return true;
    }
    return false;
}

static void decide_action(struct entity *e, struct command *cmd, const struct action_kind *action)
{
    struct problem *refusal =
        action->refuse && !entity_has_open_operation(e) && !e->queued ? action->refuse(e->cluster) : NULL;
    if (is_done(e, action)) {
        problem_free(refusal);
        reply_needless(e, cmd, NULL);
    } else if (refusal) {
        reply_problem(cmd, refusal);
    } else {
        struct operation *op = command_operation(e, cmd, cmd->write.action);
        plan_action(op);
        if (cmd->write.dry_run) {
            dry_run_action(cmd, op);
            operation_free(op);
        } else {
            command_accept(e, cmd, op);
        }
    }
}

static void decide_rotation(struct entity *e, struct command *cmd, const struct action_kind *action,
                            const char *stage)
{
    for (size_t i = 0; action->from[i]; i++) {
        if (!strcmp(stage, action->from[i])) {
            decide_action(e, cmd, action);
            return;
        }
    }
    if (!strcmp(stage, action->stage)) {
        reply_needless(e, cmd, NULL);
        return;
    }
    reply_problem(cmd, problem_new(PROBLEM_ACTION_NOT_POSSIBLE,
                                   "the rotation is at stage %s; %s begins from %s%s%s", stage,
                                   operation_type_name(cmd->write.action), action->from[0],
                                   action->from[1] ? " or " : "", action->from[1] ? action->from[1] : ""));
}

static void on_stage_known(struct entity *e, struct command *cmd, const char *stage);

void command_cluster_action(struct reconcile *r, struct command *cmd)
{
    struct entity *e = command_cluster(r, cmd);
    if (!e || command_wait_until_settled(e, cmd) || !command_precondition(cmd, e))
        return;
    const struct action_kind *action = action_kind(cmd->write.action);
    assert(action);
    if (!may_act(e, cmd, action))
        return;
    const struct operation *same = same_under_way(e, cmd->write.action);
    if (same)
        reply_needless(e, cmd, same);
    else if (action->stage)
        lookup_stage(e, cmd, on_stage_known);
    else
        decide_action(e, cmd, action);
}

static void on_stage_known(struct entity *e, struct command *cmd, const char *stage)
{
    const struct action_kind *action = action_kind(cmd->write.action);
    const struct operation *same = same_under_way(e, cmd->write.action);
    assert(action && action->stage);
    if (command_wait_until_settled(e, cmd) || !command_precondition(cmd, e) || !may_act(e, cmd, action))
        return;
    if (same)
        reply_needless(e, cmd, same);
    else
        decide_rotation(e, cmd, action, stage);
}

/* Actions on a cluster. Each action is an operation with the steps of its row in action_kinds.c, and is
 * queued like a change. Loop thread. */
#include <assert.h>
#include <string.h>

#include "reconcile/answers/objects.h"
#include "reconcile/answers/reply.h"
#include "reconcile/commands/commands.h"
#include "reconcile/commands/decide.h"
#include "reconcile/lookups/need.h"
#include "reconcile/operations/action_kinds.h"
#include "reconcile/operations/plan.h"
#include "reconcile/operations/step_kind.h"
#include "reconcile/world/deciders.h"
#include "reconcile/world/entity.h"
#include "reconcile/world/project.h"
#include "reconcile/world/world.h"

/* Returns the open or waiting operation of the same kind, or NULL. A repeated action is answered with this
 * operation. */
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

/* Answers an action whose result exists, or will exist when the operation `same` has ended. */
static void reply_needless(struct entity *e, struct command *cmd, const struct operation *same)
{
    if (cmd->write.dry_run)
        dry_run_action(cmd, false);
    else
        reply_cluster(cmd, same ? 202 : 200, e, same);
}

/* Whether the account's API has the calls of all steps. */
static bool is_supported(const struct entity *e, const struct action_kind *action)
{
    for (const struct action_step *step = action->steps; step->target; step++)
        if (!upstream_supports(project_lane(e->project), step_kind_of(step->type)->op))
            return false;
    return true;
}

/* Returns why the action is not possible in the state of the cluster, or NULL. */
static struct problem *refusal_of_state(const struct entity *e, const struct command *cmd,
                                        const struct action_kind *action)
{
    const struct cluster *c = e->cluster;
    bool ends_here = entity_is_deleted_at_cleura(e) && cmd->write.action != OPERATION_RETRY;
    struct problem *restored = command_restored(e);
    if (restored)
        return restored;
    if (entity_is_leaving(e) || ends_here)
        return command_busy(e, "the cluster is being deleted");
    if (!c->managed)
        return problem_not_managed(c);
    if (!is_supported(e, action))
        return problem_new(PROBLEM_NOT_SUPPORTED,
                           "%s does not exist in Cleura's API %s, which the account of this project uses; "
                           "nothing was sent",
                           operation_type_name(cmd->write.action),
                           upstream_abilities_of(e->project->config->account)->api);
    if (create_is_leftover(e)) /* a wait would not help */
        return problem_new(PROBLEM_ACTION_NOT_POSSIBLE,
                           "the cluster was never created: create it again with PUT or POST");
    return c->shoot && c->upstream_exists ? NULL : problem_not_ready(e);
}

static struct problem *decide_action(struct entity *e, struct command *cmd, const struct action_kind *action)
{
    if (is_done(e, action)) {
        reply_needless(e, cmd, NULL);
        return NULL;
    }
    struct problem *refusal =
        action->refuse && !entity_has_open_operation(e) && !e->queued ? action->refuse(e->cluster) : NULL;
    if (refusal)
        return refusal;
    if (cmd->write.dry_run) {
        dry_run_action(cmd, true);
    } else {
        struct operation *op = command_operation(e, cmd, cmd->write.action);
        plan_action(op);
        command_accept(e, cmd, op);
    }
    return NULL;
}

static struct problem *decide_rotation(struct entity *e, struct command *cmd,
                                       const struct action_kind *action)
{
    const char *stage = cmd->facts.ca_stage ? cmd->facts.ca_stage : "";
    for (size_t i = 0; action->from[i]; i++)
        if (!strcmp(stage, action->from[i]))
            return decide_action(e, cmd, action);
    if (!strcmp(stage, action->stage)) {
        reply_needless(e, cmd, NULL);
        return NULL;
    }
    return problem_new(PROBLEM_ACTION_NOT_POSSIBLE, "the rotation is at stage %s; %s begins from %s%s%s",
                       stage, operation_type_name(cmd->write.action), action->from[0],
                       action->from[1] ? " or " : "", action->from[1] ? action->from[1] : "");
}

struct problem *command_cluster_action(struct reconcile *r, struct command *cmd)
{
    const struct action_kind *action = action_kind(cmd->write.action);
    struct entity *e;
    struct problem *refusal = command_cluster(r, cmd, &e);
    assert(action);
    if (refusal || command_wait_until_settled(e, cmd))
        return refusal;
    refusal = command_precondition(cmd, e);
    if (!refusal)
        refusal = refusal_of_state(e, cmd, action);
    if (refusal)
        return refusal;
    const struct operation *same = same_under_way(e, cmd->write.action);
    if (same) {
        reply_needless(e, cmd, same);
        return NULL;
    }
    if (!action->stage)
        return decide_action(e, cmd, action);
    return command_needs(e->project, e, cmd, NEED_STAGE) ? NULL : decide_rotation(e, cmd, action);
}

/*
 * Actions on a cluster: their preconditions, and whether their result exists already. They are operations
 * with one step (plan.c), queued like changes. Loop thread.
 */
#include <assert.h>
#include <string.h>

#include "reconcile/answers/reply.h"
#include "reconcile/commands/commands.h"
#include "reconcile/commands/decide.h"
#include "reconcile/lookups/lookup.h"
#include "reconcile/operations/plan.h"
#include "reconcile/world/entity.h"
#include "reconcile/world/project.h"
#include "reconcile/world/world.h"

struct action {
    enum upstream_op op;
    /* Whether the result of the action exists already; the answer is then 200 with the cluster. NULL: never.
     */
    bool (*is_done)(const struct cluster *c);
    /* Returns why the action is not possible now, or NULL. */
    struct problem *(*refuse)(const struct cluster *c);
    const char *stage; /* stage of a rotation, read from Cleura first; must be one of `from` */
    const char *from[3];
};

static bool is_hibernated(const struct cluster *c)
{
    return c->shoot->hibernated;
}

static bool is_awake(const struct cluster *c)
{
    return !c->shoot->hibernated && !c->shoot->hibernated_unknown;
}

static bool is_highly_available(const struct cluster *c)
{
    return json_bool(shoot_observed(c->shoot), "high_availability", false);
}

static struct problem *unless_hibernation_possible(const struct cluster *c)
{
    size_t i;
    json_t *constraint;
    json_array_foreach (json_doc_tree(c->shoot->constraints), i, constraint) {
        if (strcmp(json_str_or(constraint, "type", ""), "HibernationPossible") != 0 ||
            !strcmp(json_str_or(constraint, "status", "True"), "True") ||
            !strcmp(json_str_or(constraint, "status", ""),
                    "Progressing")) /* not checked since the last run */
            continue;
        return problem_new(PROBLEM_ACTION_NOT_POSSIBLE, "Cleura says that hibernation is not possible: %s",
                           json_str_or(constraint, "message", json_str_or(constraint, "reason", "")));
    }
    return NULL;
}

static struct problem *when_hibernated(const struct cluster *c)
{
    return c->shoot->hibernated
               ? problem_new(PROBLEM_ACTION_NOT_POSSIBLE, "the cluster is hibernated; wake it first")
               : NULL;
}

static struct problem *unless_failed(const struct cluster *c)
{
    const char *state = c->shoot->operation_state ? c->shoot->operation_state : "none";
    return strcmp(state, "Failed") != 0
               ? problem_new(PROBLEM_ACTION_NOT_POSSIBLE,
                             "only a failed operation can be retried; the last one is %s", state)
               : NULL;
}

static const struct action actions[OPERATION_TYPE_MAX_] = {
    [OPERATION_HIBERNATE] = {UPSTREAM_HIBERNATE, is_hibernated, unless_hibernation_possible, NULL, {NULL}},
    [OPERATION_WAKE] = {UPSTREAM_WAKE, is_awake, NULL, NULL, {NULL}},
    [OPERATION_RECONCILE] = {UPSTREAM_RECONCILE, NULL, NULL, NULL, {NULL}},
    [OPERATION_RETRY] = {UPSTREAM_RETRY, NULL, unless_failed, NULL, {NULL}},
    [OPERATION_MAINTAIN] = {UPSTREAM_MAINTAIN, NULL, NULL, NULL, {NULL}},
    [OPERATION_ENABLE_HA] = {UPSTREAM_ENABLE_HA, is_highly_available, when_hibernated, NULL, {NULL}},
    [OPERATION_ROTATE_CA_PREPARE] =
        {UPSTREAM_ROTATE_CA, NULL, when_hibernated, "Prepared", {"NotInitiated", "Completed", NULL}},
    [OPERATION_ROTATE_CA_COMPLETE] =
        {UPSTREAM_ROTATE_CA, NULL, when_hibernated, "Completed", {"Prepared", NULL, NULL}},
};

/* A repeated action is answered with the open or waiting operation of the same kind. */
static const struct operation *same_under_way(const struct entity *e, enum operation_type type)
{
    const struct operation *waiting = entity_queue_find(e, type);
    if (waiting)
        return waiting;
    return entity_open_type(e) == (int)type && !e->queued ? e->op : NULL;
}

/* Whether the result of the action exists. While an operation is open or waits, this may change: the answer
 * is false, and the action is queued. */
static bool is_done(const struct entity *e, const struct action *action)
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
static bool may_act(struct entity *e, struct command *cmd, const struct action *action)
{
    const struct cluster *c = e->cluster;
    const char *name = operation_type_name(cmd->write.action);
    bool ends_here = entity_is_deleted_at_cleura(e) && cmd->write.action != OPERATION_RETRY;
    if (entity_is_leaving(e) || ends_here) {
        command_reply_busy(cmd, e, "the cluster is being deleted");
    } else if (!c->managed) {
        reply_not_managed(cmd);
    } else if (!upstream_supports(project_lane(e->project), action->op)) {
        reply_problem(cmd, problem_new(PROBLEM_NOT_SUPPORTED,
                                       "%s does not exist in Cleura's API v1, which the account of this "
                                       "project uses; nothing was sent",
                                       name));
    } else if (create_is_leftover(e)) { /* waiting would not help */
        reply_problem(cmd, problem_new(PROBLEM_ACTION_NOT_POSSIBLE,
                                       "the cluster was never created: create it again with PUT or POST"));
    } else if (!c->shoot || !c->upstream_exists) {
        reply_not_ready(cmd, c);
    } else {
        return true;
    }
    return false;
}

static void decide_action(struct entity *e, struct command *cmd, const struct action *action)
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

static void decide_rotation(struct entity *e, struct command *cmd, const struct action *action,
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
    assert(cmd->write.action < OPERATION_TYPE_MAX_ && upstream_op_is_write(actions[cmd->write.action].op));
    const struct action *action = &actions[cmd->write.action];
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
    const struct action *action = &actions[cmd->write.action];
    const struct operation *same = same_under_way(e, cmd->write.action);
    assert(action->stage);
    if (command_wait_until_settled(e, cmd) || !command_precondition(cmd, e) || !may_act(e, cmd, action))
        return;
    if (same)
        reply_needless(e, cmd, same);
    else
        decide_rotation(e, cmd, action, stage);
}

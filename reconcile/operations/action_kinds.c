#include "reconcile/operations/action_kinds.h"

#include <assert.h>
#include <string.h>

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
                    "Progressing")) /* Gardener has not checked the constraint after the last run yet */
            continue;
        return problem_new(PROBLEM_ACTION_NOT_POSSIBLE, "Cleura reports that hibernation is not possible: %s",
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

static const struct action_kind kinds[OPERATION_TYPE_MAX_] = {
    [OPERATION_HIBERNATE] = {.steps = {{.type = STEP_HIBERNATE, .target = ""}},
                             .is_done = is_hibernated,
                             .refuse = unless_hibernation_possible,
                             .is_power = true},
    [OPERATION_WAKE] = {.steps = {{.type = STEP_WAKE, .target = ""}}, .is_done = is_awake, .is_power = true},
    [OPERATION_RECONCILE] = {.steps = {{.type = STEP_RECONCILE, .target = ""}}},
    [OPERATION_RETRY] = {.steps = {{.type = STEP_RETRY, .target = ""}}, .refuse = unless_failed},
    [OPERATION_MAINTAIN] = {.steps = {{.type = STEP_MAINTAIN,
                                       .target = "",
                                       /* maintenance carries out updates that wait for their window */
                                       .reason = "updates that are due may replace nodes"}}},
    [OPERATION_ENABLE_HA] = {.steps = {{.type = STEP_ENABLE_HA, .target = ""}},
                             .is_done = is_highly_available,
                             .refuse = when_hibernated},
    [OPERATION_ROTATE_CA_PREPARE] = {.steps = {{.type = STEP_ROTATE_CA,
                                                .target = "Prepare",
                                                .rolls_nodes = true,
                                                .reason =
                                                    "every node gets certificates of the new authority"}},
                                     .refuse = when_hibernated,
                                     .stage = "Prepared",
                                     .from = {"NotInitiated", "Completed"}},
    [OPERATION_ROTATE_CA_COMPLETE] = {.steps = {{.type = STEP_ROTATE_CA, .target = "Complete"}},
                                      .refuse = when_hibernated,
                                      .stage = "Completed",
                                      .from = {"Prepared"}},
};

const struct action_kind *action_kind(enum operation_type type)
{
    assert(type < OPERATION_TYPE_MAX_);
    assert(!kinds[type].steps[ACTION_STEPS_MAX].target); /* otherwise the list of steps has no end */
    return kinds[type].steps[0].target ? &kinds[type] : NULL;
}

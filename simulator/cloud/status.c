/* The reported status of a shoot: last operation, conditions, constraints, last errors. */
#include "simulator/cloud/lifecycle.h"

#include "base/attrs.h"
#include "simulator/cloud/conditions.h"
#include "simulator/cloud/sim_shoot.h"
#include "simulator/cloud/sim.h"

#include <stdio.h>
#include <string.h>

struct condition {
    const char *type;
    const char *good_reason;
    const char *good_message;
    const char *bad_reason;
    const char *bad_message;
    const char *early_status; /* the status while the create works on this condition */
    int begins;               /* the condition is Unknown until a create has this progress */
    int holds;                /* the condition is True when a create has this progress */
    int gone;                 /* the condition is lost when a deletion has this progress */
};

static const struct condition conditions[] = {
    {"APIServerAvailable", "HealthzRequestSucceeded",
     "API server /healthz endpoint responded with success status code.", "APIServerDown",
     "Shoot control plane has not been fully created yet.", "Progressing", 20, 41, 71},
    {"ControlPlaneHealthy", "ControlPlaneRunning", "All control plane components are healthy.",
     "DeploymentUnhealthy", "Some control plane deployments are not available yet.", "Progressing", 29, 62,
     71},
    {"ObservabilityComponentsHealthy", "ObservabilityComponentsRunning",
     "All observability components are healthy.", "DeploymentUnhealthy",
     "Some observability deployments are not available yet.", "False", 62, 95, 71},
    {"EveryNodeReady", "EveryNodeReady", "All nodes are ready.", "NodesScalingUp",
     "Not enough worker nodes registered in all worker pools.", "Progressing", 41, 88, 45},
    {"SystemComponentsHealthy", "SystemComponentsRunning", "All system components are healthy.",
     "NoTunnelDeployed", "The tunnel to the shoot has not been deployed yet.", "Progressing", 62, 95, 45},
};

#define CONDITION_COUNT (ARRAY_LEN(conditions))

static json_t *make_condition(const char *type, const char *status, const char *reason, const char *message)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:[]}", "type", type, "status", status, "reason", reason,
                     "message", message, "codes");
}

static const char *description_of(const struct sim_shoot *shoot, int64_t now_us)
{
    const struct run *run = &shoot->run;
    if (run->state == RUN_SUCCEEDED)
        return run->type == RUN_TYPE_DELETE ? "Shoot cluster has been successfully deleted."
                                            : "Shoot cluster has been successfully reconciled.";
    if (run->state == RUN_FAILED || run->state == RUN_ERROR)
        return run->description ? run->description : "task \"Simulated step\" failed";
    if (run->outcome != OUTCOME_SUCCESS && lifecycle_progress(shoot, now_us) >= run->at_progress)
        return flow_reaching(run->kind, run->at_progress)->text;
    return flow_at(run->kind, now_us - run->starts_us, run->duration_us)->text;
}

static int64_t updated_us(const struct run *run, int64_t now_us)
{
    const struct flow_step *step;
    if (run->state != RUN_PROCESSING)
        return run->changed_us;
    step = flow_at(run->kind, now_us - run->starts_us, run->duration_us);
    if (run->outcome != OUTCOME_SUCCESS && step->progress > run->at_progress)
        step = flow_reaching(run->kind, run->at_progress);
    return run->starts_us + run->duration_us / 1000 * step->permille;
}

json_t *status_last_operation(const struct sim_shoot *shoot, int64_t now_us)
{
    const struct run *run = &shoot->run;
    if (!shoot->has_run)
        return NULL;
    return json_pack("{s:s, s:s, s:i, s:s, s:o}", "type", run_type_name(run->type), "state",
                     run_state_name(run->state), "progress", lifecycle_progress(shoot, now_us), "description",
                     description_of(shoot, now_us), "last_update_time", clock_json(updated_us(run, now_us)));
}

static json_t *condition_good(const struct condition *condition)
{
    return make_condition(condition->type, "True", condition->good_reason, condition->good_message);
}

static json_t *during_create(const struct condition *condition, int progress)
{
    if (progress >= condition->holds)
        return condition_good(condition);
    if (progress >= condition->begins)
        return make_condition(condition->type, condition->early_status, condition->bad_reason,
                              condition->bad_message);
    return make_condition(
        condition->type, "Unknown", "ConditionInitialized",
        "The condition has been initialized but its semantic check has not been performed yet.");
}

static json_t *during_delete(const struct condition *condition, int progress)
{
    if (progress < condition->gone)
        return condition_good(condition);
    return make_condition(condition->type, "Progressing", condition->bad_reason,
                          "Shoot control plane has already been or is about to be deleted.");
}

static json_t *during_reconcile(const struct condition *condition, const struct run *run, int progress)
{
    bool rolls = run_does(run, RUN_ROLL) || run_does(run, RUN_UPGRADE) || run_does(run, RUN_CA_PREPARE) ||
                 run_does(run, RUN_WORKER_CREATE);
    if (!strcmp(condition->type, "EveryNodeReady") && rolls && progress >= 78)
        return make_condition(condition->type, "Progressing", "NodesRollOutScalingUp",
                              "The nodes of a worker pool are being replaced.");
    return condition_good(condition);
}

static json_t *hibernated_condition(const char *type, const char *reason)
{
    return make_condition(type, "True", reason, "Shoot cluster has been hibernated.");
}

static json_t *render_condition(const struct sim_shoot *shoot, const struct condition *condition,
                                int64_t now_us)
{
    const struct run *run = &shoot->run;
    int progress = lifecycle_progress(shoot, now_us);
    if (run->type == RUN_TYPE_DELETE)
        return shoot->hibernated ? hibernated_condition(condition->type, "ConditionNotChecked")
                                 : during_delete(condition, progress);
    if (shoot->hibernated)
        return run_does(run, RUN_WAKE) && run->state == RUN_PROCESSING && progress >= 11
                   ? during_create(condition, progress)
                   : hibernated_condition(condition->type, "ConditionNotChecked");
    if (!shoot->ever_succeeded)
        return during_create(condition, progress);
    if (run->state == RUN_SUCCEEDED && now_us < shoot->care_until_us)
        return make_condition(condition->type, "Progressing", condition->good_reason,
                              condition->good_message);
    if (run->state == RUN_PROCESSING)
        return during_reconcile(condition, run, progress);
    return condition_good(condition);
}

static json_t *render_constraint(const struct sim_shoot *shoot, const char *type, const char *message,
                                 int64_t now_us)
{
    bool checked = shoot->ever_succeeded || lifecycle_progress(shoot, now_us) >= 62;
    bool fresh = shoot->run.state == RUN_SUCCEEDED && now_us < shoot->care_until_us;
    if (shoot->hibernated)
        return hibernated_condition(type, "ConstraintNotChecked");
    return make_condition(type, checked && !fresh ? "True" : "Progressing", "NoProblematicWebhooks", message);
}

/* The errors of a run that hangs are those that its last try left. */
static bool shows_errors(const struct sim_shoot *shoot, int64_t now_us)
{
    const struct run *run = &shoot->run;
    if (run->state == RUN_PROCESSING)
        return run->outcome == OUTCOME_HANG && lifecycle_progress(shoot, now_us) >= run->at_progress;
    return run->state == RUN_FAILED || run->state == RUN_ERROR;
}

static json_t *render_errors(const struct sim_shoot *shoot, int64_t now_us)
{
    json_t *list = json_array();
    const json_t *error;
    size_t i;
    if (!shows_errors(shoot, now_us))
        return list;
    json_array_foreach (shoot->run.errors, i, error) {
        json_t *shown = json_copy((json_t *)(uintptr_t)error);
        (void)json_object_set_new(shown, "last_update_time", clock_json(updated_us(&shoot->run, now_us)));
        (void)json_array_append_new(list, shown);
    }
    return list;
}

int64_t status_changed_us(const struct sim_shoot *shoot, int64_t now_us)
{
    const struct run *run = &shoot->run;
    int64_t at_us = run->state == RUN_SUCCEEDED       ? run->changed_us
                    : run->type == RUN_TYPE_RECONCILE ? run->starts_us
                                                      : updated_us(run, now_us);
    return shoot->care_until_us > at_us && shoot->care_until_us <= now_us ? shoot->care_until_us : at_us;
}

json_t *status_object(const struct sim_shoot *shoot, int64_t now_us, bool hibernation_blocked)
{
    json_t *list = json_array();
    json_t *constraints = json_array();
    if (!shoot->has_run) {
        json_decref(list);
        json_decref(constraints);
        return NULL;
    }
    for (size_t i = 0; i < CONDITION_COUNT; i++)
        (void)json_array_append_new(list, render_condition(shoot, &conditions[i], now_us));
    if (hibernation_blocked && !shoot->hibernated)
        (void)json_array_append_new(constraints,
                                    make_condition("HibernationPossible", "False", "ProblematicWebhooks",
                                                   "ValidatingWebhookConfiguration demo is problematic"));
    else
        (void)json_array_append_new(constraints, render_constraint(shoot, "HibernationPossible",
                                                                   "No problematic webhooks found.", now_us));
    (void)json_array_append_new(constraints,
                                render_constraint(shoot, "MaintenancePreconditionsSatisfied",
                                                  "All preconditions for maintenance operations are "
                                                  "satisfied.",
                                                  now_us));
    conditions_put_held(shoot, CONDITIONS, list);
    conditions_put_held(shoot, CONSTRAINTS, constraints);
    return json_pack("{s:o, s:o, s:o, s:b}", "conditions", list, "constraints", constraints, "last_errors",
                     render_errors(shoot, now_us), "is_hibernated", shoot_shows_hibernated(shoot, now_us));
}

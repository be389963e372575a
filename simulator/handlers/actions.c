/* Actions on a shoot: hibernate, wake, reconcile, maintenance, retry, HA, CA rotation, upgrade gate. */
#include "simulator/cloud/sim_catalog.h"
#include "simulator/cloud/check.h"
#include "simulator/cloud/conditions.h"
#include "simulator/request/sim_exchange.h"
#include "simulator/handlers/handlers.h"
#include "simulator/cloud/sim_shoot.h"
#include "simulator/cloud/sim.h"

#include <stdio.h>
#include <string.h>

void answer_action(struct sim_exchange *x)
{
    answer_empty(x, exchange_generation(x) == 1 ? 202 : x->sim->settings.action_status);
}

bool refuse_when_busy(struct sim_exchange *x)
{
    bool busy =
        x->sim->settings.refuse_before_pickup ? lifecycle_is_busy(x->shoot) : lifecycle_is_running(x->shoot);
    if (x->shoot->deleting)
        answer_error(x, 409, "The shoot is being deleted");
    else if (busy)
        answer_error(x, 409, "Another operation is in progress on the shoot");
    else
        return false;
    return true;
}

static void action_start(struct sim_exchange *x, enum run_kind kind)
{
    lifecycle_accept(x->sim, x->shoot, kind);
    answer_action(x);
}

static void do_nothing(struct sim_exchange *x)
{
    x->no_effect = true;
    answer_action(x);
}

/* Whether the shoot will be hibernated after all waiting runs. */
static bool is_to_be_hibernated(const struct sim_shoot *shoot)
{
    if (!shoot->has_queued)
        return shoot->hibernated;
    return run_does(&shoot->queued, RUN_HIBERNATE) ||
           (shoot->hibernated && !run_does(&shoot->queued, RUN_WAKE));
}

void handle_hibernate(struct sim_exchange *x)
{
    if (refuse_when_busy(x))
        return;
    if (is_to_be_hibernated(x->shoot))
        do_nothing(x);
    else if (x->sim->settings.hibernation_blocked || conditions_forbid_hibernation(x->shoot))
        answer_error(x, 400, "Hibernation is not possible");
    else
        action_start(x, RUN_HIBERNATE);
}

void handle_wake(struct sim_exchange *x)
{
    if (refuse_when_busy(x))
        return;
    if (is_to_be_hibernated(x->shoot))
        action_start(x, RUN_WAKE);
    else
        do_nothing(x);
}

/* Accepts the action. During a run the action is accepted, too, and begins after that run. When a write is
 * waiting, the action becomes a part of that write. */
static void run_soon(struct sim_exchange *x, enum run_kind kind)
{
    if (x->shoot->deleting || x->shoot->has_queued)
        do_nothing(x);
    else
        action_start(x, kind);
}

void handle_reconcile(struct sim_exchange *x)
{
    run_soon(x, RUN_RECONCILE);
}

void handle_maintenance(struct sim_exchange *x)
{
    run_soon(x, RUN_MAINTENANCE);
}

void handle_retry(struct sim_exchange *x)
{
    if (x->shoot->has_run && x->shoot->run.state == RUN_FAILED && !x->shoot->has_queued) {
        lifecycle_accept_again(x->sim, x->shoot);
        answer_action(x);
    } else {
        do_nothing(x);
    }
}

void handle_enable_ha(struct sim_exchange *x)
{
    if (refuse_when_busy(x))
        return;
    if (json_is_true(json_object_get(x->shoot->spec, "high_availability"))) {
        answer_error(x, 409, "High availability of the control plane is enabled already");
    } else if (x->shoot->hibernated) {
        answer_error(x, 409, "The shoot is hibernated");
    } else {
        (void)json_object_set_new(x->shoot->spec, "high_availability", json_true());
        action_start(x, RUN_HA);
    }
}

void handle_rotate_ca(struct sim_exchange *x)
{
    enum ca_stage now = x->shoot->ca_stage;
    enum ca_stage wanted = ca_stage_find(json_string_value(json_object_get(x->json, "stage")));
    bool fits;
    if (wanted != CA_PREPARE && wanted != CA_COMPLETE) {
        answer_invalid(x, json_pack("[{s:s, s:s}]", "key", "stage", "value", "must be Prepare or Complete"));
        return;
    }
    if (refuse_when_busy(x))
        return;
    fits = wanted == CA_COMPLETE ? now == CA_PREPARED : now == CA_NOT_INITIATED || now == CA_COMPLETED;
    if (!fits || x->shoot->hibernated) {
        answer_error(x, 400, fits ? "The shoot is hibernated" : "The stage does not fit the present stage");
        return;
    }
    x->shoot->ca_stage = wanted;
    action_start(x, wanted == CA_PREPARE ? RUN_CA_PREPARE : RUN_CA_COMPLETE);
}

void handle_ca_stage(struct sim_exchange *x)
{
    answer_json(x, 200, json_pack("{s:s}", "stage", ca_stage_name(x->shoot->ca_stage)));
}

static const char *target_version(struct sim_exchange *x)
{
    const char *target = exchange_query(x, "target_version");
    if (target && check_pattern(PATTERN_VERSION, target))
        return target;
    answer_invalid(x, json_pack("[{s:s, s:s}]", "key", "target_version", "value",
                                target == NULL ? "is required" : "must match pattern"));
    return NULL;
}

static const char *why_not_ready(const struct sim_exchange *x, const char *target)
{
    const char *present = json_string_value(json_object_get(x->shoot->spec, "kubernetes_version"));
    const char *reason = catalog_refuse_version(x->sim->catalog, target, clock_now_us(&x->sim->clock));
    if (!reason && present && catalog_compare_versions(target, present) <= 0)
        return "is not newer than the present version";
    return reason;
}

void handle_upgrade_check(struct sim_exchange *x)
{
    const char *target = target_version(x);
    const char *reason;
    char detail[160];
    if (!target)
        return;
    reason = why_not_ready(x, target);
    if (reason) {
        (void)snprintf(detail, sizeof(detail), "Version %.40s %s", target, reason);
        answer_json(
            x, 200,
            json_pack("{s:s, s:[s], s:n}", "outcome", "not_ready", "details", detail, "upgrade_notes"));
    } else {
        answer_json(x, 200,
                    json_pack("{s:s, s:[], s:n}", "outcome",
                              lifecycle_is_busy(x->shoot) ? "pending" : "ready", "details", "upgrade_notes"));
    }
}

static void action_succeed(struct sim_exchange *x)
{
    if (target_version(x))
        answer_json(x, 200, json_pack("{s:s, s:[], s:n}", "outcome", "Success", "details", "upgrade_notes"));
}

void handle_upgrade_prepare(struct sim_exchange *x)
{
    action_succeed(x);
}

void handle_upgrade_revert(struct sim_exchange *x)
{
    action_succeed(x);
}

/* The kinds of steps: their calls, the meaning of Cleura's answers, and their ends. Loop thread. */
#include <assert.h>
#include <string.h>

#include "base/attrs.h"
#include "model/spec.h"
#include "reconcile/operations/ends.h"
#include "reconcile/operations/plan.h"
#include "reconcile/operations/proof.h"
#include "reconcile/operations/step_kind.h"
#include "reconcile/operations/steps.h"
#include "reconcile/world/entity.h"
#include "reconcile/world/events.h"
#include "reconcile/world/project.h"
#include "reconcile/world/save.h"
#include "reconcile/world/schedule.h"

enum { MAINTAIN_PATIENCE_S = 180 };

/* ---- bootstrap, create ---- */

static void bootstrap_refused(struct entity *e, struct operation_step *step ATTR_UNUSED,
                              const struct upstream_result *result)
{
    entity_fail_operation(
        e, problem_new(PROBLEM_UPSTREAM_REFUSED, "Cleura cannot prepare the project: %s",
                       result->message ? result->message : upstream_class_name(result->class)));
}

static void bootstrap_accepted(struct entity *e, const struct upstream_result *result ATTR_UNUSED,
                               struct save *save ATTR_UNUSED)
{
    e->project->state->bootstrapped_at = env_wall(e->r->env);
    project_store(e->project);
    project_show(e->project);
}

static bool bootstrap_is_needless(const struct entity *e)
{
    return e->project->state->bootstrapped_at != 0 || e->op->restored;
}

static void create_refused(struct entity *e, struct operation_step *step,
                           const struct upstream_result *result)
{
    const char *said = result->message ? result->message : upstream_class_name(result->class);
    struct problem *problem;
    if (result->class == UPSTREAM_CONFLICT)
        problem = problem_new(PROBLEM_NAME_TAKEN, "Cleura: %s", said);
    else if (result->class == UPSTREAM_ABSENT)
        problem = problem_new(PROBLEM_UPSTREAM_REFUSED, "Cleura: %s", said);
    else
        problem = upstream_problem(result);
    if (step->attempts == 1) {
        entity_fail_operation(e, problem);
        return;
    }
    /* An earlier attempt of shootd may be the reason, so the shoot is read before the decision. */
    problem_free(e->step.refusal);
    e->step.refusal = problem;
    step_lost(e);
}

static void create_accepted(struct entity *e, const struct upstream_result *result, struct save *save)
{
    struct cluster *c = e->cluster;
    c->upstream_exists = true;
    if (!uuid_is_null(result->created_uid)) {
        char uid[UUID_STR_LEN];
        uuid_unparse_lower(result->created_uid, uid);
        json_set_str(e->op->body, "uid", uid);
    }
    if (result->shoot) {
        shoot_free(c->shoot);
        c->shoot = shoot_copy(result->shoot);
        entity_note_newest(e, c->shoot);
        cluster_observed_now(c, e->r->env);
        c->stale = false;
    }
    emit_cluster(save, EVENT_CLUSTER_CREATED, e, c->phase, "Accepted by Cleura");
    schedule_soon(e, schedule_interval(e) / 2);
}

static enum finding create_found(const struct entity *e, const struct shoot *shoot)
{
    static const enum finding findings[] = {[LIKENESS_NONE] = FOUND_FOREIGN,
                                            [LIKENESS_UNPROVEN] = FOUND_UNCLEAR,
                                            [LIKENESS_PROVEN] = FOUND_EFFECT};
    return findings[proof_likeness(e, shoot)];
}

/* ---- delete ---- */

static void delete_refused(struct entity *e, struct operation_step *step ATTR_UNUSED,
                           const struct upstream_result *result)
{
    if (result->class == UPSTREAM_ABSENT)
        step_accepted(e, result);
    else if (result->class == UPSTREAM_CONFLICT)
        step_busy(e, result);
    else
        entity_fail_operation(e, upstream_problem(result));
}

static void delete_accepted(struct entity *e, const struct upstream_result *result,
                            struct save *save ATTR_UNUSED)
{
    struct cluster *c = e->cluster;
    bool absent = result->class == UPSTREAM_ABSENT;
    /* A deletion that failed earlier stays visible for a while. The earlier failure is not the end of this
     * deletion. */
    c->guard_since = env_wall(e->r->env);
    c->guard_until = 0;
    c->guard_seen_at = c->shoot ? c->shoot->operation_at : 0;
    /* When Cleura answers that there is no shoot, and the shoot appears later, the deletion is requested
     * again. */
    operation_delete_call(e->op)->uncertain = absent;
    e->absence.read_alone = absent;
    schedule_soon(e, absent ? 0 : schedule_interval(e) / 2);
}

static enum finding delete_found(const struct entity *e, const struct shoot *shoot)
{
    const struct shoot *before = e->cluster->shoot;
    bool old_failure =
        before && shoot_state_is(shoot, "Failed") && shoot->operation_at == before->operation_at;
    return shoot_is_deletion(shoot) && !old_failure ? FOUND_EFFECT : FOUND_NO_EFFECT;
}

/* ---- changes of the spec ---- */

static const json_t *want_of(const struct entity *e, const struct operation_step *step)
{
    size_t index = (size_t)(step - e->op->steps);
    assert(index < e->op->step_count);
    return json_obj(json_array_get(json_arr(e->op->body, "steps"), index), "want");
}

static bool change_is_met(const struct entity *e, const struct operation_step *step,
                          const struct shoot *shoot, enum spec_unknown unknown)
{
    return spec_step_is_met(step->type, step->target, want_of(e, step), shoot_observed(shoot), unknown);
}

static json_t *change_body(const struct entity *e, const struct operation_step *step)
{
    struct spec_context context;
    project_spec_context(e->project, &context);
    return spec_step_body(step->type, step->target, want_of(e, step), shoot_observed(e->cluster->shoot),
                          &context);
}

/* ---- actions ---- */

static bool hibernated_is(bool wanted, const struct shoot *shoot, enum spec_unknown unknown)
{
    return shoot->hibernated_unknown ? unknown == SPEC_UNKNOWN_AGREES : shoot->hibernated == wanted;
}

static bool hibernate_is_met(const struct entity *e ATTR_UNUSED,
                             const struct operation_step *step ATTR_UNUSED, const struct shoot *shoot,
                             enum spec_unknown unknown)
{
    return hibernated_is(true, shoot, unknown);
}

static bool wake_is_met(const struct entity *e ATTR_UNUSED, const struct operation_step *step ATTR_UNUSED,
                        const struct shoot *shoot, enum spec_unknown unknown)
{
    return hibernated_is(false, shoot, unknown);
}

static bool ha_is_met(const struct entity *e ATTR_UNUSED, const struct operation_step *step ATTR_UNUSED,
                      const struct shoot *shoot, enum spec_unknown unknown)
{
    const json_t *there = json_object_get(shoot_observed(shoot), "high_availability");
    return json_is_null(there) ? unknown == SPEC_UNKNOWN_AGREES : json_is_true(there);
}

static enum finding action_found(const struct entity *e, const struct shoot *shoot)
{
    const struct operation_step *step = current_step(e);
    const struct step_kind *kind = step_kind(step);
    bool met = kind->is_met && step_is_met(e, step, shoot);
    /* A run that began after the write is the run of this write, because nothing is sent during another
     * run. */
    bool began = shoot_is_in_progress(shoot) || shoot->operation_at > e->cluster->guard_seen_at;
    return met || began ? FOUND_EFFECT : FOUND_NO_EFFECT;
}

static void hibernate_accepted(struct entity *e, const struct upstream_result *result ATTR_UNUSED,
                               struct save *save ATTR_UNUSED)
{
    e->cluster->wants_hibernated = true;
}

static void wake_accepted(struct entity *e, const struct upstream_result *result ATTR_UNUSED,
                          struct save *save ATTR_UNUSED)
{
    e->cluster->wants_hibernated = false;
}

/* The table has the seven stages of CL-19, and the meaning of each stage in both halves of a rotation. An
 * empty name is the first stage. Any other name means that the rotation is in progress, because Gardener has
 * more stages than Cleura's contract. */
static void ca_probed(const struct operation_step *step, const json_t *document, struct probe_finding *ret)
{
    enum progress { NOTHING, GOES_ON, DONE };
    static const struct {
        const char *stage;
        enum progress prepare, complete;
    } stages[] = {
        {"NotInitiated", NOTHING, NOTHING}, {"Prepare", GOES_ON, NOTHING},  {"Preparing", GOES_ON, NOTHING},
        {"Prepared", DONE, NOTHING},        {"Complete", NOTHING, GOES_ON}, {"Completing", NOTHING, GOES_ON},
        {"Completed", NOTHING, DONE},
    };
    const char *given = json_str_or(document, "stage", ""), *stage = *given ? given : "NotInitiated";
    for (size_t i = 0; i < ARRAY_LEN(stages); i++) {
        if (strcmp(stage, stages[i].stage) != 0)
            continue;
        enum progress is = !strcmp(step->target, "Prepare") ? stages[i].prepare : stages[i].complete;
        *ret = (struct probe_finding){.effect = is != NOTHING, .complete = is == DONE};
        return;
    }
    *ret = (struct probe_finding){.effect = true, .unheard = stage};
}

/* Makes the end of this turn discard the kubeconfigs that were read before. */
static void credentials_rotated(struct entity *e)
{
    e->credentials_are_old = true;
    entity_touch(e);
}

/* When the completion begins, certificates of the old authority stop working. A kubeconfig that is read
 * during the completion may have a certificate of the old or of the new authority. */
static void ca_accepted(struct entity *e, const struct upstream_result *result ATTR_UNUSED,
                        struct save *save ATTR_UNUSED)
{
    if (!strcmp(current_step(e)->target, "Complete"))
        credentials_rotated(e);
}

static void ca_ended(struct entity *e, const struct operation_step *step)
{
    if (!strcmp(step->target, "Complete"))
        credentials_rotated(e);
}

/* ---- the table ---- */

static const struct step_kind kinds[STEP_TYPE_MAX_] = {
    [STEP_BOOTSTRAP] = {.op = UPSTREAM_BOOTSTRAP,
                        .idempotent = true, /* a second call does no harm (CL-16) */
                        .is_needless = bootstrap_is_needless,
                        .refused = bootstrap_refused,
                        .accepted = bootstrap_accepted},
    [STEP_CREATE_SHOOT] = {.op = UPSTREAM_CREATE,
                           .refused = create_refused,
                           .accepted = create_accepted,
                           .found = create_found},
    [STEP_DELETE_SHOOT] = {.op = UPSTREAM_DELETE,
                           .refused = delete_refused,
                           .accepted = delete_accepted,
                           .found = delete_found,
                           .destroys = true,
                           .absent_means_done = true},
    [STEP_WAIT_READY] = {.waits = true},
    [STEP_WAIT_GONE] = {.waits = true},
    [STEP_PATCH_CLUSTER] = {.op = UPSTREAM_PATCH,
                            .exclusive = true,
                            .shows_at_once = true,
                            .is_met = change_is_met,
                            .body = change_body},
    [STEP_UPDATE_POOL] = {.op = UPSTREAM_POOL_UPDATE,
                          .exclusive = true,
                          .shows_at_once = true,
                          .is_met = change_is_met,
                          .body = change_body},
    [STEP_CREATE_POOL] = {.op = UPSTREAM_POOL_CREATE,
                          .exclusive = true,
                          .shows_at_once = true,
                          .is_met = change_is_met,
                          .body = change_body},
    [STEP_DELETE_POOL] = {.op = UPSTREAM_POOL_DELETE,
                          .exclusive = true,
                          .shows_at_once = true,
                          .is_met = change_is_met},
    /* When an action is requested twice, the second request has no effect, or is refused while the first
     * action runs. */
    [STEP_HIBERNATE] = {.op = UPSTREAM_HIBERNATE,
                        .exclusive = true,
                        .found = action_found,
                        .is_met = hibernate_is_met,
                        .accepted = hibernate_accepted},
    [STEP_WAKE] = {.op = UPSTREAM_WAKE,
                   .exclusive = true,
                   .found = action_found,
                   .is_met = wake_is_met,
                   .accepted = wake_accepted},
    [STEP_ENABLE_HA] = {.op = UPSTREAM_ENABLE_HA,
                        .exclusive = true,
                        .found = action_found,
                        .is_met = ha_is_met},
    [STEP_RECONCILE] = {.op = UPSTREAM_RECONCILE, .exclusive = true, .found = action_found},
    [STEP_RETRY] = {.op = UPSTREAM_RETRY, .exclusive = true, .found = action_found},
    [STEP_MAINTAIN] = {.op = UPSTREAM_MAINTAIN,
                       .exclusive = true,
                       .found = action_found,
                       /* maintenance may find nothing to do */
                       .patience_us = MAINTAIN_PATIENCE_S * US_PER_S},
    [STEP_ROTATE_CA] = {.op = UPSTREAM_ROTATE_CA,
                        .exclusive = true,
                        .accepted = ca_accepted,
                        .ended = ca_ended,
                        .probe = UPSTREAM_CA_STAGE,
                        .probed = ca_probed},
};

const struct step_kind *step_kind_of(enum step_type type)
{
    assert(type < STEP_TYPE_MAX_);
    const struct step_kind *kind = &kinds[type];
    assert(kind->waits || upstream_op_is_write(kind->op));
    return kind;
}

bool step_is_met(const struct entity *e, const struct operation_step *step, const struct shoot *shoot)
{
    return step_kind(step)->is_met(e, step, shoot,
                                   step->accepted_at ? SPEC_UNKNOWN_AGREES : SPEC_UNKNOWN_DIFFERS);
}

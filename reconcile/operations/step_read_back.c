/* Reads Cleura to find out whether a call with a lost answer had an effect. Loop thread. */
#include <assert.h>

#include "reconcile/operations/ends.h"
#include "reconcile/operations/step_kind.h"
#include "reconcile/world/departed.h"
#include "reconcile/world/entity.h"

static enum finding finding_of(const struct entity *e, const struct step_kind *kind,
                               const struct upstream_result *result)
{
    const struct operation_step *step = current_step(e);
    struct probe_finding probe = {0};
    assert(e->step.life == LIFE_READING_BACK);
    if (kind->found)
        return kind->found(e, result->shoot);
    if (kind->probed)
        kind->probed(step, result->document, &probe);
    else if (kind->is_met)
        probe.effect = kind->is_met(e, step, result->shoot, SPEC_UNKNOWN_DIFFERS);
    const bool is_unread =
        !probe.effect && kind->is_met && kind->is_met(e, step, result->shoot, SPEC_UNKNOWN_AGREES);
    if (probe.unheard || is_unread) /* it is not known whether Cleura accepted the call */
        return FOUND_UNCLEAR;
    return probe.effect ? FOUND_EFFECT : FOUND_NO_EFFECT;
}

/* An action is visible only when its run starts, up to a minute later (GA-6). */
static bool may_show_later(struct entity *e)
{
    const struct step_kind *kind = step_kind(current_step(e));
    if (!kind->exclusive || kind->shows_at_once || kind->probed)
        return false;
    return entity_doubt_us(e) < GUARD_BLIND_US;
}

/* Called when the answer was lost and Cleura does not show whether the call had an effect. The step is
 * neither repeated nor treated as done. */
static void step_unclear(struct entity *e)
{
    struct operation_step *step = current_step(e);
    if (entity_doubt_us(e) < STEP_BUDGET_S * US_PER_S) {
        step_reports(e, "Waiting: the answer was lost, and Cleura does not show whether it had effect");
        life_pause(e, LOOK_AGAIN_S * US_PER_S);
        return;
    }
    /* a shoot with this name exists, and is foreign */
    const bool is_create = step->type == STEP_CREATE_SHOOT;
    step->uncertain &= !is_create;
    entity_fail_operation(
        e, problem_new(is_create ? PROBLEM_NAME_TAKEN : PROBLEM_UPSTREAM_NO_EFFECT,
                       "the answer to %s was lost, and Cleura does not show whether it had effect",
                       step_type_name(step->type)));
}

static void step_found(struct entity *e, enum finding finding, const struct upstream_result *result)
{
    switch (finding) {
    case FOUND_UNCLEAR:
        step_unclear(e);
        break;
    case FOUND_EFFECT:
        step_accepted(e, result);
        break;
    case FOUND_NO_EFFECT:
        if (may_show_later(e)) {
            life_pause(e, LOOK_AGAIN_S * US_PER_S);
            break;
        }
        step_send_again(e);
        break;
    case FOUND_FOREIGN:
        current_step(e)->uncertain = false;
        entity_fail_operation(
            e, problem_new(PROBLEM_NAME_TAKEN, "a cluster of this name exists already and is not ours"));
        break;
    }
}

static void on_read_back(struct upstream_call *call, struct upstream_result *result)
{
    struct entity *e = CONTAINER_OF(call, struct entity, step.call);
    const struct step_kind *kind = step_kind(current_step(e));
    if (result->class == UPSTREAM_OK && shoot_is_another(e->cluster->shoot, result->shoot)) {
        /* `observe` processes the shoot, because a new uid is accepted only after several reads */
        entity_sight(e, shoot_copy(result->shoot));
        life_pause(e, LOOK_AGAIN_S * US_PER_S);
    } else if (result->class == UPSTREAM_OK && deleted_shoot_is_known(e->project, result->shoot)) {
        life_pause(e, LOOK_AGAIN_S * US_PER_S);
    } else if (result->class == UPSTREAM_OK) {
        step_found(e, finding_of(e, kind, result), result);
    } else if (result->class == UPSTREAM_ABSENT && kind->absent_means_done) {
        step_accepted(e, result);
    } else if (result->class == UPSTREAM_ABSENT && ++e->step.tries.absent_reads >= ABSENT_READS) {
        step_send_again(e);
    } else if (result->class == UPSTREAM_ABSENT) {
        life_pause(e, LOOK_AGAIN_S * US_PER_S);
    } else if (result->class == UPSTREAM_GARBLED && kind->probed) {
        step_unclear(e); /* the state cannot be read in Cleura's answer */
    } else {
        step_not_sent(e, result);
    }
    life_answered(e, LIFE_READING_BACK);
}

void step_read_back(struct entity *e)
{
    const struct step_kind *kind = step_kind(current_step(e));
    step_submit(e, LIFE_READING_BACK, kind->probed ? kind->probe : UPSTREAM_GET, on_read_back);
}

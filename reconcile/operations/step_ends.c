/* Decides after an observation whether the waiting step goes on, has ended, or had no effect. Loop thread. */
#include <assert.h>
#include <stdio.h>

#include "base/attrs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/timefmt.h"
#include "model/moves.h"
#include "reconcile/operations/ends.h"
#include "reconcile/operations/queue.h"
#include "reconcile/operations/step_kind.h"
#include "reconcile/operations/steps.h"
#include "reconcile/world/entity.h"
#include "reconcile/world/project.h"
#include "reconcile/world/save.h"

enum {
    DELETE_AGAIN_S = 60, /* an accepted deletion is requested again when the deletion is not visible after
                          * this time */
    DELETE_DOUBT_S = 10 * DELETE_AGAIN_S, /* the same limit, when it is unclear whether the deletion runs */
    EFFECT_AGAIN_S = 60, /* a change or action is sent again when its effect is not visible after this time */
};

/*
 * Whether the shoot exists although the delete was accepted, or found nothing to delete. The reason is a
 * create that had its effect late, or a lost delete. When Cleura's answer does not show whether the deletion
 * runs, the result is true after a time limit, because a second deletion of the same shoot does no harm.
 */
static bool deletion_is_missing(struct entity *e)
{
    const struct shoot *s = e->cluster->shoot;
    const struct operation_step *sent = operation_delete_call(e->op);
    const int64_t since = wall_mark_age_us(&e->step_done, e->r->env, sent->finished_at);
    if (sent->status != STEP_DONE || shoot_is_deletion(s))
        return false;
    if (shoot_may_be_deleting(s))
        return since > DELETE_DOUBT_S * US_PER_S;
    return sent->uncertain || since > DELETE_AGAIN_S * US_PER_S;
}

/* Returns when the deletion was first requested, or when it began without a request, because Cleura then
 * showed no shoot. The wall clock also counts the time before a restart. */
static wall_us deletion_began(const struct entity *e)
{
    const struct operation_step *sent = operation_delete_call(e->op);
    return sent->started_at ? sent->started_at : e->op->created_at;
}

static void give_up_deletion(struct entity *e, struct save *save)
{
    e->cluster->guard_since = 0; /* the shoot shows its own state */
    operation_finish(e, save, e->op, OPERATION_FAILED,
                     step_had_no_effect(operation_delete_call(e->op), deletion_began(e)));
}

static void delete_again(struct entity *e)
{
    const bool doubt = shoot_may_be_deleting(e->cluster->shoot);
    log_warning(doubt ? "Cleura does not show whether the cluster is being deleted: delete requested again"
                      : "accepted deletion is not visible: delete requested again",
                "cluster", e->cluster->name);
    step_move(e->op, current_step(e), STEP_PENDING);
    e->op->step_index = 0;
    struct operation_step *call = operation_delete_call(e->op);
    step_move(e->op, call, STEP_PENDING);
    call->uncertain = false;
}

/* Called when an accepted deletion is not visible. Requests it again, but not for ever. */
static void deletion_missed(struct entity *e, struct save *save)
{
    const int64_t since = wall_mark_age_us(&e->deletion_began, e->r->env, deletion_began(e));
    if (++e->step.vain_deletions >= STEP_MAX_ATTEMPTS && since > STEP_BUDGET_S * US_PER_S)
        give_up_deletion(e, save);
    else
        delete_again(e);
}

/* Whether the change was accepted, but the spec has not changed. The call then had no effect in spite of its
 * 2xx, and no run will follow. */
static bool change_is_missing(struct entity *e)
{
    const struct operation_step *step = current_step(e);
    const struct step_kind *kind = step_kind(step);
    const int64_t since = wall_mark_age_us(&e->step_accepted, e->r->env, step->accepted_at);
    bool overdue = since > EFFECT_AGAIN_S * US_PER_S;
    return overdue && kind->shows_at_once && !step_is_met(e, step, e->cluster->shoot);
}

static char *describe_missing(const struct entity *e, const char *then)
{
    const struct operation_step *step = current_step(e);
    char since[TIME_TEXT_BYTES], *first CLEANUP_FREE = NULL;
    if (step->attempts > 1)
        first = mem_printf(", the first of %d times at %s", step->attempts,
                           time_rfc3339(step->started_at, false, since));
    return mem_printf("Accepted by Cleura at %s%s, but no effect is visible yet%s",
                      time_rfc3339(step->accepted_at, false, since), first ? first : "", then);
}

char *steps_remark(const struct entity *e)
{
    const struct shoot *s = e->cluster->shoot;
    if (!entity_has_open_operation(e) || !e->op->step_count || !s)
        return NULL;
    const struct operation_step *step = current_step(e);
    const struct step_kind *kind = step_kind(step);
    if (step->status == STEP_WAITING && e->step.tries.unheard[0])
        return mem_printf("Accepted by Cleura, which reports \"%s\": this counts as in progress",
                          e->step.tries.unheard);
    bool missing = step->status == STEP_WAITING && kind->shows_at_once && !shoot_is_in_progress(s) &&
                   !step_is_met(e, step, s);
    return missing ? describe_missing(e, "") : NULL;
}

static void ask_again(struct entity *e)
{
    char *message CLEANUP_FREE = describe_missing(e, "; asking again");
    log_warning("accepted change had no effect, shootd requests it again", "cluster", e->cluster->name,
                "step", step_type_name(current_step(e)->type));
    operation_says(e->op, env_wall(e->r->env), message);
    e->cluster->guard_since = 0;
    e->step.tries.unmet_since = 0;
    step_send_again(e);
}

/* Called when Cleura has ended its run, but the requested effect is not visible. Flags may change a little
 * later (GA-3). */
static void effect_not_met(struct entity *e)
{
    mono_us now = env_mono(e->r->env);
    if (!e->step.tries.unmet_since)
        e->step.tries.unmet_since = now;
    if (now - e->step.tries.unmet_since < EFFECT_AGAIN_S * US_PER_S)
        return;
    ask_again(e);
}

static void on_confirmed(struct upstream_call *call, struct upstream_result *result)
{
    struct entity *e = CONTAINER_OF(call, struct entity, step.call);
    const struct operation_step *step = current_step(e);
    struct probe_finding probe;
    if (result->class != UPSTREAM_OK) {
        step_not_sent(e, result);
        life_answered(e, LIFE_CONFIRMING);
        return;
    }
    assert(step_kind(step)->probed);
    step_kind(step)->probed(step, result->document, &probe);
    const char *unheard = probe.unheard ? probe.unheard : "";
    (void)snprintf(e->step.tries.unheard, sizeof(e->step.tries.unheard), "%.*s",
                   (int)utf8_cut(unheard, sizeof(e->step.tries.unheard) - 1), unheard);
    if (probe.complete) {
        step_end(e, STEP_DONE);
        entity_touch(e);
    } else if (!probe.effect) {
        effect_not_met(e);
    } else {
        e->step.tries.unmet_since = 0;
    }
    life_answered(e, LIFE_CONFIRMING);
}

static void run_observed(struct entity *e, struct save *save, const struct decision *d)
{
    struct operation_step *step = current_step(e);
    const struct step_kind *kind = step_kind(step);
    if (d->operation_failed) {
        operation_finish(e, save, e->op, OPERATION_FAILED, cluster_failed_problem(e));
    } else if (change_is_missing(e)) {
        ask_again(e);
    } else if (!d->operation_finished) {
        e->step.tries.unmet_since = 0;
    } else if (kind->probed) {
        /* steps_advance ends the step when the account's API lacks this call. */
        if (e->step.life == LIFE_RESTING && upstream_supports(project_lane(e->project), kind->probe))
            step_submit(e, LIFE_CONFIRMING, kind->probe, on_confirmed);
    } else if (kind->is_met && !step_is_met(e, step, e->cluster->shoot)) {
        effect_not_met(e);
    } else {
        e->step.unread |= kind->is_met && !kind->is_met(e, step, e->cluster->shoot, SPEC_UNKNOWN_DIFFERS);
        step_end(e, STEP_DONE);
        if (!step_find(e->op))
            operation_finish(e, save, e->op, OPERATION_SUCCEEDED, NULL);
    }
}

bool steps_want(struct entity *e, const struct decision *d)
{
    if (!entity_has_open_operation(e) || !e->op->step_count || current_step(e)->status != STEP_WAITING)
        return false;
    if (current_step(e)->type == STEP_WAIT_GONE)
        return deletion_is_missing(e);
    return d->operation_finished || d->operation_failed || change_is_missing(e);
}

void steps_observed(struct entity *e, struct save *save, const struct decision *d)
{
    if (!entity_has_open_operation(e) || queue_is_due(e) || !e->op->step_count)
        return;
    struct operation_step *step = current_step(e);
    if (step->status != STEP_WAITING)
        return;
    if (step_kind(step)->exclusive) {
        run_observed(e, save, d);
    } else if (step->type == STEP_WAIT_GONE && deletion_is_missing(e)) {
        deletion_missed(e, save);
    } else if (step->type == STEP_WAIT_READY && d->operation_finished) {
        operation_finish(e, save, e->op, OPERATION_SUCCEEDED, NULL);
    } else if (d->operation_failed) {
        operation_finish(e, save, e->op, OPERATION_FAILED, cluster_failed_problem(e));
    }
}

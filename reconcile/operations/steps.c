/*
 * Runs operations step by step; the moves of a step are in model/moves.c. The intent to make a call is stored
 * before the call. After a crash or a lost answer the shoot is read, and the call is never repeated before
 * that read. If the call had an effect, it counts as answered; if the call had no effect, it is sent again.
 * Before each call that changes or destroys a shoot, the shoot is read and its uid is compared. The call must
 * leave the account's lane (the queue of calls, upstream/upstream.h) at most LOOK_WINDOW_S after that read
 * was sent; otherwise the shoot is read again. The lane waits for this call, so usually only the minimum
 * spacing is between both. Changes and actions
 * are also exclusive: they are sent only while Cleura is idle, and wait again after a 409, which means that
 * Cleura is busy. Loop thread.
 */
#include "reconcile/operations/steps.h"

#include <assert.h>
#include <string.h>

#include "base/assertion.h"
#include "base/attrs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "model/moves.h"
#include "reconcile/operations/cluster_end.h"
#include "reconcile/operations/ends.h"
#include "reconcile/operations/plan.h"
#include "reconcile/operations/proof.h"
#include "reconcile/operations/queue.h"
#include "reconcile/operations/step_kind.h"
#include "reconcile/world/assess.h"
#include "reconcile/world/departed.h"
#include "reconcile/world/entity.h"
#include "reconcile/world/events.h"
#include "reconcile/world/project.h"
#include "reconcile/world/save.h"
#include "reconcile/world/schedule.h"

enum {
    STEP_DEADLINE_S = 120, /* a call must leave the lane within this time */
    LOOK_FRESH_S = 20,     /* maximum age of the read when the intent to make the call is stored. The age
                            * counts from when the read was sent, because its content may be as old */
    LOOK_WINDOW_S = 30,    /* maximum age of that read when the call leaves the lane, in addition to
                            * min_spacing */
    BACK_OFF_BASE_MS = 500,
    BACK_OFF_CAP_S = 30,
    BUSY_WAIT_S = 5,
    UNEXPLAINED_MAX = 8, /* the step fails after this many refusals for which Cleura gave no reason, while
                          * other calls succeed */
    CONFLICTS_LONGEST_S = 3600, /* a 409 for a delete counts only when the step is older than this */
    CONFLICTS_MAX = 24, /* the limit of 409 that count; for a change or action, a 409 counts only while the
                         * cluster seems idle */
};

/* ---- delays ---- */

static void try_again(struct entity *e, int64_t at_least_us)
{
    int64_t cap = BACK_OFF_CAP_S * US_PER_S;
    int64_t ceiling = BACK_OFF_BASE_MS * US_PER_MS << (e->step.tries.retries < 8 ? e->step.tries.retries : 8);
    int64_t wait = (int64_t)env_random_below(e->r->env, (uint64_t)(ceiling < cap ? ceiling : cap));
    e->step.tries.retries++;
    if (e->op->cancelled_by && step_is_unsent(current_step(e)))
        at_least_us = wait = 0;
    life_pause(e, at_least_us + wait);
}

void step_reports(struct entity *e, const char *message)
{
    bool is_said = e->op->message && !strcmp(e->op->message, message);
    operation_says(e->op, env_wall(e->r->env), message);
    if (!is_said)
        entity_store(e);
}

void step_not_sent(struct entity *e, const struct upstream_result *result)
{
    struct operation_step *step = current_step(e);
    struct problem *problem CLEANUP_PROBLEM = upstream_problem(result);
    char *message CLEANUP_FREE = mem_printf("Waiting: %s", problem->detail);
    if (result->unexplained && ++e->step.tries.unexplained > UNEXPLAINED_MAX) {
        entity_fail_operation(e, problem_new(PROBLEM_UPSTREAM_FORBIDDEN, "%s", problem->detail));
        return;
    }
    if (e->step.life == LIFE_CALLING) {
        assert(step->attempts > 0);
        step_move(e->op, step, STEP_PENDING);
        step->attempts--;
    }
    step_reports(e, message);
    try_again(e, result->retry_after_s * US_PER_S);
}

void step_lost(struct entity *e)
{
    struct operation_step *step = current_step(e);
    log_warning("Cleura's answer was lost: the cluster is read again", "operation", e->op->id, "step",
                step_type_name(step->type), "cluster", e->cluster->name, "attempt", LOG_INT(step->attempts));
    step->uncertain = true;
    e->step.tries.absent_reads = 0;
    e->step.tries.lost_at = 0;
    entity_store(e);
    try_again(e, 0);
}

/* Whether Gardener is not working on the shoot, and will not try again by itself. */
static bool seems_idle(const struct entity *e)
{
    const struct shoot *s = e->cluster->shoot;
    return s && !shoot_is_in_progress(s) && shoot_run(s) != RUN_RETRYING;
}

void step_busy(struct entity *e, const struct upstream_result *result)
{
    struct operation_step *step = current_step(e);
    char *message CLEANUP_FREE =
        mem_printf("Waiting: Cleura is busy with the cluster: %s", result->message ? result->message : "409");
    assert(step->attempts > 0);
    step_move(e->op, step, STEP_PENDING);
    step->attempts--;
    e->step.looked_at = 0;
    bool counts = step_kind(step)->exclusive ? seems_idle(e) : entity_is_at_step_for(e, CONFLICTS_LONGEST_S);
    if (counts && ++e->step.tries.conflicts > CONFLICTS_MAX) {
        entity_fail_operation(e, upstream_problem(result));
        return;
    }
    step_reports(e, message);
    try_again(e, BUSY_WAIT_S * US_PER_S);
}

struct problem *step_had_no_effect(const struct operation_step *step, wall_us since)
{
    char text[TIME_TEXT_BYTES];
    return problem_new(PROBLEM_UPSTREAM_NO_EFFECT, "%d attempts of %s since %s had no effect at Cleura",
                       step->attempts, step_type_name(step->type), time_rfc3339(since, false, text));
}

/*
 * An operation that is older than a restore of the store changes nothing at Cleura, because it may have been
 * carried out, and undone, since the backup. It only ends: by an effect that a read shows, or here.
 *
 * Why it is not simply deleted: its client still waits for it by its id, and its call may have been on its
 * way when the backup was made. A failure that says "request it again" leaves the choice to somebody who
 * knows what happened since.
 */
static void end_restored(struct entity *e)
{
    entity_fail_operation(e, problem_new(PROBLEM_STORE_RESTORED, "the store was restored: request it again"));
}

void step_send_again(struct entity *e)
{
    struct operation_step *step = current_step(e);
    bool long_enough = entity_is_at_step_for(e, STEP_BUDGET_S);
    if (e->step.refusal) {
        entity_fail_operation(e, TAKE_PTR(e->step.refusal));
        return;
    }
    /* a step that is needless now is skipped, because the create behind it may have been sent after the
     * backup */
    if (e->op->restored && !step_kind(step)->is_needless) {
        end_restored(e);
        return;
    }
    if (step->attempts >= STEP_MAX_ATTEMPTS && long_enough) {
        entity_fail_operation(e, step_had_no_effect(step, step->started_at));
        return;
    }
    step_move(e->op, step, STEP_PENDING);
    step->uncertain = false;
    step->accepted_at = 0;
    e->step.looked_at = 0;
    try_again(e, 0);
}

/* ---- calls ---- */

/* Whether the shoot must be read just before the call, so that the call cannot reach another shoot with the
 * same name. */
static bool needs_look(const struct step_kind *kind)
{
    return kind->exclusive || kind->destroys;
}

static mono_us look_expires(const struct entity *e)
{
    return e->step.looked_at + LOOK_WINDOW_S * US_PER_S + e->project->account->config->min_spacing_us;
}

void step_submit(struct entity *e, enum step_life life, enum upstream_op op, step_answer *on_done)
{
    const struct project *p = e->project;
    const bool looked = upstream_op_is_write(op) && needs_look(step_kind(current_step(e)));
    assert(op == step_kind(current_step(e))->probe || op == UPSTREAM_GET || upstream_op_is_write(op));
    assert(upstream_op_is_write(op) == (life == LIFE_CALLING));
    assert(!looked || (e->step.looked_at && shoot_has_uid(e->cluster->shoot)));
    e->step.call.op = op;
    e->step.call.region = p->region;
    e->step.call.project_id = p->project_id;
    e->step.call.name = e->cluster->name;
    e->step.call.item = current_step(e)->target;
    e->step.call.body = e->step.body ? e->step.body : e->op->body;
    e->step.call.priority = e->op->step_index == 0 ? LANE_USER_WRITE : LANE_OPERATION;
    e->step.call.next = looked;
    e->step.call.deadline = looked ? look_expires(e) : env_mono(e->r->env) + STEP_DEADLINE_S * US_PER_S;
    if (looked)
        e->step.looked_at = 0; /* each read is valid for one call */
    /* Only a write that is sent again counts as a retry. A first call and a read never count as a retry. */
    e->step.call.retry = upstream_op_is_write(op) && current_step(e)->attempts > 1;
    e->step.call.on_done = on_done;
    /* Reads before the start of the step do not belong to the step. */
    const struct trace trace = current_step(e)->started_at ? operation_trace_of_step(e->op, e->op->step_index)
                                                           : operation_trace(e->op);
    upstream_call_for(&e->step.call, &trace, e->op->request_id);
    upstream_submit(project_lane(p), &e->step.call);
    life_move(e, life);
}

void step_end(struct entity *e, enum step_status end)
{
    struct operation_step *step = current_step(e);
    assert(end == STEP_DONE || end == STEP_SKIPPED);
    step_move(e->op, step, end);
    step->finished_at = env_wall(e->r->env);
    if (step_kind(step)->ended)
        step_kind(step)->ended(e, step);
    e->step.tries = (struct step_tries){0};
}

/* Called when the step's run at Cleura begins. Cleura may still show an earlier run; only a run that is newer
 * than the run that was seen before belongs to this step. */
static void begin_run(struct entity *e, const struct upstream_result *result, struct save *save)
{
    struct cluster *c = e->cluster;
    const struct step_kind *kind = step_kind(current_step(e));
    assert(kind->exclusive);
    c->guard_since = env_wall(e->r->env);
    step_move(e->op, current_step(e), STEP_WAITING);
    e->step.tries = (struct step_tries){0};
    current_step(e)->accepted_at = c->guard_since;
    c->guard_until = c->guard_since + (kind->patience_us ? kind->patience_us : GUARD_LIMIT_US);
    /* An answer without a uid, or with another uid, must not replace the known shoot. */
    bool same = result->shoot && shoot_has_uid(result->shoot) && !shoot_is_another(c->shoot, result->shoot);
    if (same && e->step.life == LIFE_CALLING) {
        shoot_free(c->shoot);
        c->shoot = shoot_copy(result->shoot);
        entity_note_newest(e, c->shoot);
        cluster_observed_now(c, e->r->env);
        /* An answer without an operation, or with an older operation, contains nothing new. */
        if (c->shoot->operation_at > c->guard_seen_at)
            c->guard_seen_at = c->shoot->operation_at;
    }
    assess_settle(e, save);
    schedule_soon(e, schedule_interval(e) / 2);
}

static void operation_begins(struct entity *e, struct save *save)
{
    if (e->op->status != OPERATION_PENDING)
        return;
    operation_move(e->op, OPERATION_RUNNING);
    emit_operation(save, EVENT_OPERATION_STARTED, e, e->op);
}

void step_accepted(struct entity *e, const struct upstream_result *result)
{
    struct operation_step *step = current_step(e);
    const struct step_kind *kind = step_kind(step);
    struct save *save = save_new(e->r, NULL, NULL);
    operation_begins(e, save);
    if (!kind->exclusive)
        step_end(e, STEP_DONE);
    step->uncertain = false;
    problem_free(e->step.refusal);
    e->step.refusal = NULL;
    operation_says(e->op, env_wall(e->r->env), "Accepted by Cleura");
    if (kind->accepted)
        kind->accepted(e, result, save);
    if (kind->exclusive)
        begin_run(e, result, save);
    save_entity(save, e);
    save_submit(save, false);
    entity_touch(e);
}

/* Handles a definite refusal. When an earlier answer was lost, the reason of the refusal may be that the
 * earlier attempt had an effect. */
static void step_refused(struct entity *e, const struct upstream_result *result)
{
    struct operation_step *step = current_step(e);
    const struct step_kind *kind = step_kind(step);
    if (kind->refused) {
        kind->refused(e, step, result);
    } else if (result->class == UPSTREAM_CONFLICT) {
        step_busy(e, result);
    } else if (step->attempts > 1 && !kind->idempotent) {
        problem_free(e->step.refusal);
        e->step.refusal = upstream_problem(result);
        step_lost(e);
    } else if (result->class == UPSTREAM_ABSENT && kind->exclusive && step->attempts == 1) {
        /* The shoot is deleted already, or the 404 came from a gateway. The shoot is read, and a second 404
         * is accepted. */
        step_move(e->op, step, STEP_PENDING);
        e->step.looked_at = 0;
        try_again(e, LOOK_AGAIN_S * US_PER_S);
    } else if (result->class == UPSTREAM_ABSENT) {
        entity_fail_operation(e, problem_new(PROBLEM_UPSTREAM_REFUSED, "Cleura: not found: %s",
                                             result->message ? result->message : step->target));
    } else {
        entity_fail_operation(e, upstream_problem(result));
    }
}

static void on_step_answer(struct upstream_call *call, struct upstream_result *result)
{
    struct entity *e = CONTAINER_OF(call, struct entity, step.call);
    const struct step_kind *kind = step_kind(current_step(e));
    entity_note_sent(e, current_step(e));
    json_decref(e->step.body);
    e->step.body = NULL;
    switch (result->class) {
    case UPSTREAM_OK:
        step_accepted(e, result);
        break;
    case UPSTREAM_UNCERTAIN:
    case UPSTREAM_GARBLED:
    case UPSTREAM_OVERSIZED:
        if (kind->idempotent)
            step_send_again(e);
        else
            step_lost(e);
        break;
    case UPSTREAM_ABSENT:
    case UPSTREAM_CONFLICT:
    case UPSTREAM_REFUSED:
    case UPSTREAM_FORBIDDEN:
        step_refused(e, result);
        break;
    case UPSTREAM_LOGIN_FAILED:
    case UPSTREAM_THROTTLED:
    case UPSTREAM_UNREACHABLE:
    case UPSTREAM_EXPIRED:
    case UPSTREAM_OVERLOADED:
    case UPSTREAM_CLASS_MAX_:
        step_not_sent(e, result);
        break;
    }
    life_answered(e, LIFE_CALLING);
}

static void on_intent_saved(struct save *save)
{
    struct entity *e = entity_by_key(save->r, save->key);
    if (!e)
        return;
    assert(e->step.life == LIFE_STORING);
    struct operation_step *step = current_step(e);
    const struct step_kind *kind = step_kind(step);
    /* While the intent was being stored, a reload may have discarded the result of the read. */
    const bool is_void = (needs_look(kind) && !e->step.looked_at) || queue_is_due(e) || e->op->cancelled_by ||
                         e->r->stopping || project_is_at_rest(e->project);
    if (e->cluster->deleted) {
        life_move(e, LIFE_RESTING);
    } else if (is_void || save->status != STORE_OK) {
        /* The call was replaced, cancelled or stopped before it was sent, or its intent is not durable. */
        step_move(e->op, step, STEP_PENDING);
        step->attempts--;
        if (save->status == STORE_OK)
            life_move(e, LIFE_RESTING);
        else
            try_again(e, 0);
        entity_touch(e);
    } else {
        json_decref(e->step.body);
        e->step.body = kind->body ? kind->body(e, step) : NULL;
        step_submit(e, LIFE_CALLING, kind->op, on_step_answer);
    }
}

/* Stores the intent to send first; the call is made when the intent is durable. Every call that changes
 * something at Cleura passes here. */
static void begin_call(struct entity *e)
{
    struct operation_step *step = current_step(e);
    struct cluster *c = e->cluster;
    assert(!entity_is_committing(e) && !e->r->stopping && !project_is_at_rest(e->project));
    if (e->op->restored) {
        end_restored(e);
        return;
    }
    struct save *save = save_new(e->r, on_intent_saved, NULL);
    step_move(e->op, step, STEP_SENDING);
    step->attempts++;
    if (!step->started_at)
        entity_note_begin(e, step);
    if (step_kind(step)->exclusive) /* the cluster was idle at the last read */
        c->guard_seen_at = c->shoot->operation_at;
    life_move(e, LIFE_STORING);
    operation_begins(e, save);
    save_entity(save, e);
    save_submit(save, false);
}

/* ---- reading the shoot before it is changed or destroyed ---- */

static bool look_is_fresh(const struct entity *e)
{
    return e->step.looked_at && env_mono(e->r->env) - e->step.looked_at <= LOOK_FRESH_S * US_PER_S;
}

/* Called when the answer came so late that its content may be too old for a change. After some time the
 * operation fails, because nobody can wait for ever. */
static void looked_late(struct entity *e)
{
    const mono_us now = env_mono(e->r->env);
    if (!e->step.tries.slow_since)
        e->step.tries.slow_since = now;
    if (now - e->step.tries.slow_since >= STEP_BUDGET_S * US_PER_S) {
        entity_fail_operation(e,
                              problem_new(PROBLEM_UPSTREAM_TIMEOUT,
                                          "for %d s each answer of Cleura about the cluster took more than "
                                          "%d s: that is too old for a change",
                                          STEP_BUDGET_S, LOOK_FRESH_S));
        return;
    }
    step_reports(
        e, "Waiting: Cleura answers so slowly that its answer about the cluster is too old for a change");
    try_again(e, LOOK_AGAIN_S * US_PER_S);
}

/* When the answer was ignored (observe.c), or came too late, nothing is sent, and the shoot is read again. */
void steps_looked(struct entity *e, bool counts, bool has_uid)
{
    if (e->step.life != LIFE_LOOKED) /* the read was made for a lost answer, or the operation was replaced */
        return;
    life_move(e, LIFE_RESTING);
    e->step.looked_at = counts ? e->step.call.started_at : 0;
    const bool may_go_on = look_is_fresh(e);
    if (may_go_on) {
        e->step.tries.slow_since = 0;
        entity_touch(e);
    }
    if (may_go_on || e->cluster->deleted || !entity_has_open_operation(e) || entity_is_committing(e) ||
        project_is_at_rest(e->project))
        return;
    upstream_release(project_lane(e->project), &e->step.call);
    if (counts) {
        looked_late(e);
        return;
    }
    if (!has_uid)
        step_reports(e, "Waiting: Cleura does not show the uid of the cluster");
    try_again(e, LOOK_AGAIN_S * US_PER_S);
}

/*
 * Called when no uid of the cluster is known, and the shoot with its name cannot be the requested shoot.
 * Either the create had no effect, or somebody has changed the shoot that it made. shootd must not delete
 * such a shoot. The shoot may also be an earlier shoot that was deleted and is still visible. When too little
 * of the shoot can be read, the shoot may be shootd's own: in that case the shoot is read again, for the same
 * time as after a lost create.
 */
static void check_foreign(struct entity *e, const struct shoot *shoot)
{
    const bool in_doubt =
        proof_likeness(e, shoot) == LIKENESS_UNPROVEN && entity_doubt_us(e) < STEP_BUDGET_S * US_PER_S;
    if (in_doubt || deleted_shoot_is_known(e->project, shoot) || ++e->seen.other_uid_reads < ABSENT_READS)
        try_again(e, LOOK_AGAIN_S * US_PER_S);
    else
        entity_disown(e);
}

static void on_looked(struct upstream_call *call, struct upstream_result *result)
{
    struct entity *e = CONTAINER_OF(call, struct entity, step.call);
    const struct step_kind *kind = step_kind(current_step(e));
    if (result->class == UPSTREAM_OK)
        e->step.tries.unexplained = 0;
    if (result->class == UPSTREAM_OK && kind->destroys && proof_is_foreign(e, result->shoot)) {
        check_foreign(e, result->shoot);
    } else if (result->class == UPSTREAM_OK) {
        entity_sight(e, shoot_copy(result->shoot));
        life_move(e, LIFE_LOOKED);
        upstream_hold(call);
    } else if (result->class == UPSTREAM_ABSENT && kind->absent_means_done) {
        step_accepted(e, result);
    } else if (result->class == UPSTREAM_ABSENT) {
        /* poll.c decides whether the shoot still exists, because it also reads lists. */
        if (!e->cluster->absent_since)
            e->project->poll.discovery_due = env_mono(e->r->env);
        schedule_rearm(e->project);
        try_again(e, LOOK_AGAIN_S * US_PER_S);
    } else {
        step_not_sent(e, result);
    }
    life_answered(e, LIFE_LOOKING);
}

/* Whether Gardener reports that the deletion has failed permanently. Only a retry or another delete continues
 * such a deletion (CL-18). */
static bool deletion_gave_up(const struct shoot *s)
{
    return shoot_is_deletion(s) && (shoot_state_is(s, "Failed") || shoot_state_is(s, "Aborted"));
}

static bool cleura_is_busy(struct entity *e)
{
    const struct cluster *c = e->cluster;
    const struct shoot *s = c->shoot;
    return !s->has_operation || shoot_run(s) == RUN_UNKNOWN || shoot_is_in_progress(s) ||
           decide_guard_holds(c, s, entity_guard_now(e)) ||
           (shoot_is_deletion(s) && !(deletion_gave_up(s) && e->op->type == OPERATION_RETRY));
}

static void report_busy(struct entity *e)
{
    const struct shoot *s = e->cluster->shoot;
    char *message CLEANUP_FREE = NULL;
    if (shoot_run(s) == RUN_UNHEARD)
        message = mem_printf("Waiting: Cleura is busy with the cluster: \"%s\"", s->operation_state);
    step_reports(e, message                       ? message
                    : shoot_run(s) == RUN_UNKNOWN ? "Waiting: Cleura does not show the state of the cluster"
                                                  : "Waiting: Cleura is busy with the cluster");
}

static void begin_exclusive(struct entity *e)
{
    const struct cluster *c = e->cluster;
    struct operation_step *step = current_step(e);
    const struct step_kind *kind = step_kind(step);
    assert(step->status == STEP_PENDING && shoot_has_uid(c->shoot));
    if (deletion_gave_up(c->shoot) && e->op->type != OPERATION_RETRY) {
        entity_fail_operation(e, cluster_failed_problem(e));
    } else if (cleura_is_busy(e)) {
        report_busy(e);
        if (!heap_contains(&e->due))
            schedule_soon(e, schedule_interval(e));
    } else if (kind->is_met && step_is_met(e, step, c->shoot)) {
        step_end(e, step->attempts ? STEP_DONE : STEP_SKIPPED);
        entity_touch(e);
    } else {
        begin_call(e);
    }
}

static void begin_after_look(struct entity *e)
{
    if (!look_is_fresh(e)) {
        step_submit(e, LIFE_LOOKING, UPSTREAM_GET, on_looked);
    } else if (!shoot_has_uid(e->cluster->shoot)) {
        step_reports(e, "Waiting: Cleura does not show the uid of the cluster");
        try_again(e, BUSY_WAIT_S * US_PER_S);
        e->step.looked_at = 0;
    } else if (step_kind(current_step(e))->exclusive) {
        begin_exclusive(e);
    } else if (e->op->restored && shoot_is_being_deleted(e->cluster->shoot)) {
        step_accepted(e, &(const struct upstream_result){.class = UPSTREAM_OK}); /* it ends by itself */
    } else {
        begin_call(e);
    }
    if (e->step.life != LIFE_STORING)
        upstream_release(project_lane(e->project), &e->step.call);
}

/* ---- running steps ---- */

static void begin_waiting(struct entity *e, struct operation_step *step)
{
    bool nothing_upstream =
        e->op->type == OPERATION_DELETE && operation_delete_call(e->op)->status == STEP_SKIPPED;
    step_move(e->op, step, STEP_WAITING);
    entity_note_begin(e, step);
    if (nothing_upstream) {
        entity_gone(e);
        return;
    }
    entity_store(e);
    if (!heap_contains(&e->due))
        schedule_soon(e, schedule_interval(e) / 2);
}

bool step_find(struct operation *op)
{
    if (!op->step_count)
        return false;
    while (op->step_index < op->step_count && step_is_over(&op->steps[op->step_index])) {
        if (op->step_index + 1 == op->step_count)
            return false;
        op->step_index++;
    }
    return true;
}

static void skip_needless(struct entity *e)
{
    while (step_find(e->op)) {
        struct operation_step *step = current_step(e);
        const struct step_kind *kind = step_kind(step);
        if (step->status != STEP_PENDING || !kind->is_needless || !kind->is_needless(e))
            return;
        step_move(e->op, step, STEP_SKIPPED);
    }
}

static void end_operation(struct entity *e)
{
    struct save *save = save_new(e->r, NULL, NULL);
    operation_finish(e, save, e->op, OPERATION_SUCCEEDED, NULL);
    if (e->cluster->shoot)
        assess_settle(e, save);
    save_entity(save, e);
    save_submit(save, false);
    entity_touch(e);
}

bool step_is_unsent(const struct operation_step *step)
{
    return step->status == STEP_PENDING && !step_kind(step)->waits;
}

/*
 * Fails the step when the API that the account uses now lacks the call. (The step was accepted while the
 * account used another API.) If the call was sent earlier, the step continues when its effect can be read
 * with the calls of the present API. Returns false when the step can continue.
 */
static bool fail_unsupported(struct entity *e, const struct operation_step *step)
{
    const struct step_kind *kind = step_kind(step);
    const struct upstream_account *lane = project_lane(e->project);
    bool is_supported = (!step_is_unsent(step) || upstream_supports(lane, kind->op)) &&
                        (!kind->probe || upstream_supports(lane, kind->probe));
    if (!is_supported)
        entity_fail_operation(e, problem_new(PROBLEM_NOT_SUPPORTED,
                                             "a step of the operation does not exist in the generation of "
                                             "Cleura's API that the account uses now"));
    return !is_supported;
}

void steps_advance(struct entity *e)
{
    assertion_about("cluster", e->key);
    if (e->r->stopping || project_is_at_rest(e->project) || entity_is_committing(e) ||
        upstream_call_is_active(&e->step.call) || (!e->op && !e->queued))
        return;
    while (queue_is_due(e))
        queue_promote(e);
    if (operation_status_is_final(e->op->status) || e->step.life != LIFE_RESTING)
        return;
    skip_needless(e);
    if (!step_find(e->op)) {
        end_operation(e);
        return;
    }
    struct operation_step *step = current_step(e);
    const struct step_kind *kind = step_kind(step);
    if (e->op->cancelled_by && step_is_unsent(step))
        entity_cancel_operation(e);
    else if (fail_unsupported(e, step))
        return;
    else if (step->status == STEP_PENDING && kind->waits)
        begin_waiting(e, step);
    else if (step->status == STEP_PENDING && needs_look(kind))
        begin_after_look(e);
    else if (step->status == STEP_PENDING && e->op->restored && kind->found)
        step_read_back(e); /* a create may have been sent after the backup */
    else if (step->status == STEP_PENDING)
        begin_call(e);
    else if (step->status == STEP_SENDING && kind->idempotent)
        step_send_again(e);
    else if (step->status == STEP_SENDING)
        step_read_back(e);
}

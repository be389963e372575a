/*
 * Applies an answer of Cleura. The answer may change the phase and the health of the cluster, cause events
 * about them, and end a waiting step. An answer that changes nothing causes no write.
 *
 * This file also handles clusters that Cleura does not show. An empty list or a 404 can be a temporary fault
 * of Cleura or of a gateway. Therefore shootd accepts that the cluster is gone only when its absence lasts
 * (polling.absent_for) or when Cleura showed a running deletion. Until shootd accepts the absence, the
 * cluster is `unknown`, with the reason and the time. When a record ends without a deletion, it is kept for
 * some days (world/departed.h).
 *
 * Why one function does all of this: an answer is old news. It may come from a cache that lags behind, from a
 * shoot that somebody else made under the same name, or from before our own last call. Whoever acts on a part
 * of it before the whole is accepted acts on a state that never was. Therefore the order is fixed: first
 * whether the answer counts, then what it changes, then what follows from the change. Loop thread.
 */
#include "reconcile/observation/observe.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/assertion.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "reconcile/operations/cluster_end.h"
#include "reconcile/operations/plan.h"
#include "reconcile/operations/proof.h"
#include "reconcile/operations/queue.h"
#include "reconcile/operations/steps.h"
#include "reconcile/world/assess.h"
#include "reconcile/world/departed.h"
#include "reconcile/world/entity.h"
#include "reconcile/world/events.h"
#include "reconcile/world/save.h"
#include "reconcile/world/schedule.h"

enum {
    STALE_GRACE_S = 5,
    UNCLEAR_S = 600, /* after this time, a shoot that shows too little is not shootd's own */
};

static bool same_shoot(const struct shoot *a, const struct shoot *b)
{
    if (!a || !b)
        return a == b;
    return a->has_operation == b->has_operation && a->progress == b->progress &&
           a->hibernated == b->hibernated && a->hibernated_unknown == b->hibernated_unknown &&
           a->operation_at == b->operation_at && mem_same_str(a->operation_type, b->operation_type) &&
           mem_same_str(a->operation_state, b->operation_state) &&
           mem_same_str(a->description, b->description) &&
           mem_same_str(a->api_server_url, b->api_server_url) && json_doc_equal(a->observed, b->observed) &&
           json_doc_equal(a->conditions, b->conditions) && json_doc_equal(a->constraints, b->constraints) &&
           json_doc_equal(a->last_errors, b->last_errors);
}

/* Returns the progress over several consecutive runs, as one scale from 0 to 100. */
static int overall_progress(const struct operation *op, int of_run)
{
    const struct operation_step *step = &op->steps[op->step_index];
    if (op->type == OPERATION_CREATE || op->type == OPERATION_DELETE || op->step_count == 0)
        return of_run;
    return (int)((op->step_index * 100 + (unsigned)(step->accepted_at ? of_run : 0)) / op->step_count);
}

static bool follow_progress(struct entity *e)
{
    struct operation *op = e->op;
    const struct cluster *c = e->cluster;
    if (!entity_has_open_operation(e) || !c->shoot || c->phase == PHASE_PENDING || !op->step_count)
        return false;
    bool waits_for_turn = op->steps[op->step_index].status == STEP_PENDING && op->type != OPERATION_CREATE &&
                          op->type != OPERATION_DELETE;
    char *remark CLEANUP_FREE = steps_remark(e);
    const char *message = remark ? remark : waits_for_turn ? op->message : c->message;
    const bool is_missing = remark && !e->step.tries.unheard[0];
    bool is_run = c->shoot->has_operation && !c->guard_since && !is_missing;
    int of_run = is_run ? c->shoot->progress : 0;
    int progress = of_run == SHOOT_PROGRESS_UNKNOWN ? op->progress : overall_progress(op, of_run);
    /* 100 is reserved for the end, so that an outdated success does not look like the end */
    if (progress > 99)
        progress = 99;
    if (op->progress == progress && mem_same_str(op->message, message))
        return false;
    op->progress = progress;
    operation_says(op, env_wall(e->r->env), message);
    return true;
}

/*
 * Whether the answer is older than the known state. Servers of Cleura with separate caches may answer lists
 * alternately, for minutes after a change (CL-8). When no answer has confirmed the newer state for
 * OBSERVE_LAG_S, an older answer is accepted again, because the time of the newer answer may have been wrong.
 * An answer without an operation is from before the first operation. An answer without a time never counts as
 * older.
 */
static bool is_older(const struct entity *e, const struct shoot *seen)
{
    bool before = seen->operation_at ? seen->operation_at < e->seen.newest_at
                                     : !seen->has_operation && e->seen.newest_at;
    return before && env_mono(e->r->env) - e->seen.newest_since < OBSERVE_LAG_S * US_PER_S;
}

/*
 * Handles an answer with another uid. A delayed list may show a shoot that was deleted before. Therefore a
 * new uid is accepted only when ABSENT_READS consecutive reads have seen it; the absence of a shoot requires
 * the same number of reads.
 */
static void observe_another(struct entity *e, const struct shoot *seen)
{
    const struct cluster *c = e->cluster;
    if (shoot_is_being_deleted(seen) || is_older(e, seen) || ++e->seen.other_uid_reads < ABSENT_READS)
        return;
    log_warning("shoot replaced by another one with the same name", "project", c->project, "cluster",
                c->name);
    entity_gone(e);
}

/* Whether the deletion found no shoot, and now waits until a create with a lost answer can have no effect any
 * more. */
static bool deletion_found_nothing(const struct entity *e)
{
    return !e->cluster->upstream_exists && entity_open_type(e) == OPERATION_DELETE && e->op->step_count &&
           operation_delete_call(e->op)->status == STEP_DONE;
}

/* Such a read shows, like a 404, that Cleura has no shoot of this cluster. */
static void observe_in_place(struct entity *e)
{
    e->seen.other_uid_reads++;
    entity_gone(e);
}

/* The relation of a shoot in an answer to the cluster with its name. */
enum belonging {
    BELONGS,
    BELONGS_UNKNOWN,  /* too little can be read: a later answer may show more */
    BELONGS_ANOTHER,  /* the cluster is gone, and somebody has made a new one with its name */
    BELONGS_STRANGER, /* the shoot of somebody else; the cluster perhaps never existed */
};

static enum belonging belonging_of(struct entity *e, const struct shoot *seen)
{
    const struct cluster *c = e->cluster;
    if (proof_is_unclear(e, seen) && entity_doubt_us(e) < UNCLEAR_S * US_PER_S)
        return BELONGS_UNKNOWN;
    const bool is_foreign = proof_is_foreign(e, seen);
    if (c->upstream_exists && (is_foreign || shoot_is_another(c->shoot, seen)))
        return BELONGS_ANOTHER;
    if (shoot_has_uid(c->shoot) && !shoot_has_uid(seen))
        return BELONGS_UNKNOWN;
    /* a stranger's shoot is shown as such (observe), but not as the object of a deletion */
    return is_foreign && entity_is_leaving(e) ? BELONGS_STRANGER : BELONGS;
}

/* Whether the answer is used: it must be about this cluster, and not older than the known state. */
static bool answer_counts(struct entity *e, const struct shoot *seen)
{
    const struct cluster *c = e->cluster;
    const bool was_deleted = deleted_shoot_is_known(e->project, seen); /* whether this is an earlier shoot
                                                                        * with the same name */
    if (!was_deleted) {
        /* only the answer to the create, or the read after a lost answer, decides whether the shoot is
         * shootd's own */
        if (!c->upstream_exists && entity_open_type(e) == OPERATION_CREATE)
            return false;
        const enum belonging belonging = belonging_of(e, seen);
        if (belonging == BELONGS && !is_older(e, seen))
            return true;
        /* nothing shows that the answer is about this cluster, so the known state becomes stale */
        if (belonging == BELONGS_UNKNOWN)
            return false;
        if (belonging == BELONGS_ANOTHER)
            observe_another(e, seen);
        if (belonging == BELONGS_STRANGER) {
            if (deletion_found_nothing(e))
                observe_in_place(e);
            return false;
        }
    }
    /* Cleura answered about the cluster, although the answer is ignored. */
    e->seen.passed_over_at = env_mono(e->r->env);
    return false;
}

/* Whether nothing has happened to the cluster since the last answer, and nothing is requested for it. Then an
 * equal answer changes nothing. */
static bool is_settled(const struct entity *e)
{
    const struct cluster *c = e->cluster;
    return c->version == e->seen.settled_version && !c->stale && !entity_is_active(e) && !c->absent_since;
}

static void seen_again(struct entity *e)
{
    e->seen.other_uid_reads = 0;
    e->absence = (struct absence){0};
    cluster_observed_now(e->cluster, e->r->env);
    entity_note_newest(e, e->cluster->shoot);
    e->step.tries.absent_reads = 0;
    e->seen.unchanged_polls++;
    entity_show_seen(e);
}

static bool is_of_a_list(const struct shoot *s)
{
    static const uint8_t none[ROW_DIGEST_BYTES];
    return memcmp(s->row, none, sizeof(none)) != 0;
}

/* What an answer that counts says about the cluster. */
struct observation {
    struct decision decision; /* borrows its message from the new shoot */
    enum phase before;
    bool is_foreign; /* nothing shows that shootd has made the shoot: it belongs to somebody else */
    bool guard_is_over;
    bool is_change;
};

static struct observation compare(struct entity *e, const struct shoot *shoot)
{
    const struct cluster *c = e->cluster;
    const wall_us now = entity_guard_now(e);
    struct observation o = {.decision = decide(c, shoot, entity_open_type(e), now),
                            .before = c->phase,
                            .is_foreign = proof_is_foreign(e, shoot),
                            .guard_is_over = c->guard_since && !decide_guard_holds(c, shoot, now)};
    o.is_change = !same_shoot(c->shoot, shoot) || !c->upstream_exists || o.guard_is_over;
    return o;
}

/* Makes what was observed the known state of the cluster; takes over the shoot. */
static void take_over(struct entity *e, struct shoot *shoot, struct observation *o)
{
    struct cluster *c = e->cluster;
    e->seen.other_uid_reads = 0;
    e->absence = (struct absence){0};
    e->step.tries.absent_reads = 0;
    o->is_change |= assess_apply(c, &o->decision, env_wall(e->r->env));
    shoot_free(c->shoot);
    c->shoot = shoot;
    /* an answer with an older time was accepted, so this time is now the newest time */
    if (shoot->operation_at < e->seen.newest_at)
        e->seen.newest_at = shoot->operation_at;
    entity_note_newest(e, shoot);
    cluster_observed_now(c, e->r->env);
    c->stale = false;
    c->upstream_exists = true;
    if (o->guard_is_over)
        c->guard_since = 0;
    /* somebody may have hibernated or woken the cluster outside of shootd */
    if (o->decision.operation_finished && !entity_has_open_operation(e) && !shoot->hibernated_unknown)
        c->wants_hibernated = shoot->hibernated;
    o->is_change |= follow_progress(e);
    e->seen.unchanged_polls = o->is_change ? 0 : e->seen.unchanged_polls + 1;
}

/* Saves a change of the cluster in one change set, together with its events and the step that it ends. */
static void save_observed(struct entity *e, const struct observation *o)
{
    struct cluster *c = e->cluster;
    struct save *save = save_new(e->r, NULL, NULL);
    enum phase before = o->before;
    bool was_open = entity_has_open_operation(e);
    if (o->is_foreign) {
        queue_fail(e, save, "the cluster was never created");
        c->managed = false;
        json_doc_set(&c->spec, NULL);
        c->generation++;
        emit_cluster(save, EVENT_CLUSTER_DISCOVERED, e, c->phase, "Found at Cleura; not managed by shootd");
    }
    /* Clients that created the cluster wait for the event of the new phase. It is emitted before the event of
     * the operation's end. */
    if (entity_open_type(e) == OPERATION_CREATE)
        phase_emit_change(e, save, &before);
    steps_observed(e, save, &o->decision);
    /* the operation ended in its own change set, which contains the event */
    if (was_open && e->saves.operation_ended)
        before = c->phase;
    if (was_open && !entity_has_open_operation(e))
        assess_again(e);
    if (!o->is_foreign)
        phase_emit_change(e, save, &before);
    (void)assess_drift(e, save);
    save_entity(save, e);
    save_submit(save, false);
    entity_touch(e);
}

bool observe(struct entity *e, struct shoot *shoot)
{
    struct cluster *c = e->cluster;
    loop_assert_owner(e->r->o.loop);
    assertion_about("cluster", e->key);
    assert(!entity_is_committing(e) && !upstream_call_is_active(&e->step.call));
    if (!answer_counts(e, shoot)) {
        shoot_free(shoot);
        return false;
    }
    if (is_settled(e) && same_shoot(c->shoot, shoot)) {
        if (is_of_a_list(shoot))
            memcpy(c->shoot->row, shoot->row, sizeof(c->shoot->row));
        shoot_free(shoot);
        seen_again(e);
        return true;
    }
    const bool was_absent = c->absent_since != 0;
    c->absent_since = 0; /* it was seen: the decision must not find it absent */
    struct observation o = compare(e, shoot);
    o.is_change |= was_absent;
    take_over(e, shoot, &o);
    if (o.is_change || steps_want(e, &o.decision)) {
        save_observed(e, &o);
    } else {
        e->seen.settled_version = c->version;
        entity_show(e);
    }
    return true;
}

/* ---- list rows that shootd has already seen (with the same digest) ---- */

const uint8_t *observe_known_row(const struct entity *e)
{
    const struct shoot *s = e->cluster->shoot;
    return s && is_settled(e) && is_of_a_list(s) ? s->row : NULL;
}

void observe_row(struct entity *e, const uint8_t *row)
{
    const struct shoot *s = e->cluster->shoot;
    assert(!entity_is_committing(e) && !upstream_call_is_active(&e->step.call));
    if (!s || memcmp(s->row, row, sizeof(s->row)) != 0)
        return; /* a newer answer has come after the digest was taken */
    if (!is_settled(e))
        (void)observe(e, shoot_copy(s));
    else if (answer_counts(e, s))
        seen_again(e);
}

/* ---- clusters that were not confirmed ---- */

static bool mark_stale(struct entity *e, int64_t older_than_us)
{
    struct cluster *c = e->cluster;
    const mono_us heard_at =
        e->seen.passed_over_at && e->seen.passed_over_at > c->heard_at ? e->seen.passed_over_at : c->heard_at;
    if (c->stale || !c->observed_at || env_mono(e->r->env) - heard_at <= older_than_us)
        return false;
    c->stale = true;
    entity_show(e);
    return true;
}

bool observe_mark_stale(struct entity *e)
{
    return mark_stale(e, -1);
}

bool observe_after_failure(struct entity *e)
{
    return mark_stale(e, schedule_interval(e));
}

bool observe_by_age(struct entity *e)
{
    return mark_stale(e, 2 * schedule_interval(e) + STALE_GRACE_S * US_PER_S);
}

/* ---- clusters that Cleura does not show ---- */

/* Whether Cleura accepted shootd's deletion. */
static bool deletion_was_taken(const struct entity *e)
{
    if (entity_open_type(e) != OPERATION_DELETE || !e->op->step_count)
        return false;
    const struct operation_step *call = operation_delete_call(e->op);
    return call->status == STEP_DONE && !call->uncertain;
}

/*
 * Only the time in which Cleura was read and did not show the cluster is counted. The time of an outage, and
 * the time in which the daemon did not run, are not counted.
 */
static int64_t absence_left_us(struct entity *e)
{
    mono_us now = env_mono(e->r->env);
    if (e->absence.read_at)
        e->absence.confirmed_us += now - e->absence.read_at;
    e->absence.read_at = now;
    return e->r->o.config->polling.absent_for_us - e->absence.confirmed_us;
}

void absence_unread(struct entity *e)
{
    e->absence.read_at = 0;
}

static void begin_absence(struct entity *e)
{
    struct cluster *c = e->cluster;
    char since[TIME_TEXT_BYTES];
    assert(!c->absent_since);
    struct save *save = save_new(e->r, NULL, NULL);
    enum phase before = c->phase;
    c->absent_since = env_wall(e->r->env);
    free(c->message);
    c->message = mem_printf(
        "Cleura has not shown the cluster since %s; it counts as deleted when this lasts for %lld s",
        time_rfc3339(c->absent_since, false, since),
        (long long)(e->r->o.config->polling.absent_for_us / US_PER_S));
    log_warning("cluster is not shown by Cleura", "project", c->project, "cluster", c->name, "reason",
                c->message);
    assess_settle(e, save);
    if (c->phase == before) /* a deletion waits for this absence, and the event of the deletion reports it */
        emit_cluster(save, EVENT_CLUSTER_UNREACHABLE, e, before, c->message);
    save_entity(save, e);
    save_submit(save, false);
}

void absence_noted(struct entity *e)
{
    struct cluster *c = e->cluster;
    assert(!entity_is_committing(e) && !upstream_call_is_active(&e->step.call));
    const bool ours = deletion_was_taken(e), runs = shoot_is_being_deleted(c->shoot);
    int64_t again = LOOK_AGAIN_S * US_PER_S;
    if (!c->upstream_exists || (ours && runs)) {
        entity_gone(e);
        return;
    }
    if (!ours && !e->absence.missing_in_list) {
        e->project->poll.discovery_due =
            env_mono(e->r->env); /* one 404 may come from a gateway, so a list is read, too */
    } else if (++e->absence.reads < ABSENT_READS) {
        e->absence.read_alone = true;
    } else {
        if (!c->absent_since && !ours && !runs)
            begin_absence(e);
        int64_t left = ours || runs ? 0 : absence_left_us(e);
        if (left <= 0) {
            entity_gone(e);
            return;
        }
        e->absence.read_alone = true;
        again = schedule_interval(e) < left ? schedule_interval(e) : left;
    }
    schedule_soon(e, again);
}

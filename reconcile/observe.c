/*
 * What an answer of Cleura changes: the cluster's phase and health, the events that tell of it, the end of a
 * waiting step. An answer that changes nothing costs no write.
 */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "model/spec.h"
#include "reconcile/world_private.h"

enum { STALE_GRACE_S = 5, OUTDATED_S = 60 };

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

static bool same_json(const json_t *a, const json_t *b)
{
    return a == b || json_equal(a, b);
}

static bool same_shoot(const struct shoot *a, const struct shoot *b)
{
    if (!a || !b)
        return a == b;
    return a->has_operation == b->has_operation && a->progress == b->progress &&
           a->hibernated == b->hibernated && a->operation_at == b->operation_at &&
           same_text(a->operation_type, b->operation_type) &&
           same_text(a->operation_state, b->operation_state) && same_text(a->description, b->description) &&
           same_text(a->api_server_url, b->api_server_url) && same_json(a->observed, b->observed) &&
           same_json(a->conditions, b->conditions) && same_json(a->constraints, b->constraints) &&
           same_json(a->last_errors, b->last_errors);
}

int entity_wish(const struct entity *e)
{
    return entity_has_open_operation(e) ? (int)e->op->type : -1;
}

bool entity_is_active(const struct entity *e)
{
    static const bool moving[PHASE_MAX_] = {
        [PHASE_PENDING] = true, [PHASE_CREATING] = true, [PHASE_UPDATING] = true, [PHASE_HIBERNATING] = true,
        [PHASE_WAKING] = true,  [PHASE_RETRYING] = true, [PHASE_DELETING] = true,
    };
    const struct cluster *c = e->cluster;
    return entity_has_open_operation(e) || c->settling || c->guard_since ||
           (moving[c->phase] && c->upstream_exists);
}

/* The event that tells of a change of phase, decided by where it ends and where it came from. */
static void emit_phase_change(struct save *save, const struct entity *e, enum phase from)
{
    static const int by_phase[PHASE_MAX_] = {
        [PHASE_DEGRADED] = EVENT_CLUSTER_DEGRADED + 1,
        [PHASE_FAILED] = EVENT_CLUSTER_FAILED + 1,
        [PHASE_HIBERNATED] = EVENT_CLUSTER_HIBERNATED + 1,
    };
    static const int ready_from[PHASE_MAX_] = {
        [PHASE_PENDING] = EVENT_CLUSTER_READY + 1,      [PHASE_CREATING] = EVENT_CLUSTER_READY + 1,
        [PHASE_UPDATING] = EVENT_CLUSTER_UPDATED + 1,   [PHASE_DEGRADED] = EVENT_CLUSTER_RECOVERED + 1,
        [PHASE_RETRYING] = EVENT_CLUSTER_RECOVERED + 1, [PHASE_FAILED] = EVENT_CLUSTER_RECOVERED + 1,
        [PHASE_HIBERNATED] = EVENT_CLUSTER_WOKEN + 1,   [PHASE_WAKING] = EVENT_CLUSTER_WOKEN + 1,
        [PHASE_UNKNOWN] = EVENT_CLUSTER_RECOVERED + 1,
    };
    enum phase to = e->cluster->phase;
    /* A create that succeeds is "ready" whatever its last phase was: it is what its consumer waits for. */
    bool created = entity_wish(e) == OPERATION_CREATE && (to == PHASE_READY || to == PHASE_DEGRADED);
    int event = to == PHASE_READY ? ready_from[from] : by_phase[to];
    /* Schedules and other people put it to sleep and wake it, too: only how it was before tells. */
    if (to == PHASE_HIBERNATED && e->cluster->slept)
        event = from == PHASE_UPDATING ? EVENT_CLUSTER_UPDATED + 1 : 0;
    if (to == PHASE_READY && e->cluster->slept)
        event = EVENT_CLUSTER_WOKEN + 1;
    else if (to == PHASE_READY && from != PHASE_READY && e->op && e->op->type == OPERATION_RETRY)
        /* The type stays Create until the first success (gardener.md 1.1): it never was ready before. */
        event = same_text(e->cluster->shoot->operation_type, "Create") ? EVENT_CLUSTER_READY + 1
                                                                       : EVENT_CLUSTER_RECOVERED + 1;
    if (created) {
        emit_cluster(save, EVENT_CLUSTER_READY, e, from, e->cluster->message);
        if (to == PHASE_READY)
            return;
    }
    if (event)
        emit_cluster(save, (enum event_type)(event - 1), e, from, e->cluster->message);
}

static bool apply_decision(struct cluster *c, const struct decision *d)
{
    bool same = c->phase == d->phase && c->health == d->health && c->settling == d->settling &&
                same_text(c->message, d->message);
    c->phase = d->phase;
    c->health = d->health;
    c->settling = d->settling;
    if (!same_text(c->message, d->message)) {
        char *copy = mem_strdup(d->message);
        free(c->message);
        c->message = copy;
    }
    return !same;
}

/* Several runs one after the other are one way from 0 to 100. */
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
    const char *message = waits_for_turn ? op->message : c->message;
    int progress = overall_progress(op, c->shoot->has_operation && !c->guard_since ? c->shoot->progress : 0);
    /* 100 is for the end: a stale success must not look like one. */
    if (progress > 99)
        progress = 99;
    if (op->progress == progress && same_text(op->message, message))
        return false;
    op->progress = progress;
    operation_set_message(op, message);
    return true;
}

/* What a managed cluster has otherwise than asked for, while nothing is under way that changes it. */
static bool find_drift(struct entity *e, struct save *save)
{
    struct cluster *c = e->cluster;
    json_t *drift CLEANUP_JSON = json_array();
    if (c->managed && c->spec && c->shoot && !entity_has_open_operation(e) && !e->queued && !c->guard_since)
        (void)spec_differences(c->spec, c->shoot->observed, drift);
    bool before = json_array_size(c->drift) > 0, now = json_array_size(drift) > 0;
    if ((!before && !now) || json_equal(c->drift, drift))
        return false;
    json_decref(c->drift);
    c->drift = now ? json_incref(drift) : NULL;
    if (now) {
        const char *path = json_str_or(json_array_get(drift, 0), "path", "");
        char *message CLEANUP_FREE =
            mem_printf("%zu member(s) differ from the spec: %s%s", json_array_size(drift), path,
                       json_array_size(drift) > 1 ? ", ..." : "");
        emit_cluster(save, EVENT_CLUSTER_DRIFTED, e, c->phase, message);
    }
    return true;
}

/* From the same observation, after the wish changed. */
static void redecide(struct entity *e)
{
    struct cluster *c = e->cluster;
    struct decision d = decide(c, c->shoot, entity_wish(e), env_wall(e->r->env));
    (void)apply_decision(c, &d);
}

/* Tells of a change of phase since `*before`, once. */
static void tell_phase(struct entity *e, struct save *save, enum phase *before)
{
    struct cluster *c = e->cluster;
    if (c->phase != *before)
        emit_phase_change(save, e, *before);
    if (c->phase == PHASE_HIBERNATED || c->phase == PHASE_READY || c->phase == PHASE_DEGRADED)
        c->slept = c->phase == PHASE_HIBERNATED;
    *before = c->phase;
}

void observe_settle(struct entity *e, struct save *save)
{
    enum phase before = e->cluster->phase;
    redecide(e);
    tell_phase(e, save, &before);
    (void)find_drift(e, save);
}

/* Our create was refused because somebody else has the name in this project: what is there is theirs. */
static void become_unmanaged(struct entity *e, struct save *save)
{
    struct cluster *c = e->cluster;
    c->managed = false;
    json_decref(c->spec);
    c->spec = NULL;
    c->generation++;
    emit_cluster(save, EVENT_CLUSTER_DISCOVERED, e, c->phase, "Found at Cleura; not managed by shootd");
}

static const char *uid_of(const struct shoot *s)
{
    return s ? json_str(s->observed, "uid") : NULL;
}

/* Deleted and made again by others under the same name: not the cluster that the record is about. */
static bool is_another(const struct cluster *c, const struct shoot *seen)
{
    const char *known = uid_of(c->shoot), *now = uid_of(seen);
    return c->upstream_exists && known && now && strcmp(known, now) != 0;
}

/* An answer that lags behind an earlier one (cleura-api.md 5.3) must not end a step; not for long, though:
 * clocks may be set. */
static bool is_outdated(const struct cluster *c, const struct shoot *seen, wall_us now)
{
    return c->shoot && seen->operation_at && seen->operation_at < c->shoot->operation_at &&
           now - c->observed_at < OUTDATED_S * US_PER_S;
}

void observe(struct entity *e, struct shoot *shoot)
{
    struct cluster *c = e->cluster;
    bool stranger = plan_is_stranger(e);
    if (!c->upstream_exists && entity_wish(e) == OPERATION_CREATE) {
        /* Not proven to be ours: the create's own answer or read-back decides. */
        shoot_free(shoot);
        return;
    }
    wall_us now = env_wall(e->r->env);
    if (is_another(c, shoot)) {
        log_warning("another cluster has this name now", "project", c->project, "cluster", c->name);
        shoot_free(shoot);
        entity_gone(e);
        return;
    }
    if (entity_has_open_operation(e) && is_outdated(c, shoot, now)) {
        shoot_free(shoot);
        return;
    }
    enum phase before = c->phase;
    struct decision d = decide(c, shoot, entity_wish(e), now);
    bool guard_over = c->guard_since && !decide_guard_holds(c, shoot, now);
    bool changed = !same_shoot(c->shoot, shoot) || !c->upstream_exists || guard_over;

    /* The message is borrowed from the new shoot, which replaces the old one right after. */
    changed |= apply_decision(c, &d);
    shoot_free(c->shoot);
    c->shoot = shoot;
    c->observed_at = now;
    c->stale = false;
    c->upstream_exists = true;
    if (guard_over)
        c->guard_since = 0;
    if (d.operation_finished && !entity_has_open_operation(e))
        c->wants_hibernated = shoot->hibernated; /* others may have put it to sleep or woken it */
    e->confirm_absent = false;
    e->missing_in_list = false;
    e->absent_reads = 0;
    changed |= follow_progress(e);
    e->quiet_polls = changed ? 0 : e->quiet_polls + 1;
    if (!changed && !steps_want(e, &d)) {
        entity_show(e);
        return;
    }
    struct save *save = save_new(e->r, NULL, NULL);
    bool was_open = entity_has_open_operation(e);
    if (stranger)
        become_unmanaged(e, save);
    /* What a create's consumer waits for comes before the end of its operation. */
    if (entity_wish(e) == OPERATION_CREATE)
        tell_phase(e, save, &before);
    steps_observed(e, save, &d);
    if (was_open && !entity_has_open_operation(e))
        redecide(e);
    if (!stranger)
        tell_phase(e, save, &before);
    (void)find_drift(e, save);
    save_entity(save, e);
    save_submit(save, false);
    steps_advance(e);
}

static void mark_stale(struct entity *e, int64_t older_than_us)
{
    struct cluster *c = e->cluster;
    if (c->stale || !c->observed_at || env_wall(e->r->env) - c->observed_at <= older_than_us)
        return;
    c->stale = true;
    entity_show(e);
}

void observe_doubt(struct entity *e)
{
    mark_stale(e, -1);
}

void observe_failure(struct entity *e)
{
    mark_stale(e, poll_interval(e));
}

void observe_age(struct entity *e)
{
    mark_stale(e, 2 * poll_interval(e) + STALE_GRACE_S * US_PER_S);
}

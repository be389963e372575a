/*
 * Derives phase, health and drift from the known state of a cluster: after an observation, and when an
 * operation begins or ends. Emits the events about a change of phase. The new phase, the previous phase and
 * the last request select the event. Loop thread.
 */
#include "reconcile/world/assess.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/spec.h"
#include "reconcile/world/entity.h"
#include "reconcile/world/events.h"
#include "reconcile/world/save.h"

/* ---- the events of a phase ---- */

/* The events that are emitted when a cluster becomes ready; the previous phase selects one. */
static const enum event_type ready_from[PHASE_MAX_] = {
    [PHASE_PENDING] = EVENT_CLUSTER_READY,      [PHASE_CREATING] = EVENT_CLUSTER_READY,
    [PHASE_UPDATING] = EVENT_CLUSTER_UPDATED,   [PHASE_DEGRADED] = EVENT_CLUSTER_RECOVERED,
    [PHASE_RETRYING] = EVENT_CLUSTER_RECOVERED, [PHASE_FAILED] = EVENT_CLUSTER_RECOVERED,
    [PHASE_HIBERNATED] = EVENT_CLUSTER_WOKEN,   [PHASE_WAKING] = EVENT_CLUSTER_WOKEN,
    [PHASE_UNKNOWN] = EVENT_CLUSTER_RECOVERED,
};

/* The events for a cluster that was hibernated, had another phase, and is hibernated again; that other phase
 * selects one. */
static const enum event_type asleep_from[PHASE_MAX_] = {
    [PHASE_UPDATING] = EVENT_CLUSTER_UPDATED,   [PHASE_DEGRADED] = EVENT_CLUSTER_RECOVERED,
    [PHASE_RETRYING] = EVENT_CLUSTER_RECOVERED, [PHASE_FAILED] = EVENT_CLUSTER_RECOVERED,
    [PHASE_UNKNOWN] = EVENT_CLUSTER_RECOVERED,
};

/* Returns the open operation, or the operation that ends in this change set. */
static const struct operation *operation_of(const struct entity *e)
{
    return e->op && !e->saves.operation_ended ? e->op : NULL;
}

/* Gardener's type stays Create until the first success (GA-1), even during a retry. */
static bool is_first_success(const struct entity *e)
{
    const struct operation *op = operation_of(e);
    const struct shoot *s = e->cluster->shoot;
    if (entity_open_type(e) == OPERATION_CREATE)
        return true;
    return op && op->type == OPERATION_RETRY && s && s->operation_type &&
           !strcmp(s->operation_type, "Create");
}

static enum event_type event_of(const struct entity *e, enum phase from)
{
    static const enum event_type by_phase[PHASE_MAX_] = {
        [PHASE_DEGRADED] = EVENT_CLUSTER_DEGRADED,     [PHASE_FAILED] = EVENT_CLUSTER_FAILED,
        [PHASE_HIBERNATED] = EVENT_CLUSTER_HIBERNATED, [PHASE_RETRYING] = EVENT_CLUSTER_RETRYING,
        [PHASE_UNKNOWN] = EVENT_CLUSTER_UNREACHABLE,
    };
    const struct cluster *c = e->cluster;
    const struct operation *op = operation_of(e);
    assert(from < PHASE_MAX_ && c->phase < PHASE_MAX_ && c->phase != from);
    enum event_type event = by_phase[c->phase];
    if (c->phase == PHASE_READY)
        event = ready_from[from];
    else if (c->phase == PHASE_HIBERNATED && c->slept)
        event = asleep_from[from];
    if (event != EVENT_CLUSTER_UPDATED || !op)
        return event;
    if (op->type == OPERATION_RETRY)
        return EVENT_CLUSTER_RECOVERED;
    /* an operation that failed or was cancelled did not update the cluster */
    return op->status == OPERATION_FAILED || op->status == OPERATION_CANCELLED ? EVENT_NONE : event;
}

/* Gardener alternates between an error and the next try: the event is emitted again only when the error codes
 * change. */
static bool retrying_is_news(struct cluster *c)
{
    char *codes = mem_strdup("");
    size_t i, j;
    json_t *error, *code;
    json_array_foreach (c->shoot ? json_doc_tree(c->shoot->last_errors) : NULL, i, error)
        json_array_foreach (json_arr(error, "codes"), j, code) {
            char *longer = mem_printf("%s%s ", codes, json_string_value(code));
            free(codes);
            codes = longer;
        }
    bool news = !c->retrying_announced || strcmp(c->retrying_announced, codes) != 0;
    free(c->retrying_announced);
    c->retrying_announced = codes;
    return news;
}

static void emit_change(struct entity *e, struct save *save, enum phase from)
{
    struct cluster *c = e->cluster;
    bool works = c->phase == PHASE_READY || c->phase == PHASE_DEGRADED;
    enum event_type event = event_of(e, from), first = EVENT_NONE;
    if (works && is_first_success(e))
        first = EVENT_CLUSTER_READY;
    else if (works && c->slept) /* a schedule or somebody else may have woken the cluster */
        first = EVENT_CLUSTER_WOKEN;
    if (c->phase == PHASE_RETRYING && !retrying_is_news(c))
        event = EVENT_NONE;
    if (first != EVENT_NONE)
        emit_cluster(save, first, e, from, c->message);
    if (event != EVENT_NONE && !(first != EVENT_NONE && c->phase == PHASE_READY))
        emit_cluster(save, event, e, from, c->message);
}

void phase_emit_change(struct entity *e, struct save *save, enum phase *before)
{
    struct cluster *c = e->cluster;
    static const bool run_is_over[PHASE_MAX_] = {
        [PHASE_READY] = true, [PHASE_DEGRADED] = true, [PHASE_HIBERNATED] = true, [PHASE_FAILED] = true};
    if (c->phase != *before)
        emit_change(e, save, *before);
    if (run_is_over[c->phase]) {
        free(c->retrying_announced);
        c->retrying_announced = NULL;
    }
    if (c->phase == PHASE_HIBERNATED || c->phase == PHASE_READY || c->phase == PHASE_DEGRADED)
        c->slept = c->phase == PHASE_HIBERNATED;
    *before = c->phase;
}

/* ---- the decision ---- */

bool assess_apply(struct cluster *c, const struct decision *d, wall_us now)
{
    char *message CLEANUP_FREE = decision_message(d);
    bool same = c->phase == d->phase && c->health == d->health && c->settling == d->settling &&
                mem_same_str(c->message, message);
    c->phase = d->phase;
    c->health = d->health;
    c->settling = d->settling;
    if (!mem_same_str(c->message, message))
        mem_set_str(&c->message, message);
    cluster_note_trouble(c, now); /* the events of this change name the issue, and since when it is */
    return !same;
}

bool assess_drift(struct entity *e, struct save *save)
{
    struct cluster *c = e->cluster;
    json_t *drift CLEANUP_JSON = json_array();
    if (c->managed && c->spec && c->shoot && !entity_has_open_operation(e) && !e->queued && !c->guard_since)
        (void)spec_differences(json_doc_tree(c->spec), shoot_observed(c->shoot), SPEC_UNKNOWN_AGREES, drift);
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

void assess_again(struct entity *e)
{
    struct cluster *c = e->cluster;
    struct decision d = decide(c, c->shoot, entity_open_type(e), entity_guard_now(e));
    (void)assess_apply(c, &d, env_wall(e->r->env));
}

void assess_settle(struct entity *e, struct save *save)
{
    enum phase before = e->cluster->phase;
    assess_again(e);
    phase_emit_change(e, save, &before);
    (void)assess_drift(e, save);
}

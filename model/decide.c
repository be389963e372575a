#include "model/decide.h"

#include <assert.h>
#include <string.h>

static bool is(const char *word, const char *value)
{
    return word && !strcmp(word, value);
}

bool decide_guard_holds(const struct cluster *c, const struct shoot *s, wall_us now)
{
    /* A state that nobody knows is no sign of a run: its time tells whether it is a newer one. */
    bool runs = is(s->operation_state, "Processing") || is(s->operation_state, "Pending") ||
                is(s->operation_state, "Error");
    if (!c->guard_since || !s->has_operation || runs)
        return false;
    if (s->operation_at)
        return s->operation_at == c->guard_seen_at &&
               now < (c->guard_until ? c->guard_until : c->guard_since + GUARD_LIMIT_US);
    return now - c->guard_since < GUARD_BLIND_US;
}

static bool any_condition(const struct shoot *s, const char *status)
{
    size_t i;
    json_t *condition;
    json_array_foreach (json_doc_tree(s->conditions), i, condition)
        if (is(json_str(condition, "status"), status))
            return true;
    return false;
}

/* The phase of a cluster between two steps of an operation, or before its first. */
static enum phase phase_of_open(int open)
{
    if (open == OPERATION_HIBERNATE)
        return PHASE_HIBERNATING;
    return open == OPERATION_WAKE ? PHASE_WAKING : PHASE_UPDATING;
}

static enum phase processing_phase(const struct cluster *c, const struct shoot *s, int open)
{
    if (open >= 0 && open != OPERATION_CREATE)
        return phase_of_open(open); /* a hibernated cluster that is changed does not wake */
    if (c->wants_hibernated && !s->hibernated)
        return PHASE_HIBERNATING;
    return s->hibernated && !c->wants_hibernated ? PHASE_WAKING : PHASE_UPDATING;
}

static struct decision succeeded(const struct shoot *s, int open)
{
    struct decision d = {
        .phase = PHASE_READY, .health = HEALTH_HEALTHY, .operation_finished = s->progress >= 100};
    if (s->hibernated) {
        d.phase = PHASE_HIBERNATED; /* conditions are all True then and say nothing */
    } else if (any_condition(s, "False")) {
        d.phase = PHASE_DEGRADED;
        d.health = HEALTH_UNHEALTHY;
    } else if (any_condition(s, "Unknown")) {
        d.phase = PHASE_DEGRADED;
        d.health = HEALTH_UNKNOWN;
    } else if (any_condition(s, "Progressing")) {
        d.settling = true; /* Gardener resets conditions after each reconcile */
        d.health = HEALTH_PROGRESSING;
    }
    if (open >= 0 && open != OPERATION_CREATE) {
        d.phase = phase_of_open(open);
        d.health = HEALTH_PROGRESSING;
        d.settling = false;
    }
    return d;
}

static struct decision by_operation(const struct cluster *c, const struct shoot *s, int open, bool guard)
{
    const char *state = s->operation_state;
    if (is(s->operation_type, "Delete") && !guard)
        return (struct decision){.phase = is(state, "Failed") ? PHASE_FAILED : PHASE_DELETING,
                                 .health = HEALTH_PROGRESSING,
                                 .operation_failed = is(state, "Failed") || is(state, "Aborted")};
    if (open == OPERATION_DELETE)
        return (struct decision){.phase = PHASE_DELETING, .health = HEALTH_PROGRESSING};
    if (guard)
        return (struct decision){.phase = processing_phase(c, s, open), .health = HEALTH_PROGRESSING};
    if (is(state, "Failed") || is(state, "Aborted"))
        return (struct decision){.phase = PHASE_FAILED, .health = HEALTH_UNHEALTHY, .operation_failed = true};
    if (is(state, "Error"))
        return (struct decision){.phase = PHASE_RETRYING, .health = HEALTH_UNHEALTHY};
    if (is(state, "Pending"))
        return (struct decision){.phase = PHASE_PENDING, .health = HEALTH_PROGRESSING};
    if (is(state, "Processing")) {
        bool errors = json_array_size(json_doc_tree(s->last_errors)) > 0;
        return (struct decision){.phase = is(s->operation_type, "Create") ? PHASE_CREATING
                                                                          : processing_phase(c, s, open),
                                 .health = errors ? HEALTH_UNHEALTHY : HEALTH_PROGRESSING};
    }
    if (is(state, "Succeeded"))
        return succeeded(s, open);
    return (struct decision){.phase = PHASE_UNKNOWN, .health = HEALTH_UNKNOWN};
}

struct decision decide(const struct cluster *c, const struct shoot *s, int open, wall_us now)
{
    struct decision d;
    assert(open >= -1 && open < OPERATION_TYPE_MAX_);
    if (c->absent_since)
        return (struct decision){.phase = open == OPERATION_DELETE ? PHASE_DELETING : PHASE_UNKNOWN,
                                 .health = HEALTH_UNKNOWN,
                                 .message = c->message};
    if (!s || !s->has_operation) {
        d = (struct decision){.phase = PHASE_PENDING, .health = HEALTH_PROGRESSING};
        if (open == OPERATION_DELETE)
            d.phase = PHASE_DELETING;
        else if (open == OPERATION_CREATE)
            d.phase = PHASE_CREATING;
        d.message =
            open == OPERATION_CREATE ? "Accepted; Cleura has not started yet" : "No operation reported";
        return d;
    }
    bool guard = decide_guard_holds(c, s, now);
    d = by_operation(c, s, open, guard);
    d.message = guard ? "Accepted; Cleura has not started yet" : s->description;
    return d;
}

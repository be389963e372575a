#include "model/decide.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "model/issues.h"
#include "model/phase_meaning.h"

static bool is(const char *word, const char *value)
{
    return word && !strcmp(word, value);
}

bool decide_guard_holds(const struct cluster *c, const struct shoot *s, wall_us now)
{
    /* A state that is not in the table does not prove a run. The time of the operation then shows whether the
     * operation is newer than the write. */
    const enum shoot_run run = shoot_run(s);
    bool runs = run == RUN_PROCESSING || run == RUN_PENDING || run == RUN_RETRYING;
    if (!c->guard_since || !s->has_operation || runs)
        return false;
    if (s->operation_at)
        return s->operation_at == c->guard_seen_at &&
               now < (c->guard_until ? c->guard_until : c->guard_since + GUARD_LIMIT_US);
    return now - c->guard_since < GUARD_BLIND_US;
}

/* The combined status of the conditions, which is the worst status of a condition; the worst comes first. */
enum conditions {
    CONDITIONS_FALSE,
    CONDITIONS_UNKNOWN,
    CONDITIONS_PROGRESSING,
    CONDITIONS_UNREAD,
    CONDITIONS_TRUE
};

/* Returns the meaning of a condition. A condition that is unreadable, or whose status is not in the table,
 * counts as unread: neither met nor unmet. */
static enum conditions condition_says(const json_t *condition)
{
    static const char *const words[] = {"False", "Unknown", "Progressing", NULL, "True"};
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (words[i] && is(json_str(condition, "status"), words[i]))
            return (enum conditions)i;
    return CONDITIONS_UNREAD;
}

static enum conditions worst_condition(const struct shoot *s)
{
    enum conditions worst =
        json_array_size(json_doc_tree(s->conditions)) ? CONDITIONS_TRUE : CONDITIONS_UNREAD;
    size_t i;
    json_t *condition;
    json_array_foreach (json_doc_tree(s->conditions), i, condition) {
        enum conditions says = condition_says(condition);
        worst = says < worst ? says : worst;
    }
    return worst;
}

/* Whether the cluster is hibernated. While Cleura does not report the flag, the last requested state is
 * used. */
static bool is_hibernated(const struct cluster *c, const struct shoot *s)
{
    return s->hibernated_unknown ? c->wants_hibernated : s->hibernated;
}

/* Returns the phase of a cluster between two steps of an operation, or before its first step. */
static enum phase phase_of_open(int open)
{
    if (open == OPERATION_HIBERNATE)
        return PHASE_HIBERNATING;
    return open == OPERATION_WAKE ? PHASE_WAKING : PHASE_UPDATING;
}

static enum phase processing_phase(const struct cluster *c, const struct shoot *s, int open)
{
    if (open >= 0 && open != OPERATION_CREATE)
        return phase_of_open(open); /* a change does not wake a hibernated cluster */
    if (c->wants_hibernated && !is_hibernated(c, s))
        return PHASE_HIBERNATING;
    return is_hibernated(c, s) && !c->wants_hibernated ? PHASE_WAKING : PHASE_UPDATING;
}

/* What the combined conditions say about a cluster whose last operation succeeded, and about the health of
 * any cluster. */
static const struct {
    enum phase phase;
    enum health health;
    bool settling; /* Gardener resets the conditions after each reconcile */
} by_conditions[] = {
    [CONDITIONS_FALSE] = {PHASE_DEGRADED, HEALTH_UNHEALTHY, false},
    [CONDITIONS_UNKNOWN] = {PHASE_DEGRADED, HEALTH_UNKNOWN, false},
    [CONDITIONS_PROGRESSING] = {PHASE_READY, HEALTH_PROGRESSING, true},
    [CONDITIONS_UNREAD] = {PHASE_READY, HEALTH_UNKNOWN, false},
    [CONDITIONS_TRUE] = {PHASE_READY, HEALTH_HEALTHY, false},
};

/* Whether the cluster works. Only the conditions say that; while they have no meaning, something goes on, or
 * the cluster sleeps as it should. */
static enum health health_in(enum phase phase, const struct shoot *s)
{
    if (phase == PHASE_HIBERNATED)
        return HEALTH_HEALTHY;
    return phase_has_conditions(phase) ? by_conditions[worst_condition(s)].health : HEALTH_PROGRESSING;
}

static struct decision succeeded(const struct cluster *c, const struct shoot *s, int open)
{
    const enum conditions worst = worst_condition(s);
    struct decision d = {.phase = by_conditions[worst].phase,
                         .settling = by_conditions[worst].settling,
                         .operation_finished = s->progress == SHOOT_PROGRESS_UNKNOWN || s->progress >= 100};
    if (is_hibernated(c, s)) { /* the conditions of a hibernated cluster are all True and have no meaning */
        d.phase = PHASE_HIBERNATED;
        d.settling = false;
    }
    if (open >= 0 && open != OPERATION_CREATE) {
        d.phase = phase_of_open(open);
        d.settling = false;
    }
    return d;
}

static struct decision processing(const struct cluster *c, const struct shoot *s, int open)
{
    /* A create continues until Cleura reports a different operation. An unknown type does not count as a
     * different operation. */
    bool creates =
        open == OPERATION_CREATE ? !is(s->operation_type, "Reconcile") : is(s->operation_type, "Create");
    return (struct decision){.phase = creates ? PHASE_CREATING : processing_phase(c, s, open)};
}

static struct decision by_operation(const struct cluster *c, const struct shoot *s, int open, bool guard)
{
    const enum shoot_run run = shoot_run(s);
    if (shoot_is_deletion(s) && !guard)
        return (struct decision){.phase = run == RUN_FAILED ? PHASE_FAILED : PHASE_DELETING,
                                 .operation_failed = run == RUN_FAILED || run == RUN_ABORTED};
    if (open == OPERATION_DELETE)
        return (struct decision){.phase = PHASE_DELETING};
    if (guard)
        return (struct decision){.phase = processing_phase(c, s, open)};
    switch (run) {
    case RUN_FAILED:
    case RUN_ABORTED:
        return (struct decision){.phase = PHASE_FAILED, .operation_failed = true};
    case RUN_RETRYING:
        return (struct decision){.phase = PHASE_RETRYING};
    case RUN_PENDING:
        return (struct decision){.phase = PHASE_PENDING};
    case RUN_PROCESSING:
        return processing(c, s, open);
    case RUN_SUCCEEDED:
        return succeeded(c, s, open);
    case RUN_UNHEARD:
    case RUN_UNKNOWN:
    case RUN_NONE:
        break;
    }
    if (open >= 0) /* the requested change continues */
        return processing(c, s, open);
    return (struct decision){.phase = PHASE_UNKNOWN};
}

/* The message is about the worst condition when Gardener's sentence is not: when it only says that the last
 * run succeeded, or when something worse than a failed run is wrong. */
static void speak_of_conditions(struct decision *d, const struct shoot *s)
{
    const char *said;
    enum issue_severity severity;
    const char *title = issue_of_conditions(s, &said, &severity);
    const bool is_about_run = d->phase == PHASE_FAILED || d->phase == PHASE_RETRYING;
    if (d->phase != PHASE_DEGRADED && !(is_about_run && severity == ISSUE_CRITICAL))
        return;
    d->title = title;
    d->message = said;
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
    d.health = health_in(d.phase, s);
    speak_of_conditions(&d, s);
    if (!guard && shoot_run(s) == RUN_UNKNOWN)
        d.message = "The state that Cleura shows cannot be read";
    if (!guard && shoot_run(s) == RUN_UNHEARD)
        d.unheard = s->operation_state;
    else if (open == OPERATION_DELETE && !guard && !shoot_is_deletion(s) && shoot_may_be_deleting(s))
        d.unheard = s->operation_type;
    return d;
}

char *decision_message(const struct decision *d)
{
    if (d->title)
        return mem_printf("%s%s%s", d->title, d->message ? ": " : "", d->message ? d->message : "");
    if (!d->unheard)
        return mem_strdup(d->message);
    return mem_printf("Cleura says \"%s\", which counts as in progress%s%s", d->unheard,
                      d->message && *d->message ? ": " : "", d->message ? d->message : "");
}

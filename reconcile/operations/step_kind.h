/* A kind of step: the interface between the engine (steps.c) and the table (step_kinds.c). A run is Cleura's
 * work on the shoot after a call; Cleura shows this work as the last operation of the shoot. Loop thread. */
#ifndef RECONCILE_OPERATIONS_STEP_KIND_H
#define RECONCILE_OPERATIONS_STEP_KIND_H

#include <assert.h>

#include "model/spec.h"
#include "reconcile/world/save.h"

enum finding {
    FOUND_EFFECT,
    FOUND_NO_EFFECT,
    FOUND_UNCLEAR, /* the effect is not known yet: the shoot is read again for a while */
    FOUND_FOREIGN, /* a shoot with this name exists, but it cannot be the requested shoot */
};

/* The result of a probe for a step. */
struct probe_finding {
    bool effect, complete;
    /* An enum value of Cleura that shootd does not know; borrowed. After a 2xx such a value means that the
     * effect is in progress. */
    const char *unheard;
};

struct step_kind {
    enum upstream_op op;
    bool waits;      /* the step makes no call: an observation ends it */
    bool idempotent; /* the call may be sent again without a read */
    /*
     * The step is a change or an action: it is sent only while Cleura does nothing with the shoot, and ends
     * only after the run that it starts (the guard, model/cluster.h).
     */
    bool exclusive;
    bool destroys; /* the call destroys the shoot; it is also sent while Cleura is busy with the shoot */
    bool absent_means_done;
    /* Cleura shows the new spec as soon as it accepts the change (CL-13), long before its run ends. */
    bool shows_at_once;
    /* Handles a definite answer other than OK; NULL: the operation then fails. */
    void (*refused)(struct entity *e, struct operation_step *step, const struct upstream_result *result);
    void (*accepted)(struct entity *e, const struct upstream_result *result, struct save *save);
    /* Called when the shoot was read after a lost answer, and exists. Returns whether the step had its
     * effect. NULL: is_met decides. */
    enum finding (*found)(const struct entity *e, const struct shoot *shoot);
    /* Whether the shoot shows the step's effect. NULL: only the end of Cleura's run is visible, not the
     * effect. */
    bool (*is_met)(const struct entity *e, const struct operation_step *step, const struct shoot *shoot,
                   enum spec_unknown unknown);
    /* Whether the effect exists already, so that nothing is sent. NULL: the call is always sent. */
    bool (*is_needless)(const struct entity *e);
    /* Called when the step has ended. */
    void (*ended)(struct entity *e, const struct operation_step *step);
    /* Returns the body to send now; NULL: the operation's body. The caller owns it. */
    json_t *(*body)(const struct entity *e, const struct operation_step *step);
    /* A call that shows the effect when the shoot itself does not show it. The call is used after a lost
     * answer, and to confirm the end of the step. */
    enum upstream_op probe; /* 0: none */
    void (*probed)(const struct operation_step *step, const json_t *document, struct probe_finding *ret);
    int64_t patience_us; /* an accepted step that starts no run ends after this time; 0: there is no limit */
};

const struct step_kind *step_kind_of(enum step_type type);

static inline const struct step_kind *step_kind(const struct operation_step *step)
{
    return step_kind_of(step->type);
}

/* Calls the kind's is_met, which must exist. Before Cleura has accepted the step, an unreadable value counts
 * as not met, so the value is sent. After the acceptance, the value counts as met, because the step may have
 * had its effect. */
bool step_is_met(const struct entity *e, const struct operation_step *step, const struct shoot *shoot);

static inline struct operation_step *current_step(const struct entity *e)
{
    assert(e->op && e->op->step_index < e->op->step_count);
    return &e->op->steps[e->op->step_index];
}

/* ---- steps.c, for the kinds ---- */

/* Called when the answer was lost, or when the answer shows that an earlier call may have had an effect. The
 * shoot is read before shootd decides how the step continues. */
void step_lost(struct entity *e);
/* Called when Cleura has accepted the call: the step is done, or waits for Cleura's run. */
void step_accepted(struct entity *e, const struct upstream_result *result);
/* Called when Cleura is busy with the shoot: the step continues later. */
void step_busy(struct entity *e, const struct upstream_result *result);

/* ---- steps.c, for step_ends.c and step_read_back.c ---- */

enum {
    STEP_BUDGET_S = 600,   /* the time after which shootd stops looking for the effect of a call with a lost
                            * answer, or stops repeating a step without effect */
    STEP_MAX_ATTEMPTS = 6, /* the step fails after this many calls without effect, but not before
                            * STEP_BUDGET_S */
};
/* Sets the operation's message to the reason why it waits, and stores the message if it is new. */
void step_reports(struct entity *e, const char *message);

typedef void step_answer(struct upstream_call *call, struct upstream_result *result);
/* Makes a call of the current step. The step is in the state `life` until the answer. */
void step_submit(struct entity *e, enum step_life life, enum upstream_op op, step_answer *on_done);
/* Called when the call probably had no effect: the call is sent again, or the step fails. */
void step_send_again(struct entity *e);
/* Returns the problem of a step that was sent too often without effect; the caller owns it. `since`: when the
 * step began. */
struct problem *step_had_no_effect(const struct operation_step *step, wall_us since);
/* Called when nothing was sent, or a read failed. The step is unchanged and continues later. */
void step_not_sent(struct entity *e, const struct upstream_result *result);
/* Ends the step as STEP_DONE or STEP_SKIPPED: it was accepted without a run, its run ended, its effect exists
 * already, or it is not needed. */
void step_end(struct entity *e, enum step_status end);
/* Moves to the first step that has not ended; returns false when all steps have ended. */
bool step_find(struct operation *op);

/* ---- step_read_back.c ---- */

/* Reads the shoot to find out whether a call with a lost answer had an effect. Then the step counts as
 * accepted, or its call is sent again, or the shoot is read once more. */
void step_read_back(struct entity *e);

#endif

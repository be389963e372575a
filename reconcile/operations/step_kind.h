/* A kind of step: the interface between the engine (steps.c) and the table (step_kinds.c). Loop thread. */
#ifndef RECONCILE_OPERATIONS_STEP_KIND_H
#define RECONCILE_OPERATIONS_STEP_KIND_H

#include <assert.h>

#include "model/spec.h"
#include "reconcile/world/save.h"

enum finding {
    FOUND_EFFECT,
    FOUND_NO_EFFECT,
    FOUND_UNCLEAR, /* not known yet: read again for a while */
    FOUND_FOREIGN,
};

/* The result of a probe for a step. */
struct probe_finding {
    bool effect, complete;
    /* A word of Cleura that shootd does not know; borrowed. After a 2xx it means an effect in progress. */
    const char *unheard;
};

struct step_kind {
    enum upstream_op op;
    bool waits;      /* makes no call: an observation ends it */
    bool idempotent; /* may be sent again without a read */
    /*
     * Sent only while Cleura does nothing with the shoot, and ended only after the run that it starts (the
     * guard): changes and actions.
     */
    bool exclusive;
    bool destroys; /* destroys the shoot itself; also sent while Cleura is busy with it */
    bool absent_means_done;
    /* Cleura shows the new spec as soon as it accepts the change (CL-13), long before its run ends. */
    bool shows_at_once;
    /* Handles a definite answer other than OK; NULL: the operation fails with it. */
    void (*refused)(struct entity *e, struct operation_step *step, const struct upstream_result *result);
    void (*accepted)(struct entity *e, const struct upstream_result *result, struct save *save);
    /* Read-back: the shoot exists. Returns the finding about the step. NULL: is_met decides. */
    enum finding (*found)(const struct entity *e, const struct shoot *shoot);
    /* Whether the shoot shows the step's effect; NULL: only the end of Cleura's run is visible. */
    bool (*is_met)(const struct entity *e, const struct operation_step *step, const struct shoot *shoot,
                   enum spec_unknown unknown);
    /* Whether the effect exists already, so nothing is sent. NULL: never. */
    bool (*is_needless)(const struct entity *e);
    /* Called when the step has ended. */
    void (*ended)(struct entity *e, const struct operation_step *step);
    /* The body to send now; NULL: the operation's body. The caller owns it. */
    json_t *(*body)(const struct entity *e, const struct operation_step *step);
    /* A call that shows more than the shoot: used to read back, and to confirm the end. */
    enum upstream_op probe; /* 0: none */
    void (*probed)(const struct operation_step *step, const json_t *document, struct probe_finding *ret);
    int64_t patience_us; /* 0: no limit; otherwise an accepted step that starts no run ends after this time */
};

const struct step_kind *step_kind_of(enum step_type type);

static inline const struct step_kind *step_kind(const struct operation_step *step)
{
    return step_kind_of(step->type);
}

/* Calls the kind's is_met, which must exist. Before Cleura accepted the step, an unreadable value must be
 * sent. Afterwards it counts as met, because the step may have had its effect. */
bool step_is_met(const struct entity *e, const struct operation_step *step, const struct shoot *shoot);

static inline struct operation_step *current_step(const struct entity *e)
{
    assert(e->op && e->op->step_index < e->op->step_count);
    return &e->op->steps[e->op->step_index];
}

/* ---- steps.c, for the kinds ---- */

/* The answer was lost, or shows that an earlier call had an effect: read the shoot first. */
void step_lost(struct entity *e);
/* The step is done, or accepted and now waits. */
void step_accepted(struct entity *e, const struct upstream_result *result);
/* Cleura is busy with the shoot: the step continues later. */
void step_busy(struct entity *e, const struct upstream_result *result);

/* ---- steps.c, for step_ends.c and step_read_back.c ---- */

/* How long a lost answer may stay unclear, and how long a step without effect is repeated. */
enum { STEP_BUDGET_S = 600 };
/* Sets the message with the reason why the operation waits. A new message is stored. */
void step_reports(struct entity *e, const char *message);

typedef void step_answer(struct upstream_call *call, const struct upstream_result *result);
/* Makes a call of the current step. The step is in the state `life` until the answer. */
void step_submit(struct entity *e, enum step_life life, enum upstream_op op, step_answer *on_done);
/* The call probably had no effect: send it again, or give up. */
void step_send_again(struct entity *e);
/* Nothing was sent, or a read failed. The step is unchanged and continues later. */
void step_not_sent(struct entity *e, const struct upstream_result *result);
/* Ends the step as STEP_DONE or STEP_SKIPPED: it was accepted without a run, its run ended, its effect exists
 * already, or it is not needed. */
void step_end(struct entity *e, enum step_status end);
/* Moves to the first step that has not ended; false when there is none. */
bool step_find(struct operation *op);

/* ---- step_read_back.c ---- */

/* Reads what became of the step's call, whose answer was lost. The step then counts as accepted, is sent
 * again, or is read once more. */
void step_read_back(struct entity *e);

#endif

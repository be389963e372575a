/* The definition of a kind of step: the seam between the engine (steps.c) and the table (step_kinds.c). Loop
 * thread. */
#ifndef RECONCILE_OPERATIONS_STEP_KIND_H
#define RECONCILE_OPERATIONS_STEP_KIND_H

#include <assert.h>

#include "model/spec.h"
#include "reconcile/world/save.h"

enum finding {
    FOUND_EFFECT,
    FOUND_NO_EFFECT,
    FOUND_UNCLEAR, /* not known yet: looked at again, for a while */
    FOUND_FOREIGN,
};

/* The result of a probe for a step. */
struct probe_finding {
    bool effect, complete;
    /* A word that is not in our table; borrowed. After a 2xx it counts as an effect that goes on. */
    const char *unheard;
};

struct step_kind {
    enum upstream_op op;
    bool waits;      /* sends nothing: ends by an observation */
    bool idempotent; /* may be sent again without looking */
    /*
     * Sent only while Cleura does nothing with the shoot, and ended only when the run that it starts has
     * ended (the guard): changes and actions.
     */
    bool exclusive;
    bool destroys; /* the shoot itself; also while Cleura is busy with it */
    bool absent_means_done;
    /* Cleura shows the new spec as soon as it took the change (CL-13), long before its run ends.
     */
    bool shows_at_once;
    /* A definite answer other than OK; NULL: the operation fails with it. */
    void (*refused)(struct entity *e, struct operation_step *step, const struct upstream_result *result);
    void (*accepted)(struct entity *e, const struct upstream_result *result, struct save *save);
    /* Read back: the shoot is there. Returns what that says about the step. NULL: is_met says. */
    enum finding (*found)(const struct entity *e, const struct shoot *shoot);
    /* Whether the shoot shows what the step is for; NULL: the end of Cleura's run is all there is. */
    bool (*is_met)(const struct entity *e, const struct operation_step *step, const struct shoot *shoot,
                   enum spec_unknown unknown);
    /* Somebody else has done it meanwhile: nothing is sent. NULL: never. */
    bool (*is_needless)(const struct entity *e);
    /* The step has ended. */
    void (*ended)(struct entity *e, const struct operation_step *step);
    /* The body to be sent now; NULL: the operation's body. The caller owns it. */
    json_t *(*body)(const struct entity *e, const struct operation_step *step);
    /*
     * A call that shows more than the shoot does: it is made to read back, and to confirm at the end.
     */
    enum upstream_op probe; /* 0: none */
    void (*probed)(const struct operation_step *step, const json_t *document, struct probe_finding *ret);
    int64_t patience_us; /* 0: for ever; else an accepted step that starts no run ends after this long */
};

const struct step_kind *step_kind(const struct operation_step *step);

/* The kind's is_met, which it has to have. Before Cleura took the step, a value that cannot be read is to be
 * sent; afterwards it counts as met, since nothing shows that the step had no effect. */
bool step_is_met(const struct entity *e, const struct operation_step *step, const struct shoot *shoot);

static inline struct operation_step *current_step(const struct entity *e)
{
    assert(e->op && e->op->step_index < e->op->step_count);
    return &e->op->steps[e->op->step_index];
}

/* ---- steps.c, for the kinds ---- */

/* The answer was lost, or says that an earlier one had effect: look before anything else. */
void step_lost(struct entity *e);
/* Done, or accepted and now waited for. */
void step_accepted(struct entity *e, const struct upstream_result *result);
/* Cleura is busy with the shoot: nobody's fault, taken up again later. */
void step_busy(struct entity *e, const struct upstream_result *result);

/* ---- steps.c, for step_ends.c ---- */

typedef void step_answer(struct upstream_call *call, const struct upstream_result *result);
void step_submit(struct entity *e, enum upstream_op op, step_answer *on_done);
/* The call had no effect, as far as can be seen: once more, or given up. */
void step_send_again(struct entity *e);
/* Nothing was sent, or a read failed: the step is as it was before, and taken up again later. */
void step_not_sent(struct entity *e, const struct upstream_result *result);
/* It is accepted and that is all, its run has ended, its effect is there already, or nothing is to be done:
 * STEP_DONE or STEP_SKIPPED. */
void step_end(struct entity *e, enum step_status end);
/* Moves to the first step that is not over; false when there is none left. */
bool step_find(struct operation *op);

#endif

/*
 * The life of the current step in memory: what happens for it at the moment. Its stored states are in
 * model/moves.h. docs/architecture.md draws the moves. Loop thread.
 */
#ifndef RECONCILE_WORLD_STEP_LIFE_H
#define RECONCILE_WORLD_STEP_LIFE_H

#include <stdint.h>

#include "upstream/upstream.h"

struct entity;

enum step_life {
    LIFE_RESTING,      /* nothing: the end of a turn continues the step, if possible */
    LIFE_LOOKING,      /* the shoot is read before the step's call */
    LIFE_LOOKED,       /* the shoot of that read is observed at the end of this turn */
    LIFE_STORING,      /* the intent to make the call is being stored: no other call begins meanwhile */
    LIFE_CALLING,      /* the call waits in the lane, or was sent */
    LIFE_READING_BACK, /* the answer was lost: Cleura is read for the effect of the call */
    LIFE_CONFIRMING,   /* the run has ended: Cleura is read for its effect */
    LIFE_PAUSED,       /* the step continues after a while */
    LIFE_MAX_,
};

/*
 * Ends the process when the move is not in the table, or when a condition of the new state does not hold. The
 * conditions concern the active call, the timer and the stored state of the step. Called after the effect of
 * the move, for example after the call was submitted.
 */
void life_move(struct entity *e, enum step_life to);
/* The call of this state was answered, and its handler is done: the step rests, unless the handler moved it.
 */
void life_answered(struct entity *e, enum step_life from);
/* The step continues after this time. */
void life_pause(struct entity *e, int64_t wait_us);
/* Ends a pause, if there is one. */
void life_end_pause(struct entity *e);
/* Ends everything that happens for the step except a save, for example before a stop. The effect of a call
 * that was sent is found later by reading back. */
void life_stop(struct entity *e);

#endif

/*
 * The state of the current step in memory: the present activity for the step. The stored states of steps are
 * in model/moves.h. reconcile/operations/README.md draws the moves between these states. Loop thread.
 */
#ifndef RECONCILE_WORLD_STEP_LIFE_H
#define RECONCILE_WORLD_STEP_LIFE_H

#include <stdint.h>

#include "upstream/upstream.h"

struct entity;

enum step_life {
    LIFE_RESTING, /* no activity: the step continues at the end of a turn, if possible */
    LIFE_LOOKING, /* the shoot is read before the step's call */
    LIFE_LOOKED,  /* the shoot was read; observe() processes the result at the end of this turn */
    LIFE_STORING, /* the intent to make the call is being stored; during this time no other call begins */
    LIFE_CALLING, /* the call waits in the lane, or was sent */
    LIFE_READING_BACK, /* the answer was lost, and the shoot is read to find the effect of the call */
    LIFE_CONFIRMING,   /* the run has ended, and Cleura is read to see its effect */
    LIFE_PAUSED,       /* the step continues after some time */
    LIFE_MAX_,
};

/*
 * Moves the current step to the state `to`. Ends the process when the move is not in the table, or when a
 * condition of the new state does not hold. The conditions concern the active call, the timer and the stored
 * state of the step. Called after the effect of the move, for example after the call was submitted.
 */
void life_move(struct entity *e, enum step_life to);
/* Called when the call of this state was answered, and its handler has returned: the step becomes resting,
 * unless the handler has moved it to another state. */
void life_answered(struct entity *e, enum step_life from);
/* The step continues after this time. */
void life_pause(struct entity *e, int64_t wait_us);
/* Ends a pause, if the step is paused. */
void life_end_pause(struct entity *e);
/* Ends every activity for the step except a save, for example before a stop. When a call was sent, its effect
 * is found later by reading the shoot. */
void life_stop(struct entity *e);

#endif

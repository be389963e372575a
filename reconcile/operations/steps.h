/* Operations, step by step. Loop thread. */
#ifndef RECONCILE_OPERATIONS_STEPS_H
#define RECONCILE_OPERATIONS_STEPS_H

#include "model/decide.h"
#include "reconcile/world/save.h"

/* Begins or goes on with the entity's open operation; harmless at any time. */
void steps_advance(struct entity *e);
/* An observation arrived: may end the waiting step, and with it the operation. The save gets what changes. */
void steps_observed(struct entity *e, struct save *save, const struct decision *d);
/* Whether an observation that changed nothing is to be handed to steps_observed all the same. */
bool steps_want(const struct entity *e, const struct decision *d);
/* The message for a step whose call Cleura took, and nothing of it shows; else NULL. The caller owns it. */
char *steps_remark(const struct entity *e);
/* It is done, or was not needed. */
bool step_is_over(const struct operation_step *step);
/* The step sends something to Cleura, and has not: the operation can still end without it. */
bool step_is_unsent(const struct operation_step *step);

#endif

/* Operations, step by step. Loop thread. */
#ifndef RECONCILE_OPERATIONS_STEPS_H
#define RECONCILE_OPERATIONS_STEPS_H

#include "model/decide.h"
#include "reconcile/world/save.h"

/* Begins or continues the entity's open operation; may be called at any time. */
void steps_advance(struct entity *e);
/* The shoot that a read for the step showed was observed: whether it counts (observe), and has a uid. */
void steps_looked(struct entity *e, bool counts, bool has_uid);
/* Called for an observation: may end the waiting step, and with it the operation. Adds its changes to the
 * save. */
void steps_observed(struct entity *e, struct save *save, const struct decision *d);
/* Whether steps_observed must be called although the observation changed nothing. */
bool steps_want(const struct entity *e, const struct decision *d);
/* The message for a step whose call Cleura accepted without a visible effect; else NULL. The caller owns
 * it. */
char *steps_remark(const struct entity *e);
/* Whether the step is done, or was not needed. */
bool step_is_over(const struct operation_step *step);
/* Whether the step makes a call and has not sent it: the operation can still end without it. */
bool step_is_unsent(const struct operation_step *step);

#endif

/* Operations, step by step. Loop thread. */
#ifndef RECONCILE_OPERATIONS_STEPS_H
#define RECONCILE_OPERATIONS_STEPS_H

#include "model/decide.h"
#include "reconcile/world/save.h"

/* Begins or continues the entity's open operation; may be called at any time. */
void steps_advance(struct entity *e);
/* Called when `observe` has processed the shoot of a read for the step. `counts`: `observe` did not ignore
 * the answer; `has_uid`: the shoot has a uid. */
void steps_looked(struct entity *e, bool counts, bool has_uid);
/* Called for each observation that changed something: may end the waiting step, and with it the operation.
 * Adds its changes to the save. */
void steps_observed(struct entity *e, struct save *save, const struct decision *d);
/* Whether steps_observed must be called although the observation changed nothing. */
bool steps_want(struct entity *e, const struct decision *d);
/* Returns the message for a step whose call was accepted but whose effect cannot be seen; NULL: there is no
 * such step. The caller owns the message. */
char *steps_remark(const struct entity *e);
/* Whether the step has a call that was not sent yet, so the operation can still end without the call. */
bool step_is_unsent(const struct operation_step *step);

#endif

/* The end of operations. Loop thread. */
#ifndef RECONCILE_OPERATIONS_ENDS_H
#define RECONCILE_OPERATIONS_ENDS_H

#include "reconcile/world/save.h"

/* Sets the final state of `op` and its steps, and emits the event. Takes over the problem, which is NULL only
 * for a success. */
void operation_finish(struct entity *e, struct save *save, struct operation *op, enum operation_status status,
                      struct problem *problem);
/* Fails the current operation and stores this end. Takes over the problem. */
void entity_fail_operation(struct entity *e, struct problem *problem);
/* Ends the current operation before its next step, because of the cancellation in op->cancelled_by, and
 * stores this end. */
void entity_cancel_operation(struct entity *e);
struct problem *operation_cancelled_problem(const struct operation *op);
struct problem *cluster_failed_problem(const struct entity *e);

#endif

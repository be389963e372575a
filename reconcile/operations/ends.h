/* The end of operations, the start of waiting operations, and the end of clusters. Loop thread. */
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
/* Called when the shoot no longer exists (a second read confirmed the 404): ends a delete, or reports the
 * loss. Frees the entity. */
void entity_gone(struct entity *e);
/* Ends shootd's record of the cluster, because the project is at another location now. The shoot is neither
 * read nor deleted. Frees the entity. */
void entity_forget(struct entity *e);
/* Ends the record and fails its operation, because nothing proves that the shoot with this name is shootd's
 * own; nothing was deleted. */
void entity_disown(struct entity *e);

/* ---- waiting operations ---- */

/* Whether the first waiting operation may begin: the current operation ended, or must be interrupted. */
bool queue_is_due(const struct entity *e);
/* Ends the waiting operations that `by` replaces, and adds the changes to `save`. */
void queue_supersede(struct entity *e, struct save *save, const struct operation *by);
/* Ends all waiting operations as failed, and adds the changes to `save`. */
void queue_fail(struct entity *e, struct save *save, const char *why);
/* Makes the first waiting operation the current operation; it must be due (queue_is_due). When the cluster
 * was never created, a change fails, and the create stays the current operation. */
void queue_promote(struct entity *e);

#endif

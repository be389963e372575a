/* How operations end, how those that wait begin, and how clusters end. Loop thread. */
#ifndef RECONCILE_OPERATIONS_ENDS_H
#define RECONCILE_OPERATIONS_ENDS_H

#include "reconcile/world/save.h"

/* The final state of `op`, with its steps and event; takes the problem, which all but success have. */
void operation_finish(struct entity *e, struct save *save, struct operation *op, enum operation_status status,
                      struct problem *problem);
/* The current operation ends badly and is stored. Takes the problem. */
void entity_fail_operation(struct entity *e, struct problem *problem);
/* As was asked for with op->cancelled_by: the current operation ends before its next step and is stored. */
void entity_cancel_operation(struct entity *e);
struct problem *operation_cancelled_problem(const struct operation *op);
struct problem *cluster_failed_problem(const struct entity *e);
/* The shoot is gone (404 confirmed): ends a delete, or reports a loss. The entity is freed. */
void entity_gone(struct entity *e);
/* The record ends without a word about the shoot. The entity is freed. */
void entity_forget(struct entity *e);
/* The record ends and its operation fails, because nothing proves that the shoot of this name is ours;
 * nothing was deleted. */
void entity_disown(struct entity *e);

/* ---- those that wait ---- */

/* Whether the first waiting operation may begin: the one before it ended, or is to be cut short. */
bool queue_is_due(const struct entity *e);
/* Ends those that `by` makes void, each with its own truth, in the same change set. */
void queue_supersede(struct entity *e, struct save *save, const struct operation *by);
/* The first waiting operation becomes the current one; it is due. */
void queue_promote(struct entity *e);

#endif

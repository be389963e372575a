/* The operations of a cluster that wait for their turn. Loop thread. */
#ifndef RECONCILE_OPERATIONS_QUEUE_H
#define RECONCILE_OPERATIONS_QUEUE_H

#include "reconcile/world/save.h"

/* Whether the first waiting operation may begin: the current operation ended, or must be interrupted. */
bool queue_is_due(const struct entity *e);
/* Ends the waiting operations that `by` replaces, and adds the changes to `save`. */
void queue_supersede(struct entity *e, struct save *save, const struct operation *by);
/* Ends all waiting operations as failed, and adds the changes to `save`. */
void queue_fail(struct entity *e, struct save *save, const char *why);
/* Makes the first waiting operation the current operation; it must be due (queue_is_due). When the cluster
 * was never created, a change fails, and the create, if it is known, stays the current operation. */
void queue_promote(struct entity *e);

#endif

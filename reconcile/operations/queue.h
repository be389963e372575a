/* Operations that wait their turn. Loop thread. */
#ifndef RECONCILE_OPERATIONS_QUEUE_H
#define RECONCILE_OPERATIONS_QUEUE_H

#include "reconcile/world/save.h"

/* Whether the first waiting operation may begin: the one before it ended, or is to be cut short. */
bool queue_is_due(const struct entity *e);
/* Ends those that `by` makes void, each with its own truth, in the same change set. */
void queue_supersede(struct entity *e, struct save *save, const struct operation *by);
/* The first waiting operation becomes the current one. */
void queue_promote(struct entity *e);

#endif

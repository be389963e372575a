/* Records whose shoots vanished, and shoots that were deleted. Loop thread. */
#ifndef RECONCILE_WORLD_DEPARTED_H
#define RECONCILE_WORLD_DEPARTED_H

#include "reconcile/world/project.h"

/* A record whose shoot vanished, taken; it comes back when the same uid does. */
void departed_add(struct project *p, struct cluster *c);
/* The record of this shoot, or NULL; the caller owns it. Its row is still in the store. */
struct cluster *departed_take(struct project *p, const struct shoot *shoot);
/* The oldest, a bounded number of them: false: there are more. */
bool departed_purge(struct reconcile *r);
void departed_free(struct reconcile *r);

/* A shoot that was deleted: for OBSERVE_LAG_S a list may still show it (CL-8). `shoot` may be NULL. */
void deleted_shoot_add(struct project *p, const struct shoot *shoot);
bool deleted_shoot_is_known(struct project *p, const struct shoot *shoot);
void deleted_shoots_clear(struct project *p);

#endif

/* Records whose shoots disappeared, and deleted shoots. Loop thread. */
#ifndef RECONCILE_WORLD_DEPARTED_H
#define RECONCILE_WORLD_DEPARTED_H

#include "reconcile/world/project.h"

/* Adds a record whose shoot disappeared, and takes it over. The record becomes a cluster again when its uid
 * appears again. */
void departed_add(struct project *p, struct cluster *c);
/* Returns the record of this shoot, or NULL; the caller owns it. The record's row is still in the store. */
struct cluster *departed_take(struct project *p, const struct shoot *shoot);
/* Removes a limited number of the oldest records; returns false when more old records remain. */
bool departed_purge(struct reconcile *r);
void departed_free(struct reconcile *r);

/* Adds a deleted shoot, which a list may still show for OBSERVE_LAG_S (CL-8). `shoot` may be NULL. */
void deleted_shoot_add(struct project *p, const struct shoot *shoot);
bool deleted_shoot_is_known(struct project *p, const struct shoot *shoot);
void deleted_shoots_clear(struct project *p);

#endif

/* The end of clusters. Loop thread. */
#ifndef RECONCILE_OPERATIONS_CLUSTER_END_H
#define RECONCILE_OPERATIONS_CLUSTER_END_H

#include "reconcile/world/save.h"

/* Called when the shoot no longer exists (a second read confirmed the 404): ends a delete, or reports the
 * loss. Frees the entity. */
void entity_gone(struct entity *e);
/* Ends shootd's record of the cluster, because the project is at another location now. The shoot is neither
 * read nor deleted. Frees the entity. */
void entity_forget(struct entity *e);
/* Ends the record and fails its operation, because nothing proves that the shoot with this name is shootd's
 * own; nothing was deleted. */
void entity_disown(struct entity *e);

#endif

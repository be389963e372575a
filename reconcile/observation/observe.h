/* The effects of an answer of Cleura, also of an answer without the cluster. Loop thread. */
#ifndef RECONCILE_OBSERVATION_OBSERVE_H
#define RECONCILE_OBSERVATION_OBSERVE_H

#include "reconcile/world/entity.h"

/* Takes over the shoot. False: the answer does not count, because it is older than the known state, or
 * nothing shows that it is about this cluster. No call of the cluster and no first or last save may be
 * running. */
bool observe(struct entity *e, struct shoot *shoot);
/* The digest of the list row of the known state; a row with this digest changes nothing. NULL: such a row
 * might change something. */
const uint8_t *observe_known_row(const struct entity *e);
/* A list contained the row with this digest, which observe_known_row returned. */
void observe_row(struct entity *e, const uint8_t *row);
/* These three functions return true when this call made the cluster stale. observe_mark_stale: a read could
 * not confirm the cluster, so it is stale at once. */
bool observe_mark_stale(struct entity *e);
/* A read failed: a state older than one interval is stale. */
bool observe_after_failure(struct entity *e);
/* Called periodically: a state older than two intervals is stale, whatever the reason. */
bool observe_by_age(struct entity *e);

/* A read of the cluster alone found nothing. The entity may be removed by this call. */
void absence_noted(struct entity *e);
/* Cleura could not be read: the time until the next read does not count as absence. */
void absence_unread(struct entity *e);

#endif

/* Applies answers of Cleura to clusters, also answers that do not contain the cluster. Loop thread. */
#ifndef RECONCILE_OBSERVATION_OBSERVE_H
#define RECONCILE_OBSERVATION_OBSERVE_H

#include "reconcile/world/entity.h"

/* Applies an answer with the shoot, which is taken over. Returns false when the answer was ignored, because
 * it is older than the known state, or nothing shows that it is about this cluster. This function must not be
 * called while a call about the cluster, or its first or last save, is running. */
bool observe(struct entity *e, struct shoot *shoot);
/* Returns the digest of the list row from which the known state comes: the same row again changes nothing.
 * NULL: a row with the same content might change something. */
const uint8_t *observe_known_row(const struct entity *e);
/* Called when a list contains a row whose digest observe_known_row has returned: the cluster was seen again,
 * without a change. */
void observe_row(struct entity *e, const uint8_t *row);
/* The next three functions return true when they made the cluster stale. observe_mark_stale: a read could not
 * confirm the cluster, so the cluster is stale at once. */
bool observe_mark_stale(struct entity *e);
/* Called when a read has failed: a state older than one interval becomes stale. */
bool observe_after_failure(struct entity *e);
/* Called periodically: a state older than two intervals becomes stale, whatever the reason. */
bool observe_by_age(struct entity *e);

/* Called when a read of the cluster alone has found nothing. This function may remove the entity. */
void absence_noted(struct entity *e);
/* Called when Cleura could not be read: the time until the next read does not count as absence. */
void absence_unread(struct entity *e);

#endif

/* The effects of an answer of Cleura, also of one that does not show the cluster. Loop thread. */
#ifndef RECONCILE_OBSERVATION_OBSERVE_H
#define RECONCILE_OBSERVATION_OBSERVE_H

#include "reconcile/world/entity.h"

/* Takes the shoot. No call of the cluster and no first or last save is under way. */
void observe(struct entity *e, struct shoot *shoot);
/* The digest of the list's row that the known state came from; the same row again brings nothing new. NULL:
 * it might. */
const uint8_t *observe_known_row(const struct entity *e);
/* A list had the row of this digest, which observe_known_row gave. */
void observe_row(struct entity *e, const uint8_t *row);
/* All three return true when the cluster became stale by this call. Nobody could confirm it just now: stale
 * at once. */
bool observe_mark_stale(struct entity *e);
/* A read failed: what is older than one interval is stale now. */
bool observe_after_failure(struct entity *e);
/* Looked at now and then: whatever the reason, what is older than two intervals is stale. */
bool observe_by_age(struct entity *e);

/* A read of the cluster alone found nothing. The entity may be on its way out then. */
void absence_noted(struct entity *e);
/* Cleura could not be read: the time until the next read says nothing about an absence. */
void absence_unread(struct entity *e);

#endif

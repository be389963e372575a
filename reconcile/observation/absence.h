/* Clusters that Cleura does not show. Loop thread. */
#ifndef RECONCILE_OBSERVATION_ABSENCE_H
#define RECONCILE_OBSERVATION_ABSENCE_H

#include "reconcile/world/entity.h"

/* A read of the cluster alone found nothing. The entity may be on its way out then. */
void absence_noted(struct entity *e);
/* Cleura could not be read: the time until the next read says nothing about an absence. */
void absence_unread(struct entity *e);

#endif

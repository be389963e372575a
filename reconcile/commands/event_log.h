/* The event log as others see it. Loop thread. */
#ifndef RECONCILE_COMMANDS_EVENT_LOG_H
#define RECONCILE_COMMANDS_EVENT_LOG_H

#include "reconcile/world/world.h"

/* A purge is over: the feed learns what is left. */
void event_log_purged(struct reconcile *r);

#endif

/*
 * The periodic work of every few seconds and of every hour: ages of clusters, versions that expire, purges.
 * This file also counts the values for reconcile_metrics and reconcile_remarks (reconcile.h).
 */
#ifndef RECONCILE_HOUSEKEEPING_H
#define RECONCILE_HOUSEKEEPING_H

#include "reconcile/world/world.h"

/* Starts the timers; the first run follows at once. Loop thread, or before it runs. */
void housekeeping_start(struct reconcile *r);
/* Sets the number of unreadable stored rows. Any thread. */
void housekeeping_quarantined(int64_t rows);

#endif

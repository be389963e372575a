/*
 * The work of every few seconds and of every hour: ages of clusters, versions that expire, purges. It counts
 * the figures of reconcile_metrics and reconcile_remarks (reconcile.h).
 */
#ifndef RECONCILE_HOUSEKEEPING_H
#define RECONCILE_HOUSEKEEPING_H

#include "reconcile/world/world.h"

/* Loop thread, or before it runs; the first time at once. */
void housekeeping_start(struct reconcile *r);
/* Sets how many stored rows could not be read. Any thread. */
void housekeeping_quarantined(int64_t rows);

#endif

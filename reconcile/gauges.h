/*
 * The metrics for each account and project. The loop thread publishes the whole set periodically. A scrape,
 * on any thread, uses the same set from its beginning to its end, so neither thread waits for the other
 * thread. There are series for the accounts and projects of the configuration, at most 1000 of each.
 */
#ifndef RECONCILE_GAUGES_H
#define RECONCILE_GAUGES_H

#include "base/metric.h"
#include "reconcile/world/world.h"

/* Publishes the current values. Loop thread. */
void gauges_publish(const struct reconcile *r);
/* Called when the reconciler is freed: removes the published set. Loop thread. */
void gauges_withdraw(void);
/* Writes the published values to `out`; ages are computed for the time `now`. Any thread. */
void gauges_write(struct buffer *out, mono_us now);

#endif

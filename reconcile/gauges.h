/*
 * The figures of /metrics about each account and project. The loop thread publishes all of them now and then;
 * a scrape, of any thread, keeps the set that it found until it is done, so that neither waits for the other.
 * Its series are those that the configuration names: 1000 of each at most.
 */
#ifndef RECONCILE_GAUGES_H
#define RECONCILE_GAUGES_H

#include "base/metric.h"
#include "reconcile/world/world.h"

/* Loop thread: what is so now. */
void gauges_publish(const struct reconcile *r);
/* Loop thread, at the end: there are none. */
void gauges_withdraw(void);
/* Ages are those of `now`. Any thread. */
void gauges_write(struct buffer *out, mono_us now);

#endif

/* How long operations and their steps took, for /metrics. Counted by the loop thread, read by any. */
#ifndef RECONCILE_OPERATIONS_DURATIONS_H
#define RECONCILE_OPERATIONS_DURATIONS_H

#include "base/metric.h"
#include "model/cluster.h"

/* Once for each operation, when it ended: of its steps those count that were begun. */
void durations_note(const struct operation *op);
void durations_metrics(struct buffer *out);

#endif

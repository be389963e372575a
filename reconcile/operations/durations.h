/* Durations of operations and their steps, for /metrics. The loop thread counts, any thread reads. */
#ifndef RECONCILE_OPERATIONS_DURATIONS_H
#define RECONCILE_OPERATIONS_DURATIONS_H

#include "base/metric.h"
#include "model/operation.h"

/* Called once for each operation, at its end: records its duration, and the duration of each step that has
 * begun and ended. */
void durations_note(const struct operation *op);
void durations_metrics(struct buffer *out);

#endif

/* Durations of operations and their steps, for /metrics. The loop thread counts, any thread reads. */
#ifndef RECONCILE_OPERATIONS_DURATIONS_H
#define RECONCILE_OPERATIONS_DURATIONS_H

#include "base/metric.h"
#include "model/operation.h"

/* Called once for each operation, at its end: counts its steps that had begun. */
void durations_note(const struct operation *op);
void durations_metrics(struct buffer *out);

#endif

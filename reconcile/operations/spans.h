/* What a trace has of an operation: it and its steps, each from when it began to when it ended. */
#ifndef RECONCILE_OPERATIONS_SPANS_H
#define RECONCILE_OPERATIONS_SPANS_H

#include "model/cluster.h"

/*
 * Records the spans of an operation that ended. What was said meanwhile, Gardener's task texts above all, is
 * with the step under way, and is forgotten then; of the time before a restart nothing of that is known. Loop
 * thread.
 */
void operation_spans(struct operation *op);

#endif

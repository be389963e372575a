/* The spans of an operation in a trace: one span for the operation and one span for each step, from its start
 * to its end. */
#ifndef RECONCILE_OPERATIONS_SPANS_H
#define RECONCILE_OPERATIONS_SPANS_H

#include "model/operation.h"

/*
 * Records the spans of an ended operation, if its trace is recorded. Each note of the operation, mostly a
 * task text of Gardener, is added to the span of the step that was in progress. Loop thread.
 */
void operation_spans(const struct operation *op);

#endif

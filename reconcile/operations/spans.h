/* The spans of an operation in a trace: of itself and of its steps, each from its begin to its end. */
#ifndef RECONCILE_OPERATIONS_SPANS_H
#define RECONCILE_OPERATIONS_SPANS_H

#include "model/cluster.h"

/*
 * Records the spans of an operation that ended, when its trace is recorded. Its notes, Gardener's task texts
 * above all, go with the step that was under way. Loop thread.
 */
void operation_spans(const struct operation *op);

#endif

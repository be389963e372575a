/* The spans of an operation in a trace: of itself and of its steps, each from its begin to its end. */
#ifndef RECONCILE_OPERATIONS_SPANS_H
#define RECONCILE_OPERATIONS_SPANS_H

#include "model/cluster.h"

/*
 * Records the spans of an operation that ended. Its notes, Gardener's task texts above all, go with the step
 * that was under way, and are discarded then; those from before a restart are not known. Loop thread.
 */
void operation_spans(struct operation *op);

#endif

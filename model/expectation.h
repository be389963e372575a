/*
 * How long operations and their steps usually take: concluded from operations that succeeded. One thread at a
 * time.
 */
#ifndef MODEL_EXPECTATION_H
#define MODEL_EXPECTATION_H

#include "model/cluster.h"

enum {
    EXPECTATION_DAYS = 30,        /* those that were accepted since then count */
    EXPECTATION_LOOKED_AT = 5000, /* and of these the newest of a project */
    EXPECTATION_OF_A_TYPE = 1000, /* and of these the newest of a type; steps of a type likewise */
};

struct expectation;

struct expectation *expectation_new(void);
/* NULL is allowed. */
void expectation_free(struct expectation *x);
/* Adds an operation that succeeded; the newest come first. */
void expectation_add(struct expectation *x, const struct operation *op);
/* How many were added. */
size_t expectation_count(const struct expectation *x);
/*
 * {"window_days", "items": [{"type", "count", "p50_seconds", "p90_seconds", "steps": [...]}]}: one item for
 * each type that there was, one step for each type of step that was done. Operations count from their
 * acceptance to their end, steps from their first call to their end. The caller owns it.
 */
json_t *expectation_to_json(struct expectation *x);

#endif

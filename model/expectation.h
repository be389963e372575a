/*
 * How long operations and their steps usually take, computed from operations that succeeded. One thread at a
 * time.
 */
#ifndef MODEL_EXPECTATION_H
#define MODEL_EXPECTATION_H

#include "model/operation.h"

enum {
    EXPECTATION_DAYS = 30,        /* only operations that were accepted in this time are used */
    EXPECTATION_LOOKED_AT = 5000, /* at most this many of the newest operations of a project are used */
    EXPECTATION_OF_A_TYPE = 1000, /* at most this many of the newest operations of each type, and of the
                                   * newest steps of each type, are used */
};

struct expectation;

struct expectation *expectation_new(void);
/* NULL is allowed. */
void expectation_free(struct expectation *x);
/* Adds an operation that succeeded. The caller adds the newest operation first. */
void expectation_add(struct expectation *x, const struct operation *op);
/* Returns the number of operations that were added. */
size_t expectation_count(const struct expectation *x);
/*
 * {"window_days", "items": [{"type", "count", "p50_ms", "p90_ms", "steps": [...]}]}: one item per
 * type of operation, one step per type of step. The duration of an operation is from its acceptance to its
 * end, the duration of a step is from its first call to its end. The caller owns the result.
 */
json_t *expectation_to_json(struct expectation *x);

#endif

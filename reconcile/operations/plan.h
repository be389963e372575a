/* Plans the steps of an operation. Loop thread. */
#ifndef RECONCILE_OPERATIONS_PLAN_H
#define RECONCILE_OPERATIONS_PLAN_H

#include "reconcile/world/entity.h"

/* Plan the steps of a new operation. */
void plan_create(struct entity *e, struct operation *op);
void plan_delete(struct entity *e, struct operation *op);
/* Called at the delete's turn: the result of the create before it decides whether anything must be
 * deleted. */
void plan_delete_after_create(struct entity *e, struct operation *op);
/*
 * Plans the steps from the present state to op->body's `spec`; called again at the operation's turn. A value
 * that cannot be read in Cleura's answer is taken from `before`, the earlier request (spec_presumed), if the
 * body has it.
 */
void plan_update(struct entity *e, struct operation *op);
/* The change that was open at the acceptance of `op` failed: the `before` of that change becomes the `before`
 * of `op`. */
void plan_after_vain_change(struct operation *op, const struct operation *failed);
/* The state from which the plan starts; the caller owns it. */
json_t *plan_present(const struct entity *e, const struct operation *op);
void plan_action(struct operation *op);
/* Whether a shoot with the entity's name at Cleura cannot be the result of shootd's create. */
bool plan_is_foreign(const struct entity *e);
/* Whether this shoot can be the result of a create with a lost answer: just made, as requested. */
enum likeness {
    LIKENESS_NONE,     /* impossible */
    LIKENESS_UNPROVEN, /* too little of the shoot can be read */
    LIKENESS_PROVEN,
};
enum likeness plan_likeness(const struct entity *e, const struct shoot *shoot);
/* Whether the likeness is proven, as every deletion requires. */
bool plan_may_be_ours(const struct entity *e, const struct shoot *shoot);

#endif

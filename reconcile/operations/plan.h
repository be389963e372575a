/* Plans the steps of an operation. Loop thread. */
#ifndef RECONCILE_OPERATIONS_PLAN_H
#define RECONCILE_OPERATIONS_PLAN_H

#include "reconcile/world/entity.h"

/* Plan the steps of a new operation. */
void plan_create(struct entity *e, struct operation *op);
void plan_delete(struct entity *e, struct operation *op);
/* Called when a waiting delete begins. Skips the deletion of the shoot when the create before it has
 * certainly made no shoot. */
void plan_delete_after_create(struct entity *e, struct operation *op);
/*
 * Plans the steps from the present state to the member `spec` of op->body. Called again when the operation's
 * turn comes. When a value cannot be read in Cleura's answer, it is taken from the member `before` of the
 * body, the spec that was requested earlier (spec_presumed).
 */
void plan_update(struct entity *e, struct operation *op);
/* `failed` is an earlier change. It was open when `op` was accepted, and has failed. Its `before` becomes the
 * `before` of `op`. */
void plan_after_vain_change(struct operation *op, const struct operation *failed);
/* Returns the state from which a change starts, in the form of a spec: what Cleura shows, or, before the
 * first read, what the open create requests. NULL: there is no shoot and no open create. Borrowed. */
const json_t *plan_base(const struct entity *e);
/* Returns the state from which the plan starts; the caller owns it. */
json_t *plan_present(const struct entity *e, const struct operation *op);
void plan_action(struct operation *op);

#endif

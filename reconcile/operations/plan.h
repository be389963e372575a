/* Plans the steps of an operation. Loop thread. */
#ifndef RECONCILE_OPERATIONS_PLAN_H
#define RECONCILE_OPERATIONS_PLAN_H

#include "reconcile/world/entity.h"

/* The steps of a new operation. */
void plan_create(struct entity *e, struct operation *op);
void plan_delete(struct entity *e, struct operation *op);
/* Its turn comes: what became of the create before it decides whether anything is to be deleted. */
void plan_delete_after_create(struct entity *e, struct operation *op);
/*
 * Plans the steps from what there is to op->body's `spec`; once more when the operation's turn comes. Where
 * Cleura's answer cannot be read, there is what was asked for `before` (spec_presumed), if the body has that.
 */
void plan_update(struct entity *e, struct operation *op);
/* The change that was open when `op` was accepted failed: before `op` was asked for what was before that one.
 */
void plan_after_vain_change(struct operation *op, const struct operation *failed);
/* The state that it is planned from; the caller owns it. */
json_t *plan_present(const struct entity *e, const struct operation *op);
void plan_action(struct operation *op);
/* A shoot of the entity's name that Cleura shows cannot be the one that our create was to make. */
bool plan_is_foreign(const struct entity *e);
/* Whether this shoot can be the one that our create made although its answer was lost: just made, as asked.
 */
enum likeness {
    LIKENESS_NONE,     /* it cannot */
    LIKENESS_UNPROVEN, /* too little of it can be read */
    LIKENESS_PROVEN,
};
enum likeness plan_likeness(const struct entity *e, const struct shoot *shoot);
/* Proven: nothing is destroyed for less. */
bool plan_may_be_ours(const struct entity *e, const struct shoot *shoot);

#endif

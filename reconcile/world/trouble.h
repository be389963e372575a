/*
 * What is wrong with a cluster now, and how long operations usually take, which shows the ones that hang.
 * Loop thread.
 */
#ifndef RECONCILE_WORLD_TROUBLE_H
#define RECONCILE_WORLD_TROUBLE_H

#include "model/issues.h"
#include "reconcile/world/world.h"

/* Notes how long an operation took that has ended, if it has succeeded. */
void usual_note(struct usual *usual, const struct operation *op);
/* Returns how long operations of this type usually take, in microseconds; 0: too few have succeeded. */
int64_t usual_us(const struct usual *usual, enum operation_type type);

/* What decides about the issues of the entity's cluster, in addition to its record. `op`: the operation that
 * is shown with it, or NULL. Borrowed from the entity. */
struct issue_world entity_issue_world(const struct entity *e, const struct operation *op);
/* `c` is the entity's cluster, or its committed copy. */
struct trouble entity_trouble(const struct entity *e, const struct cluster *c, const struct operation *op);

#endif

/*
 * Operations in memory: the open operations, and the newest ended operations. Other operations are read from
 * the store on request. Each entity keeps its cluster's last operation itself. Loop thread.
 */
#ifndef RECONCILE_WORLD_OPERATION_TABLE_H
#define RECONCILE_WORLD_OPERATION_TABLE_H

#include "reconcile/world/world.h"

struct operation_entry {
    UT_hash_handle hh;
    char id[40];
    struct operation *op; /* the last committed state, without the parts that no reader needs */
    struct list waiters;  /* commands that wait for the end (struct waiting) */
};

/* Returns NULL when the operation is not in memory. */
struct operation_entry *operation_entry(struct reconcile *r, const char *id);
/* Stores the committed state `op`, which is taken over. Returns the previous state, which the caller owns;
 * NULL: there was no state. */
struct operation *operation_remember(struct reconcile *r, struct operation *op);
/* Whether an ended operation with this id may have been removed from memory, so that only the store has
 * it. */
bool operation_has_left(const struct reconcile *r, const char *id);
/* Called at the start, after clusters have taken their operations. Removes the ended operations that only the
 * store keeps (operation_has_left), and shows the others. */
void operations_settle(struct reconcile *r);
/*
 * Removes the oldest ended operations from memory when memory has many more of them than its limit. Called
 * after the view was published, because it goes through the operations in the view.
 */
void operations_leave_to_store(struct reconcile *r);
/* Removes a limited number of the operations that ended before the time `before`; returns false when more
 * such operations remain. */
bool operations_forget(struct reconcile *r, wall_us before);
void operations_free(struct reconcile *r);

#endif

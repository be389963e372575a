/*
 * Operations in memory: those that are open, and the newest of those that ended. The others are in the store,
 * which is asked when somebody wants them; what each cluster shows of its last one is the entity's own.
 * Loop thread.
 */
#ifndef RECONCILE_WORLD_OPERATION_TABLE_H
#define RECONCILE_WORLD_OPERATION_TABLE_H

#include "reconcile/world/world.h"

struct operation_entry {
    UT_hash_handle hh;
    char id[40];
    struct operation *op; /* last committed state, trimmed */
    struct list waiters;  /* struct waiting */
};

/* NULL: not in memory. */
struct operation_entry *operation_entry(struct reconcile *r, const char *id);
/* Takes `op`, as it is stored now. The caller owns the result, the one remembered before; NULL: there was
 * none. */
struct operation *operation_remember(struct reconcile *r, struct operation *op);
/* Whether an ended operation of this id may be in the store only. */
bool operation_has_left(const struct reconcile *r, const char *id);
/* At start, once clusters have taken what is theirs: only what is to be remembered stays. */
void operations_settle(struct reconcile *r);
/*
 * When many have ended since the last time, the oldest are evicted. After the view was published: the
 * operations that it shows are looked through.
 */
void operations_leave_to_store(struct reconcile *r);
/* Those that ended before that time, a bounded number; false: there are more. */
bool operations_forget(struct reconcile *r, wall_us before);
void operations_free(struct reconcile *r);

#endif

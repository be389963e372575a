/* Actions on clusters: each has one row, with all its properties. Loop thread. */
#ifndef RECONCILE_OPERATIONS_ACTION_KINDS_H
#define RECONCILE_OPERATIONS_ACTION_KINDS_H

#include "model/cluster.h"
#include "model/names.h"
#include "model/problem.h"

struct action_kind {
    /* The only step of the action (step_kinds.c has the call), and the target of the step. */
    enum step_type step;
    const char *target; /* NULL: the operation is no action */
    /* Whether the result of the action exists already; the answer is then 200 with the cluster. NULL: never.
     */
    bool (*is_done)(const struct cluster *c);
    /* Returns why the action is not possible now, or NULL. */
    struct problem *(*refuse)(const struct cluster *c);
    const char *stage;   /* the rotation's stage is read from Cleura first, and must be one of `from`; NULL:
                          * the action is no rotation */
    const char *from[3]; /* the list ends with NULL */
    bool is_power;       /* the action replaces a waiting action with this member (hibernate and wake) */
    bool rolls_nodes;    /* the action always replaces nodes */
    const char *reason;  /* why nodes are replaced, or may be; NULL: they never are */
};

/* Returns the row of an action, NULL for other operations. */
const struct action_kind *action_kind(enum operation_type type);

#endif

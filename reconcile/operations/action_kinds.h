/* Actions on clusters: each has one row, with all its properties. Loop thread. */
#ifndef RECONCILE_OPERATIONS_ACTION_KINDS_H
#define RECONCILE_OPERATIONS_ACTION_KINDS_H

#include "model/cluster.h"
#include "model/names.h"
#include "model/problem.h"

/* A step of an action; step_kinds.c defines the call of each type of step. */
struct action_step {
    enum step_type type;
    const char *target; /* NULL: no step */
    bool rolls_nodes;   /* nodes are always replaced */
    const char *reason; /* why nodes are replaced, or may be replaced; NULL: nodes are never replaced */
};

enum { ACTION_STEPS_MAX = 4 };

struct action_kind {
    /* In the order of sending; the first step without a target ends the list. */
    struct action_step steps[ACTION_STEPS_MAX + 1];
    /* Whether the result of the action exists already; the answer is then 200 with the cluster. NULL: the
     * action always needs an operation. */
    bool (*is_done)(const struct cluster *c);
    /* Returns why the action is not possible now, or NULL. */
    struct problem *(*refuse)(const struct cluster *c);
    const char *stage;   /* for a rotation: the stage at which its result exists already; NULL: no stage is
                          * read */
    const char *from[3]; /* the stages at which the action may begin; ends with NULL */
    bool is_power;       /* hibernate and wake: such an action replaces waiting actions with this flag */
};

/* Returns the row of an action, NULL for other operations. */
const struct action_kind *action_kind(enum operation_type type);

#endif

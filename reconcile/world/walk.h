/* Visits every cluster, a few in each turn of the loop. Loop thread. */
#ifndef RECONCILE_WORLD_WALK_H
#define RECONCILE_WORLD_WALK_H

#include "base/list.h"
#include "loop/loop.h"

struct entity;
struct project;
struct reconcile;

/*
 * A walk calls a function for every cluster, or for every cluster of one project. It is done in slices with a
 * total cost of WALK_TURN, each at the end of a turn. Each visit returns its cost, and may remove the visited
 * entity. When a cluster is added to a project during the visits of this project, the new cluster is visited,
 * too.
 */
struct walk {
    const char *name; /* a static text: the name of `timer` for the watchdog */
    unsigned (*visit)(struct walk *w, struct entity *e); /* returns a WALK_... value */
    /* Called at the end of the turn in which the last cluster was visited. May free the walk. NULL: nothing
     * is called. */
    void (*on_end)(struct walk *w);
    /* Called in place of on_end, when shootd stops or the project is removed. May free the walk. */
    void (*on_stop)(struct walk *w);
    /* Used only by walk.c. */
    struct list link; /* in reconcile.walks (world.h) */
    struct list due;  /* in turn.due_walks (world.h), when the next slice, or on_stop, is due */
    struct reconcile *r;
    struct project *only; /* visits only the clusters of this project; NULL: all clusters */
    struct entity *next;
    struct loop_timer timer;
    unsigned spent; /* the cost of this slice so far */
    bool under_way;
    bool was_stopped; /* on_stop is due */
};

/* The costs of a visit, and the cost at which a slice ends (WALK_TURN). A slice takes a few milliseconds: it
 * visits sixteen clusters that are rendered again, or a thousand clusters that need no work. */
enum { WALK_PASSED_BY = 1, WALK_LOOKED_AT = 8, WALK_CHANGED = 64, WALK_TURN = 1024 };

/* Each function begins a walk, or begins it again. The first slice runs at the end of this turn. */
void walk_project(struct project *p, struct walk *w);
void walk_all(struct reconcile *r, struct walk *w);
bool walk_is_under_way(const struct walk *w);
/* Begins a slice of a walk that is due. A stopped walk visits no more clusters. */
void walk_begin_slice(struct walk *w);
/* Returns the next cluster to visit; NULL when the slice or the walk has ended. */
struct entity *walk_next(struct walk *w);
enum walk_state { WALK_GOES_ON, WALK_ENDED, WALK_STOPPED };
/* Ends a slice. WALK_ENDED: the caller must now call on_end. WALK_STOPPED: the caller must now call on_stop.
 */
enum walk_state walk_end_slice(struct walk *w);
/* Stops a running walk before its last cluster. A walk without on_stop may be freed after this call. */
void walk_stop(struct walk *w);
/* Ends all walks, at a stop. */
void walks_stop(struct reconcile *r);
/* Called when the entity is about to be removed: walks that would visit it next go on with the cluster after
 * it. */
void walks_pass(struct entity *e);
/* Called when the project is about to leave r->projects. Walks over the project are stopped; walks over all
 * clusters continue with the next project. */
void walks_leave(struct project *p);

#endif

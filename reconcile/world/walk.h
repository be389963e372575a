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
 * entity. Clusters that are added to the current project meanwhile are visited, too.
 */
struct walk {
    const char *name;                                    /* static, for the watchdog */
    unsigned (*visit)(struct walk *w, struct entity *e); /* returns a WALK_... value */
    /* Called at the end of the turn in which the last cluster was visited. May free the walk. NULL: nothing
     * is called. */
    void (*on_end)(struct walk *w);
    /* Called in place of on_end, when shootd stops or the project is removed. May free the walk. */
    void (*on_stop)(struct walk *w);
    /* Used only by walk.c. */
    struct list link; /* in the reconciler's list of running walks */
    struct list due;  /* in the reconciler's list of walks whose next slice, or on_stop, is due */
    struct reconcile *r;
    struct project *only; /* visits only the clusters of this project; NULL: all clusters */
    struct entity *next;
    struct loop_timer timer;
    unsigned spent; /* the cost of this slice so far */
    bool under_way;
    bool was_stopped; /* on_stop is due */
};

/* The costs of a visit. A slice takes a few milliseconds, for sixteen clusters that are rendered again, or
 * for a thousand clusters that need no work. */
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
/* Ends a slice. WALK_ENDED: on_end is to be called now, WALK_STOPPED: on_stop. */
enum walk_state walk_end_slice(struct walk *w);
/* Ends a running walk before its end. A walk without on_stop may be freed after this call. */
void walk_stop(struct walk *w);
/* Ends all walks, at a stop. */
void walks_stop(struct reconcile *r);
/* Called when the entity is about to be removed. */
void walks_pass(struct entity *e);
/* Called when the project is about to leave r->projects. Walks over the project are stopped; walks over all
 * clusters continue with the next project. */
void walks_leave(struct project *p);

#endif

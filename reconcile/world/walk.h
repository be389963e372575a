/* Visits every cluster, a few in each turn of the loop. Loop thread. */
#ifndef RECONCILE_WORLD_WALK_H
#define RECONCILE_WORLD_WALK_H

#include "base/list.h"
#include "loop/loop.h"

struct entity;
struct project;
struct reconcile;

/*
 * A walk over every cluster, or over the clusters of one project, in slices of WALK_TURN. Each visit returns
 * its cost. The visited entity may be removed. Clusters that are added meanwhile to the current project are
 * visited, too.
 */
struct walk {
    const char *name;                                    /* static, for the watchdog */
    unsigned (*visit)(struct walk *w, struct entity *e); /* returns a WALK_... value */
    void (*done)(struct walk *w);                        /* called after all were visited; NULL: no action */
    void (*stopped)(struct walk *w); /* when shootd stops or the project leaves; NULL: no action */
    /* Used only by walk.c. */
    struct list link;
    struct reconcile *r;
    struct project *only; /* visits only its clusters; NULL: all */
    struct entity *next;
    struct loop_timer timer;
    bool under_way;
};

/* Costs. A turn takes a few milliseconds: sixteen clusters that are rendered again, or a thousand that are
 * skipped. */
enum { WALK_PASSED_BY = 1, WALK_LOOKED_AT = 8, WALK_CHANGED = 64, WALK_TURN = 1024 };

/* Each begins a walk, or begins it again; the first slice runs at once. */
void walk_project(struct project *p, struct walk *w);
void walk_all(struct reconcile *r, struct walk *w);
bool walk_is_under_way(const struct walk *w);
/* Ends a running walk where it is. */
void walk_stop(struct walk *w);
/* Ends all walks, at a stop. */
void walks_stop(struct reconcile *r);
/* Called when the entity is about to be removed. */
void walks_pass(struct entity *e);
/* Called when the project is about to leave r->projects. Walks over the project are stopped; walks over all
 * clusters continue with the next project. */
void walks_leave(struct project *p);

#endif

/* A look at every cluster, a few of them in each turn of the loop. Loop thread. */
#ifndef RECONCILE_WORLD_WALK_H
#define RECONCILE_WORLD_WALK_H

#include "base/list.h"
#include "loop/loop.h"

struct entity;
struct project;
struct reconcile;

/*
 * A look at every cluster, or at those of a project, in slices of WALK_TURN. A visit says what it
 * took. The one that is visited may end; those that come meanwhile to the project under way are visited, too.
 */
struct walk {
    const char *name;                                    /* static, for the watchdog */
    unsigned (*visit)(struct walk *w, struct entity *e); /* a WALK_... */
    void (*done)(struct walk *w);                        /* all were visited; NULL: nothing follows */
    void (*stopped)(
        struct walk *w); /* in place of it: shootd stops, or the project leaves; NULL: nobody waits */
    /* walk.c's own */
    struct list link;
    struct reconcile *r;
    struct project *only; /* whose clusters; NULL: all */
    struct entity *next;
    struct loop_timer timer;
    bool under_way;
};

/* A turn is a few milliseconds: sixteen clusters that are rendered anew, or a thousand that are passed by. */
enum { WALK_PASSED_BY = 1, WALK_LOOKED_AT = 8, WALK_CHANGED = 64, WALK_TURN = 1024 };

/* Each begins, or begins anew; the first slice is done at once. */
void walk_project(struct project *p, struct walk *w);
void walk_all(struct reconcile *r, struct walk *w);
bool walk_is_under_way(const struct walk *w);
/* It ends where it is, when it is under way. */
void walk_stop(struct walk *w);
/* All of them, at a stop. */
void walks_stop(struct reconcile *r);
/* The entity ends. */
void walks_pass(struct entity *e);
/* The project is about to leave r->projects: walks over it are stopped, those over all pass on to the next
 * one. */
void walks_leave(struct project *p);

#endif

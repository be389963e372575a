/*
 * The time for which an old secret counts beside its new one: of an API token, or of a webhook. Its end is a
 * time of the wall clock, but it is waited for by the monotonic clock, so that it comes, and comes to the
 * store, whatever is done to the wall clock meanwhile; a secret that has ended has ended for later starts,
 * too. Loop thread.
 */
#ifndef RECONCILE_WORLD_OVERLAP_H
#define RECONCILE_WORLD_OVERLAP_H

#include "base/env.h"
#include "loop/loop.h"

/* Embedded in its user; `timer.fire` and `timer.name` are set once. */
struct overlap {
    struct loop_timer timer;
    wall_us ends_at; /* of the first secret that ends; 0: there is none */
};

/* It ends at `ends_at` (0: there is none any more), seen from `now`. The same end again changes nothing. */
void overlap_set(struct loop *loop, struct overlap *o, wall_us ends_at, wall_us now);
/* Its timer has fired: returns that end, the `now` for setting the next one. */
wall_us overlap_take(struct overlap *o);

#endif

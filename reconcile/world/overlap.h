/*
 * The time during which an old secret is valid beside the new one, of an API token or of a webhook. Its end
 * is a wall-clock time, but the monotonic clock measures the wait. A change of the wall clock therefore
 * cannot prevent the end, nor storing it. A secret that has ended stays invalid after later starts. Loop
 * thread.
 */
#ifndef RECONCILE_WORLD_OVERLAP_H
#define RECONCILE_WORLD_OVERLAP_H

#include "base/env.h"
#include "loop/loop.h"

/* Embedded in its user; `timer.fire` and `timer.name` are set once. */
struct overlap {
    struct loop_timer timer;
    wall_us ends_at; /* when the first secret ends; 0: none */
};

/* Sets the end (0: none), as seen at `now`. The same end again changes nothing. */
void overlap_set(struct loop *loop, struct overlap *o, wall_us ends_at, wall_us now);
/* Called when the timer has fired: returns that end, to be used as `now` in the next overlap_set. */
wall_us overlap_take(struct overlap *o);

#endif

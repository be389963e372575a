/*
 * The time during which the old secret of an API token or of a webhook is valid beside the new secret. Its
 * end is a wall-clock time, but the monotonic clock measures the wait. The end therefore comes and is stored,
 * also after a change of the wall clock. A secret that has ended stays invalid after later starts. Loop
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
/* Called when the timer has fired: returns the end of the overlap, to be used as `now` in the next
 * overlap_set. */
wall_us overlap_take(struct overlap *o);

#endif

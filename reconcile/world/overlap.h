/*
 * The time in which the old and the new secret of an API token or of a webhook are both valid. Its end is a
 * time of the wall clock, but the monotonic clock measures the wait. Therefore the end comes, and is stored,
 * also when the wall clock was changed. A secret that has ended stays invalid after later starts. Loop
 * thread.
 */
#ifndef RECONCILE_WORLD_OVERLAP_H
#define RECONCILE_WORLD_OVERLAP_H

#include "base/env.h"
#include "loop/loop.h"

/* A member of the struct that uses it. The user sets `timer.fire` and `timer.name` once. */
struct overlap {
    struct loop_timer timer;
    wall_us ends_at; /* when the first secret ends; 0: no secret ends */
};

/* Sets the end (0: there is no end). `now` is the present time. When the end is the same as before, nothing
 * changes. */
void overlap_set(struct loop *loop, struct overlap *o, wall_us ends_at, wall_us now);
/* Called when the timer has fired: returns the end of the overlap, to be used as `now` in the next
 * overlap_set. */
wall_us overlap_take(struct overlap *o);

#endif

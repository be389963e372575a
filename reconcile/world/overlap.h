/*
 * The time in which the old and the new secret of an API token or of a webhook are both valid. The end of the
 * overlap is a time of the wall clock, but the monotonic clock measures the wait. Therefore the end comes,
 * and is stored, also when the wall clock was changed. An expired secret stays invalid after later starts.
 * Loop thread.
 */
#ifndef RECONCILE_WORLD_OVERLAP_H
#define RECONCILE_WORLD_OVERLAP_H

#include "base/env.h"
#include "loop/loop.h"

/* This struct is a member of the struct that uses the overlap. The user sets `timer.fire` and `timer.name`
 * once. */
struct overlap {
    struct loop_timer timer;
    wall_us ends_at; /* when the first secret expires; 0: no secret expires */
};

/* Sets the end (0: there is no end). `now` is the present time. When the end is the same as before, nothing
 * changes. */
void overlap_set(struct loop *loop, struct overlap *o, wall_us ends_at, wall_us now);
/* Called when the timer has fired: returns the end of the overlap, to be used as `now` in the next
 * overlap_set. */
wall_us overlap_take(struct overlap *o);

#endif

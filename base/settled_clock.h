/*
 * The time by which expired data is removed for good. It follows the wall clock, but a jump ahead counts only
 * once the clock has stayed ahead for a day of the monotonic clock: one that is wrong for a moment, as that
 * of a machine may be before it has asked a time server, removes nothing. One owning thread.
 */
#ifndef BASE_SETTLED_CLOCK_H
#define BASE_SETTLED_CLOCK_H

#include <stdbool.h>

#include "base/env.h"

struct settled_clock {
    const struct env *env;
    int64_t offset_us; /* of the wall clock against the monotonic one, as far as it counts */
    bool is_ahead;     /* the wall clock has jumped ahead of that */
    int64_t ahead_us;  /* its offset since then */
    mono_us ahead_since;
};

/* `last` is an earlier value, from before the start; 0: none is known, and the clock is believed. After more
 * than a day since then it is not: that may have been a jump. */
void settled_clock_begin(struct settled_clock *c, const struct env *env, wall_us last);
/* Logs when the wall clock jumps ahead, and when that counts from now on. */
wall_us settled_clock_now(struct settled_clock *c);

#endif

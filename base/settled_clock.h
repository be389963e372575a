/*
 * The time that decides which expired data is removed. It follows the wall clock. A jump ahead is accepted
 * only when the wall clock has stayed ahead for a day of the monotonic clock. A clock that is wrong for a
 * moment, for example before the machine has asked a time server, therefore removes nothing. Only the thread
 * of its owner uses it.
 */
#ifndef BASE_SETTLED_CLOCK_H
#define BASE_SETTLED_CLOCK_H

#include <stdbool.h>

#include "base/env.h"

struct settled_clock {
    const struct env *env;
    int64_t offset_us; /* the accepted difference between the wall clock and the monotonic clock */
    bool is_ahead;     /* whether the wall clock has jumped ahead of the accepted difference */
    int64_t ahead_us;  /* the difference between the two clocks after the jump */
    mono_us ahead_since;
};

/* `last` is a time that was stored before the start. 0: no such time is known, and the wall clock is
 * accepted. When more than a day has passed since `last`, the wall clock is not accepted yet, because it may
 * have jumped. */
void settled_clock_begin(struct settled_clock *c, const struct env *env, wall_us last);
/* Returns the current time. Logs when the wall clock jumps ahead, and when the jump is accepted. */
wall_us settled_clock_now(struct settled_clock *c);

#endif

/*
 * The time by which expired data is removed. It follows the wall clock. A jump ahead counts only after the
 * clock has stayed ahead for a day of the monotonic clock. A clock that is wrong for a moment, for example
 * before the machine has asked a time server, therefore removes nothing. One owning thread.
 */
#ifndef BASE_SETTLED_CLOCK_H
#define BASE_SETTLED_CLOCK_H

#include <stdbool.h>

#include "base/env.h"

struct settled_clock {
    const struct env *env;
    int64_t offset_us; /* accepted offset of the wall clock against the monotonic clock */
    bool is_ahead;     /* the wall clock has jumped ahead of the accepted offset */
    int64_t ahead_us;  /* offset of the wall clock since the jump */
    mono_us ahead_since;
};

/* `last` is an earlier value, from before the start. 0: none is known, and the wall clock is accepted. When
 * more than a day has passed since `last`, the wall clock is not accepted yet, because it may have jumped. */
void settled_clock_begin(struct settled_clock *c, const struct env *env, wall_us last);
/* The time now. Logs when the wall clock jumps ahead, and when the jump is accepted. */
wall_us settled_clock_now(struct settled_clock *c);

#endif

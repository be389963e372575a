#include "reconcile/world/overlap.h"

#include <assert.h>

void overlap_set(struct loop *loop, struct overlap *o, wall_us ends_at, wall_us now)
{
    loop_assert_owner(loop);
    assert(o->timer.fire);
    if (o->ends_at == ends_at)
        return;
    const int64_t left = ends_at > now ? ends_at - now : 0;
    o->ends_at = ends_at;
    if (ends_at)
        loop_timer_set(loop, &o->timer, env_mono(loop_env(loop)) + left);
    else
        loop_timer_clear(loop, &o->timer);
}

wall_us overlap_take(struct overlap *o)
{
    const wall_us over = o->ends_at;
    assert(over && !loop_timer_is_set(&o->timer));
    o->ends_at = 0;
    return over;
}

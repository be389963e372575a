#include "base/settled_clock.h"

#include <assert.h>

#include "base/log.h"

static const int64_t JUMP_US = 60 * US_PER_S, DAY_US = 86400 * US_PER_S;

void settled_clock_begin(struct settled_clock *c, const struct env *env, wall_us last)
{
    const wall_us wall = env_wall(env);
    const mono_us mono = env_mono(env);
    *c = (struct settled_clock){.env = env, .offset_us = wall - mono};
    if (last && wall - last > DAY_US)
        c->offset_us = last - mono;
}

wall_us settled_clock_now(struct settled_clock *c)
{
    assert(c->env);
    const mono_us mono = env_mono(c->env);
    const int64_t offset_us = env_wall(c->env) - mono;
    if (offset_us - c->offset_us <= JUMP_US) {
        c->offset_us = offset_us;
        c->is_ahead = false;
    } else if (!c->is_ahead || offset_us - c->ahead_us > JUMP_US) {
        log_warning("the wall clock jumped ahead: for a day, no data expires because of the jump");
        c->is_ahead = true;
        c->ahead_us = offset_us;
        c->ahead_since = mono;
    } else if (mono - c->ahead_since >= DAY_US) {
        log_info(
            "the wall clock jumped ahead a day ago and is still ahead: shootd uses its time from now on");
        c->offset_us = offset_us;
        c->is_ahead = false;
    }
    return mono + c->offset_us;
}

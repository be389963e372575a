/* The retry schedule: numbers and nothing else. Pure but for env's randomness; any thread. */
#include "webhook/schedule.h"

#include <assert.h>

enum { MINUTE = 60, HOUR = 3600, PAUSE_FIRST_S = 5, PAUSE_MAX_S = 5 * MINUTE };

/* Seconds to wait before attempt 1, 2, ... 10: about 75.6 hours in all. */
static const int64_t delays_s[SCHEDULE_ATTEMPTS] = {
    0, 5, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, SCHEDULE_MAX_DELAY_S,
};

bool schedule_goes_on(int made)
{
    return made < SCHEDULE_ATTEMPTS;
}

int64_t schedule_delay_us(const struct env *env, int made, int64_t retry_after_s)
{
    assert(made >= 0 && made < SCHEDULE_ATTEMPTS);
    int64_t delay = env_jitter(env, delays_s[made] * US_PER_S, SCHEDULE_JITTER_PERCENT);
    int64_t asked = retry_after_s * US_PER_S;
    return asked > delay ? asked : delay;
}

int64_t schedule_until_us(wall_us at, wall_us now)
{
    const int64_t longest = SCHEDULE_MAX_DELAY_S * US_PER_S / 100 * (100 + SCHEDULE_JITTER_PERCENT);
    if (at <= now)
        return 0;
    return at - now > longest ? longest : at - now;
}

int64_t schedule_pause_us(int throttled_in_a_row)
{
    int64_t pause_s = PAUSE_FIRST_S;
    for (int i = 1; i < throttled_in_a_row && pause_s < PAUSE_MAX_S; i++)
        pause_s *= 2;
    return (pause_s < PAUSE_MAX_S ? pause_s : PAUSE_MAX_S) * US_PER_S;
}

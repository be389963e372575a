/*
 * Clocks, randomness and waiting as one replaceable struct. Production uses env_real(). Tests pass their own
 * struct and run hours of polling in milliseconds. Sockets are replaced one level higher, by `struct
 * transport` in loop/transport.h.
 *
 * Monotonic and wall time are different types on purpose: a deadline is never compared with a date.
 */
#ifndef BASE_ENV_H
#define BASE_ENV_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

struct epoll_event;

typedef int64_t mono_us; /* CLOCK_MONOTONIC, microseconds: deadlines, intervals */
typedef int64_t wall_us; /* UTC since 1970, microseconds: shown to people and sent to webhooks */

#define US_PER_MS ((int64_t)1000)
#define US_PER_S  ((int64_t)1000000)

struct env {
    mono_us (*now_mono)(const struct env *env);
    wall_us (*now_wall)(const struct env *env);
    /* Fills `bytes` from a CSPRNG (a seeded generator in tests). Any thread. */
    void (*random)(const struct env *env, void *bytes, size_t len);
    /* Does the same as epoll_wait, but with a deadline on this env's monotonic clock (INT64_MAX: none). */
    int (*wait)(const struct env *env, int epoll_fd, struct epoll_event *events, int max, mono_us deadline);
    void *ctx;
};

/* Returns the real clocks and getrandom(2); valid until the process ends. Any thread. */
const struct env *env_real(void);

static inline mono_us env_mono(const struct env *env)
{
    return env->now_mono(env);
}

static inline wall_us env_wall(const struct env *env)
{
    return env->now_wall(env);
}

/* Returns a random number, uniform in [0, bound); 0 for a bound of 0 or 1. */
uint64_t env_random_below(const struct env *env, uint64_t bound);
/* Multiplies `base_us` by a uniformly random factor in [1 - spread, 1 + spread]. The spread is in percent. */
int64_t env_jitter(const struct env *env, int64_t base_us, unsigned spread_percent);

/*
 * A time of the wall clock that is stored or shown, and the monotonic time that belongs to it. Running waits
 * compare the latter: setting the wall clock does not change how long they last. Zero: no time yet.
 */
struct wall_mark {
    wall_us wall;
    mono_us mono;
};

/* Returns the monotonic time of `wall`. The first call with this time determines it: at most `ahead_max_us`
 * after now, whatever the wall clock says. */
mono_us wall_mark_mono(struct wall_mark *mark, const struct env *env, wall_us wall, int64_t ahead_max_us);
/* Returns how long ago `wall` was. A time in the future counts as the time of the first call. */
int64_t wall_mark_age_us(struct wall_mark *mark, const struct env *env, wall_us wall);

/* Initializes a condition on the real monotonic clock. Setting the wall clock therefore does not change how
 * long a wait lasts. The caller releases the condition with pthread_cond_destroy. Any thread. */
void cond_init(pthread_cond_t *cond);
/* Returns the deadline for a pthread_cond_timedwait that ends after this many microseconds. */
struct timespec cond_until(int64_t timeout_us);

#endif

#include "base/env.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <time.h>

#include "base/attrs.h"

static int64_t clock_us(clockid_t id)
{
    struct timespec ts;
    (void)clock_gettime(id, &ts);
    return (int64_t)ts.tv_sec * US_PER_S + ts.tv_nsec / 1000;
}

static mono_us real_mono(const struct env *env ATTR_UNUSED)
{
    return clock_us(CLOCK_MONOTONIC);
}

static wall_us real_wall(const struct env *env ATTR_UNUSED)
{
    return clock_us(CLOCK_REALTIME);
}

static void kernel_random(char *p, size_t len)
{
    while (len) {
        ssize_t n = getrandom(p, len, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            abort(); /* getrandom fails only on a kernel that does not have it */
        p += n;
        len -= (size_t)n;
    }
}

/* Few random bytes come from a buffer of the thread: every HTTP request needs some, and a system call for
 * each would cost time. Bytes that were returned are removed from the buffer. */
static void real_random(const struct env *env ATTR_UNUSED, void *bytes, size_t len)
{
    enum { SUPPLY = 512 };
    static _Thread_local char supply[SUPPLY];
    static _Thread_local size_t left;
    if (len > SUPPLY / 8) {
        kernel_random(bytes, len);
        return;
    }
    if (left < len) {
        kernel_random(supply, SUPPLY);
        left = SUPPLY;
    }
    left -= len;
    memcpy(bytes, supply + left, len);
    explicit_bzero(supply + left, len);
}

static int real_wait(const struct env *env, int epoll_fd, struct epoll_event *events, int max,
                     mono_us deadline)
{
    int timeout_ms = -1;
    if (deadline != INT64_MAX) {
        int64_t left = deadline - real_mono(env);
        int64_t ms = left <= 0 ? 0 : (left + 999) / 1000;
        timeout_ms = ms > 60000 ? 60000 : (int)ms;
    }
    int n = epoll_wait(epoll_fd, events, max, timeout_ms);
    return n < 0 && errno == EINTR ? 0 : n;
}

const struct env *env_real(void)
{
    static const struct env real = {
        .now_mono = real_mono, .now_wall = real_wall, .random = real_random, .wait = real_wait};
    return &real;
}

uint64_t env_random_below(const struct env *env, uint64_t bound)
{
    if (bound < 2)
        return 0;
    uint64_t limit = UINT64_MAX - UINT64_MAX % bound;
    uint64_t value;
    do
        env->random(env, &value, sizeof(value));
    while (value >= limit);
    return value % bound;
}

int64_t env_jitter(const struct env *env, int64_t base_us, unsigned spread_percent)
{
    assert(spread_percent <= 100);
    int64_t spread = base_us / 100 * (int64_t)spread_percent;
    if (spread <= 0)
        return base_us;
    return base_us - spread + (int64_t)env_random_below(env, (uint64_t)(2 * spread + 1));
}

mono_us wall_mark_mono(struct wall_mark *mark, const struct env *env, wall_us wall, int64_t ahead_max_us)
{
    if (mark->wall != wall) {
        const int64_t ahead_us = wall - env_wall(env);
        mark->wall = wall;
        mark->mono = env_mono(env) + (ahead_us < ahead_max_us ? ahead_us : ahead_max_us);
    }
    return mark->mono;
}

int64_t wall_mark_age_us(struct wall_mark *mark, const struct env *env, wall_us wall)
{
    return env_mono(env) - wall_mark_mono(mark, env, wall, 0);
}

void cond_init(pthread_cond_t *cond)
{
    pthread_condattr_t attr;
    (void)pthread_condattr_init(&attr);
    (void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    (void)pthread_cond_init(cond, &attr);
    (void)pthread_condattr_destroy(&attr);
}

struct timespec cond_until(int64_t timeout_us)
{
    struct timespec until;
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    int64_t ns = until.tv_nsec + timeout_us % US_PER_S * 1000;
    until.tv_sec += (time_t)(timeout_us / US_PER_S + ns / 1000000000);
    until.tv_nsec = (long)(ns % 1000000000);
    return until;
}

/*
 * A faster clock, for a program that is started with LD_PRELOAD=fast_clock.so and FAST_CLOCK=30. It replaces
 * the functions with which shootd and its libraries read the clock and wait. CPU clocks do not change.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const int64_t NS = 1000000000;
static int64_t speed = 1, began[CLOCK_BOOTTIME + 1]; /* start time of each clock */

static int64_t real(clockid_t id)
{
    struct timespec t;
    (void)syscall(SYS_clock_gettime, id, &t);
    return (int64_t)t.tv_sec * NS + t.tv_nsec;
}

static struct timespec timespec_of(int64_t ns)
{
    return (struct timespec){(time_t)(ns / NS), (long)(ns % NS)};
}

static bool runs(clockid_t id)
{
    return id >= 0 && id <= CLOCK_BOOTTIME && id != CLOCK_PROCESS_CPUTIME_ID && id != CLOCK_THREAD_CPUTIME_ID;
}

__attribute__((constructor)) static void begin(void)
{
    const char *given = getenv("FAST_CLOCK");
    for (clockid_t id = 0; id <= CLOCK_BOOTTIME; id++)
        began[id] = real(id);
    speed = given ? strtol(given, NULL, 10) : 1;
}

int clock_gettime(clockid_t id, struct timespec *ret)
{
    if (!runs(id))
        return (int)syscall(SYS_clock_gettime, id, ret);
    *ret = timespec_of(began[id] + (real(id) - began[id]) * speed);
    return 0;
}

int epoll_wait(int fd, struct epoll_event *events, int max, int timeout_ms)
{
    struct timespec timeout = timespec_of((int64_t)timeout_ms * 1000000 / speed);
    return epoll_pwait2(fd, events, max, timeout_ms < 0 ? NULL : &timeout, NULL);
}

/* All conditions of shootd use the monotonic clock. */
int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *until)
{
    int64_t at = (int64_t)until->tv_sec * NS + until->tv_nsec, start = began[CLOCK_MONOTONIC];
    struct timespec t = timespec_of(start + (at - start) / speed);
    return pthread_cond_clockwait(cond, mutex, CLOCK_MONOTONIC, &t);
}

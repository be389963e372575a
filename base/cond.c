#include "base/cond.h"

#include "base/env.h"

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

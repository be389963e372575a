/* Owns the waiting of the storage threads: a mutex and a condition on the monotonic clock. Any thread. */
#include "storage/storage_private.h"

#include <time.h>

void signal_init(struct signal *s)
{
    pthread_condattr_t attr;
    (void)pthread_condattr_init(&attr);
    (void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    (void)pthread_mutex_init(&s->mutex, NULL);
    (void)pthread_cond_init(&s->cond, &attr);
    (void)pthread_condattr_destroy(&attr);
}

void signal_done(struct signal *s)
{
    (void)pthread_cond_destroy(&s->cond);
    (void)pthread_mutex_destroy(&s->mutex);
}

void signal_wait(struct signal *s, int64_t timeout_us)
{
    if (timeout_us == INT64_MAX) {
        (void)pthread_cond_wait(&s->cond, &s->mutex);
        return;
    }
    struct timespec until;
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    int64_t ns = until.tv_nsec + timeout_us % US_PER_S * 1000;
    until.tv_sec += (time_t)(timeout_us / US_PER_S + ns / 1000000000);
    until.tv_nsec = (long)(ns % 1000000000);
    (void)pthread_cond_timedwait(&s->cond, &s->mutex, &until);
}

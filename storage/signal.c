/* Owns the waiting of the storage threads: a mutex and a condition on the monotonic clock. Any thread. */
#include "storage/storage_private.h"

#include "base/env.h"

void signal_init(struct signal *s)
{
    (void)pthread_mutex_init(&s->mutex, NULL);
    cond_init(&s->cond);
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
    const struct timespec until = cond_until(timeout_us);
    (void)pthread_cond_timedwait(&s->cond, &s->mutex, &until);
}

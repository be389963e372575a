/*
 * Locks and conditions of POSIX threads. These calls fail only when the program is wrong, so a failure ends
 * it. Conditions are made by cond_init (base/env.h). Any thread.
 */
#ifndef BASE_LOCK_H
#define BASE_LOCK_H

#include <assert.h>
#include <pthread.h>

static inline void lock_assert(int error)
{
    assert(!error);
    (void)error;
}

static inline void mutex_init(pthread_mutex_t *m)
{
    lock_assert(pthread_mutex_init(m, NULL));
}

static inline void mutex_done(pthread_mutex_t *m)
{
    lock_assert(pthread_mutex_destroy(m));
}

static inline void mutex_lock(pthread_mutex_t *m)
{
    lock_assert(pthread_mutex_lock(m));
}

static inline void mutex_unlock(pthread_mutex_t *m)
{
    lock_assert(pthread_mutex_unlock(m));
}

static inline void cond_done(pthread_cond_t *c)
{
    lock_assert(pthread_cond_destroy(c));
}

static inline void cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
    lock_assert(pthread_cond_wait(c, m));
}

static inline void cond_signal(pthread_cond_t *c)
{
    lock_assert(pthread_cond_signal(c));
}

static inline void cond_broadcast(pthread_cond_t *c)
{
    lock_assert(pthread_cond_broadcast(c));
}

#endif

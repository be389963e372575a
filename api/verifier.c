#include "api/verifier.h"

#include <assert.h>
#include <stddef.h>

#include "base/thread.h"

static unsigned *places_of(struct verifier *v, uint64_t client)
{
    return &v->taken_by_client[client % VERIFIER_CLIENT_COUNTERS];
}

bool verifier_take_place(struct verifier *v, uint64_t client)
{
    (void)pthread_mutex_lock(&v->lock);
    unsigned *of_client = places_of(v, client);
    const bool ok = v->taken < VERIFIER_PLACES && *of_client < VERIFIER_PLACES_OF_CLIENT;
    if (ok) {
        v->taken++;
        (*of_client)++;
    }
    (void)pthread_mutex_unlock(&v->lock);
    if (!ok)
        atomic_fetch_add(&v->refused, 1);
    return ok;
}

void verifier_leave_place(struct verifier *v, uint64_t client)
{
    (void)pthread_mutex_lock(&v->lock);
    unsigned *of_client = places_of(v, client);
    assert(v->taken && *of_client);
    v->taken--;
    (*of_client)--;
    (void)pthread_mutex_unlock(&v->lock);
}

void verifier_submit(struct verifier *v, struct verifier_job *job)
{
    assert(job->work && job->drop);
    (void)pthread_mutex_lock(&v->lock);
    assert(v->taken && !v->is_stopping);
    list_append(&v->queue, &job->link);
    (void)pthread_mutex_unlock(&v->lock);
    (void)pthread_cond_signal(&v->wake);
}

unsigned verifier_taken(struct verifier *v)
{
    (void)pthread_mutex_lock(&v->lock);
    const unsigned taken = v->taken;
    (void)pthread_mutex_unlock(&v->lock);
    return taken;
}

/* Waits for the next job; NULL when the verifier stops. */
static struct verifier_job *next_job(struct verifier *v)
{
    struct list *item = NULL;
    (void)pthread_mutex_lock(&v->lock);
    while (!v->is_stopping && list_is_empty(&v->queue))
        (void)pthread_cond_wait(&v->wake, &v->lock);
    if (!v->is_stopping)
        item = list_pop(&v->queue);
    (void)pthread_mutex_unlock(&v->lock);
    return item ? CONTAINER_OF(item, struct verifier_job, link) : NULL;
}

static void *run(void *arg)
{
    struct verifier *v = arg;
    /* The HTTP workers serve all clients, so they have a higher priority than the verifier. */
    thread_in_background("verifier");
    for (struct verifier_job *job = next_job(v); job; job = next_job(v)) {
        const uint64_t client = job->client;
        job->work(job);
        verifier_leave_place(v, client);
    }
    return NULL;
}

int verifier_start(struct verifier *v)
{
    list_init(&v->queue);
    (void)pthread_mutex_init(&v->lock, NULL);
    (void)pthread_cond_init(&v->wake, NULL);
    const int r = pthread_create(&v->thread, NULL, run, v);
    if (r == 0)
        return 0;
    (void)pthread_cond_destroy(&v->wake);
    (void)pthread_mutex_destroy(&v->lock);
    return -r;
}

void verifier_stop(struct verifier *v)
{
    (void)pthread_mutex_lock(&v->lock);
    v->is_stopping = true;
    (void)pthread_cond_signal(&v->wake);
    (void)pthread_mutex_unlock(&v->lock);
    (void)pthread_join(v->thread, NULL);
    for (struct list *item = list_pop(&v->queue); item; item = list_pop(&v->queue)) {
        struct verifier_job *job = CONTAINER_OF(item, struct verifier_job, link);
        const uint64_t client = job->client;
        job->drop(job);
        verifier_leave_place(v, client);
    }
    assert(!v->taken);
    (void)pthread_cond_destroy(&v->wake);
    (void)pthread_mutex_destroy(&v->lock);
}

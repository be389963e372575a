#include "api/verifier.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/lock.h"
#include "base/mem.h"
#include "base/thread.h"

static struct verifier_client *client_of(struct verifier *v, uint64_t client, enum verifier_place kind)
{
    assert(kind < VERIFIER_PLACE_KINDS);
    return &v->clients[client % VERIFIER_CLIENT_COUNTERS * VERIFIER_PLACE_KINDS + kind];
}

/* Returns the kind of a free place. The caller holds the lock. */
static enum verifier_place free_place(struct verifier *v, uint64_t client, int64_t left)
{
    const unsigned usual = client_of(v, client, VERIFIER_USUAL)->taken;
    const unsigned over = client_of(v, client, VERIFIER_OVER_LIMIT)->taken;
    if (v->taken[VERIFIER_USUAL] + v->taken[VERIFIER_OVER_LIMIT] >= VERIFIER_PLACES)
        return VERIFIER_NO_PLACE;
    if (left > usual)
        return usual < VERIFIER_PLACES_OF_CLIENT ? VERIFIER_USUAL : VERIFIER_NO_PLACE;
    return over < VERIFIER_PLACES_OVER_LIMIT && v->taken[VERIFIER_OVER_LIMIT] < VERIFIER_ALL_OVER_LIMIT
               ? VERIFIER_OVER_LIMIT
               : VERIFIER_NO_PLACE;
}

enum verifier_place verifier_take_place(struct verifier *v, uint64_t client, int64_t left)
{
    mutex_lock(&v->lock);
    const enum verifier_place place = free_place(v, client, left);
    if (place != VERIFIER_NO_PLACE) {
        v->taken[place]++;
        client_of(v, client, place)->taken++;
    }
    mutex_unlock(&v->lock);
    if (place == VERIFIER_NO_PLACE)
        atomic_fetch_add(&v->refused, 1);
    return place;
}

void verifier_leave_place(struct verifier *v, uint64_t client, enum verifier_place place)
{
    mutex_lock(&v->lock);
    struct verifier_client *of = client_of(v, client, place);
    assert(v->taken[place] && of->taken);
    v->taken[place]--;
    of->taken--;
    mutex_unlock(&v->lock);
}

void verifier_submit(struct verifier *v, struct verifier_job *job)
{
    assert(job->work && job->drop);
    mutex_lock(&v->lock);
    struct verifier_client *of = client_of(v, job->client, job->place);
    assert(of->taken && !v->is_stopping);
    if (list_is_detached(&of->turn)) {
        list_init(&of->waiting);
        list_append(&v->turns[job->place], &of->turn);
    }
    list_append(&of->waiting, &job->link);
    mutex_unlock(&v->lock);
    cond_signal(&v->wake);
}

unsigned verifier_taken(struct verifier *v)
{
    mutex_lock(&v->lock);
    const unsigned taken = v->taken[VERIFIER_USUAL] + v->taken[VERIFIER_OVER_LIMIT];
    mutex_unlock(&v->lock);
    return taken;
}

/* Takes the next job of the client whose turn it is; NULL when no job of this kind waits. The client's next
 * turn comes after those of the others. The caller holds the lock. */
static struct verifier_job *take_job(struct verifier *v, enum verifier_place kind)
{
    struct list *turn = list_pop(&v->turns[kind]);
    if (!turn)
        return NULL;
    struct verifier_client *of = CONTAINER_OF(turn, struct verifier_client, turn);
    struct list *item = list_pop(&of->waiting);
    assert(item); /* a client without jobs has no turn */
    if (!list_is_empty(&of->waiting))
        list_append(&v->turns[kind], turn);
    return CONTAINER_OF(item, struct verifier_job, link);
}

/* Takes a job that may begin now; NULL: there is none, and *ret_due is when one may begin. The caller holds
 * the lock. */
static struct verifier_job *take_due(struct verifier *v, mono_us *ret_due)
{
    const mono_us now = env_mono(v->env);
    struct verifier_job *job = take_job(v, VERIFIER_USUAL);
    *ret_due = INT64_MAX;
    if (job)
        return job;
    if (!list_is_empty(&v->unfinished)) {
        job = CONTAINER_OF(v->unfinished.next, struct verifier_job, link);
        *ret_due = job->again_at;
        if (job->again_at <= now) {
            list_remove(&job->link);
            return job;
        }
    }
    if (list_is_empty(&v->turns[VERIFIER_OVER_LIMIT]))
        return NULL;
    if (v->next_over_limit <= now) {
        v->next_over_limit = now + VERIFIER_GAP_US;
        return take_job(v, VERIFIER_OVER_LIMIT);
    }
    *ret_due = v->next_over_limit < *ret_due ? v->next_over_limit : *ret_due;
    return NULL;
}

/* Waits for the next job; NULL when the verifier stops. */
static struct verifier_job *next_job(struct verifier *v)
{
    struct verifier_job *job = NULL;
    mono_us due;
    mutex_lock(&v->lock);
    while (!v->is_stopping && !(job = take_due(v, &due))) {
        if (due == INT64_MAX) {
            cond_wait(&v->wake, &v->lock);
        } else {
            const struct timespec until = cond_until(due - env_mono(v->env));
            (void)pthread_cond_timedwait(&v->wake, &v->lock, &until);
        }
    }
    mutex_unlock(&v->lock);
    return job;
}

static void continue_later(struct verifier *v, struct verifier_job *job)
{
    mutex_lock(&v->lock);
    job->again_at = env_mono(v->env) + VERIFIER_AGAIN_US;
    list_append(&v->unfinished, &job->link);
    mutex_unlock(&v->lock);
}

static void *run(void *arg)
{
    struct verifier *v = arg;
    /* The HTTP workers serve all clients, so they have a higher priority than the verifier. */
    thread_in_background("verifier");
    for (struct verifier_job *job = next_job(v); job; job = next_job(v)) {
        const uint64_t client = job->client;
        const enum verifier_place place = job->place;
        if (job->work(job))
            verifier_leave_place(v, client, place);
        else
            continue_later(v, job);
    }
    return NULL;
}

static void release(struct verifier *v)
{
    free(v->clients);
    cond_done(&v->wake);
    mutex_done(&v->lock);
}

int verifier_start(struct verifier *v, const struct env *env)
{
    v->env = env;
    v->clients = mem_calloc((size_t)VERIFIER_CLIENT_COUNTERS * VERIFIER_PLACE_KINDS, sizeof(*v->clients));
    for (size_t i = 0; i < VERIFIER_PLACE_KINDS; i++)
        list_init(&v->turns[i]);
    list_init(&v->unfinished);
    mutex_init(&v->lock);
    cond_init(&v->wake);
    const int r = pthread_create(&v->thread, NULL, run, v);
    if (r)
        release(v);
    return -r;
}

static void drop(struct verifier *v, struct verifier_job *job)
{
    const uint64_t client = job->client;
    const enum verifier_place place = job->place;
    job->drop(job);
    verifier_leave_place(v, client, place);
}

static void drop_all(struct verifier *v)
{
    for (struct list *item = list_pop(&v->unfinished); item; item = list_pop(&v->unfinished))
        drop(v, CONTAINER_OF(item, struct verifier_job, link));
    for (enum verifier_place kind = 0; kind < VERIFIER_PLACE_KINDS; kind++)
        for (struct verifier_job *job = take_job(v, kind); job; job = take_job(v, kind))
            drop(v, job);
    assert(!v->taken[VERIFIER_USUAL] && !v->taken[VERIFIER_OVER_LIMIT]);
}

void verifier_stop(struct verifier *v)
{
    mutex_lock(&v->lock);
    v->is_stopping = true;
    cond_signal(&v->wake);
    mutex_unlock(&v->lock);
    (void)pthread_join(v->thread, NULL);
    drop_all(v);
    release(v);
}

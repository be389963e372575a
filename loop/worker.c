/* One thread and one queue. The mutex of the queue is not held during work. */
#include "loop/worker.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/attrs.h"
#include "base/env.h"
#include "base/lock.h"
#include "base/mem.h"
#include "base/thread.h"

struct thread_worker {
    struct worker worker;
    struct loop *loop;
    struct worker_limits limits;
    const char *name;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    struct list queue;
    unsigned waiting;
    size_t waiting_bytes;
    bool stopping;
};

static void run_done(struct loop_task *task)
{
    struct worker_job *job = CONTAINER_OF(task, struct worker_job, task);
    job->done(job);
}

static void run_drop(struct loop_task *task)
{
    struct worker_job *job = CONTAINER_OF(task, struct worker_job, task);
    job->drop(job);
}

void worker_give_back(struct loop *loop, struct worker_job *job)
{
    job->task = (struct loop_task){.run = run_done, .drop = run_drop};
    loop_post(loop, &job->task);
}

/* Returns the next job; NULL when the worker ends. */
static struct worker_job *take(struct thread_worker *w)
{
    struct worker_job *job = NULL;
    mutex_lock(&w->lock);
    while (!w->stopping && list_is_empty(&w->queue))
        cond_wait(&w->wake, &w->lock);
    if (!w->stopping) {
        job = CONTAINER_OF(list_pop(&w->queue), struct worker_job, link);
        assert(w->waiting && w->waiting_bytes >= job->bytes);
        w->waiting--;
        w->waiting_bytes -= job->bytes;
    }
    mutex_unlock(&w->lock);
    return job;
}

static void *run(void *arg)
{
    struct thread_worker *w = arg;
    thread_in_background(w->name);
    for (struct worker_job *job = take(w); job; job = take(w)) {
        job->work(job);
        worker_give_back(w->loop, job);
    }
    return NULL;
}

static bool submit(struct worker *worker, struct worker_job *job)
{
    struct thread_worker *w = CONTAINER_OF(worker, struct thread_worker, worker);
    loop_assert_owner(w->loop);
    assert(job->work && job->done && job->drop);
    mutex_lock(&w->lock);
    bool room = w->waiting < w->limits.jobs && w->waiting_bytes + job->bytes <= w->limits.bytes;
    bool taken = job->goes_on || room;
    if (taken) {
        list_append(&w->queue, &job->link);
        w->waiting++;
        w->waiting_bytes += job->bytes;
    }
    mutex_unlock(&w->lock);
    if (taken)
        cond_signal(&w->wake);
    return taken;
}

static void worker_free(struct worker *worker)
{
    struct thread_worker *w = CONTAINER_OF(worker, struct thread_worker, worker);
    mutex_lock(&w->lock);
    w->stopping = true;
    mutex_unlock(&w->lock);
    cond_signal(&w->wake);
    (void)pthread_join(w->thread, NULL);
    for (struct list *item = list_pop(&w->queue); item; item = list_pop(&w->queue)) {
        struct worker_job *job = CONTAINER_OF(item, struct worker_job, link);
        assert(w->waiting && w->waiting_bytes >= job->bytes);
        w->waiting--;
        w->waiting_bytes -= job->bytes;
        job->drop(job);
    }
    assert(!w->waiting && !w->waiting_bytes);
    cond_done(&w->wake);
    mutex_done(&w->lock);
    free(w);
}

struct worker *worker_new(struct loop *loop, const char *thread_name, const struct worker_limits *limits)
{
    struct thread_worker *w = MEM_NEW(struct thread_worker);
    w->worker = (struct worker){submit, worker_free};
    w->loop = loop;
    w->limits = *limits;
    w->name = thread_name;
    list_init(&w->queue);
    mutex_init(&w->lock);
    cond_init(&w->wake);
    if (pthread_create(&w->thread, NULL, run, w) != 0)
        abort();
    return &w->worker;
}

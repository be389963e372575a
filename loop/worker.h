/*
 * A thread beside the loop for long work: it processes foreign data. A whole job moves to the thread and
 * back, so it has one owner at a time. The loop keeps no reference to data of the job. One replaceable
 * interface: tests do the work at once (tests/support/virtual.h).
 */
#ifndef LOOP_WORKER_H
#define LOOP_WORKER_H

#include "loop/loop.h"

/* Embedded in the struct of the work. */
struct worker_job {
    void (*work)(struct worker_job *job); /* worker thread */
    void (*done)(struct worker_job *job); /* loop thread, in a turn of its own */
    void (*drop)(struct worker_job *job); /* called in place of both when worker or loop ends; any thread */
    size_t bytes;                         /* size of the job's data, for the limit */
    bool goes_on;                         /* continues an accepted job: never refused */
    /* Used only by the worker. */
    struct list link;
    struct loop_task task;
};

struct worker {
    /* Loop thread. False when too much waits; the job is then unchanged. */
    bool (*submit)(struct worker *worker, struct worker_job *job);
    /* Ends the current job and drops waiting jobs. Called before loop_free, when the loop does not run any
     * more. */
    void (*free)(struct worker *worker);
};

struct worker_limits {
    unsigned jobs; /* jobs that may wait */
    size_t bytes;  /* bytes of all waiting jobs */
};

/* The loop must stay valid as long as the worker; the name is static. */
struct worker *worker_new(struct loop *loop, const char *thread_name, const struct worker_limits *limits);

/* For implementations: returns a job to the loop. Any thread. */
void worker_give_back(struct loop *loop, struct worker_job *job);

#endif

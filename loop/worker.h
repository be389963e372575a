/*
 * A thread beside the loop for long work, for example to read Cleura's answers. A whole job moves to the
 * thread and back, so that it has one owner at a time. The loop keeps no reference to data of the job. The
 * interface is replaceable: in tests the work is done at once (tests/support/virtual.h).
 */
#ifndef LOOP_WORKER_H
#define LOOP_WORKER_H

#include "loop/loop.h"

/* A job: a member of the struct that describes the work. */
struct worker_job {
    void (*work)(struct worker_job *job); /* does the work; worker thread */
    void (*done)(struct worker_job *job); /* called after the work, in a later turn of the loop; loop
                                           * thread */
    void (*drop)(struct worker_job *job); /* called when the worker or the loop ends before `done` was
                                           * called; any thread */
    size_t bytes;                         /* the size of the data of the job, for the limit */
    bool goes_on;                         /* the job continues an accepted job, and is therefore never
                                           * refused */
    /* Used only by the worker. */
    struct list link;
    struct loop_task task;
};

struct worker {
    /* Submits a job. False when too many jobs or bytes wait; the job is then unchanged. Loop thread. */
    bool (*submit)(struct worker *worker, struct worker_job *job);
    /* Ends the current job and drops waiting jobs. Called before loop_free, when the loop no longer runs. */
    void (*free)(struct worker *worker);
};

struct worker_limits {
    unsigned jobs; /* the limit of waiting jobs */
    size_t bytes;  /* the limit of the bytes of all waiting jobs */
};

/* Starts a worker. The loop must stay valid as long as the worker; the name is static. */
struct worker *worker_new(struct loop *loop, const char *thread_name, const struct worker_limits *limits);

/* For implementations: returns a job to the loop. Any thread. */
void worker_give_back(struct loop *loop, struct worker_job *job);

#endif

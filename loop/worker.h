/*
 * A thread beside the loop for work that takes long: reading what others sent. A job moves whole, to the
 * thread and back: whoever has it is its only owner, and what it brings back shares nothing with what stays.
 * One replaceable interface: tests do the work at once (tests/support/virtual.h).
 */
#ifndef LOOP_WORKER_H
#define LOOP_WORKER_H

#include "loop/loop.h"

/* Embedded in what is to be done. */
struct worker_job {
    void (*work)(struct worker_job *job); /* worker thread */
    void (*done)(struct worker_job *job); /* loop thread, in a turn of its own */
    void (*drop)(struct worker_job *job); /* instead of either, when worker or loop ends first; any thread */
    size_t bytes;                         /* that wait with it */
    bool goes_on;                         /* part of a job that was taken before: never refused */
    /* the worker's own */
    struct list link;
    struct loop_task task;
};

struct worker {
    /* Loop thread. False, and nothing happened: too much waits already. */
    bool (*submit)(struct worker *worker, struct worker_job *job);
    /* Ends the work under way and drops what waits. Before loop_free; the loop runs no more. */
    void (*free)(struct worker *worker);
};

struct worker_limits {
    unsigned jobs; /* that wait */
    size_t bytes;  /* of all jobs that wait */
};

/* The loop must outlive it; the name is static. */
struct worker *worker_new(struct loop *loop, const char *thread_name, const struct worker_limits *limits);

/* For implementations: gives a job back to the loop. Any thread. */
void worker_give_back(struct loop *loop, struct worker_job *job);

#endif

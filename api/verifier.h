/*
 * The thread that verifies JWTs, so that no HTTP worker has to do it. The check of a signature takes longer
 * than the rest of a request, and other connections of the worker would wait for it. The queue has a limit,
 * and each client address may use only a part of it, so that a client with many wrong JWTs cannot fill the
 * queue.
 */
#ifndef API_VERIFIER_H
#define API_VERIFIER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"

enum {
    VERIFIER_PLACES = 1024,          /* the limit of JWTs that wait, including the one that is being
                                      * verified */
    VERIFIER_PLACES_OF_CLIENT = 256, /* the limit of JWTs that wait for one address, or for one IPv6 /64 */
    VERIFIER_CLIENT_COUNTERS = 4096, /* the number of counters; addresses with the same counter share its
                                      * limit */
};

/* This struct is a member of the struct that describes the work. */
struct verifier_job {
    /* Called on the verifier's thread. Takes over the job. */
    void (*work)(struct verifier_job *job);
    /* Called in place of `work` when the verifier stops before the job has begun. Called on the thread of
     * verifier_stop. */
    void (*drop)(struct verifier_job *job);
    uint64_t client;  /* the key of the client's address, whose bits are evenly distributed */
    struct list link; /* used only by the verifier */
};

struct verifier {
    pthread_t thread;
    pthread_mutex_t lock; /* protects all members below except `refused`; not held while a job is done */
    pthread_cond_t wake;
    struct list queue;
    unsigned taken; /* the number of places in use */
    unsigned taken_by_client[VERIFIER_CLIENT_COUNTERS];
    bool is_stopping;
    _Atomic uint64_t refused;
};

/* Starts the thread; returns a negative errno on failure. */
int verifier_start(struct verifier *v);
/* Waits for the end of the current job and drops the waiting jobs. From this call on, no other thread may use
 * the verifier. */
void verifier_stop(struct verifier *v);

/* Takes a place for a job of this client. When no place is free, counts a refusal and returns false. Any
 * thread. */
bool verifier_take_place(struct verifier *v, uint64_t client);
/* Gives back a place for which no job was submitted. Any thread. */
void verifier_leave_place(struct verifier *v, uint64_t client);
/* Submits a job, for which its client has a place. Jobs are done in the order in which they were submitted.
 * Any thread. */
void verifier_submit(struct verifier *v, struct verifier_job *job);
/* Returns the number of taken places. Any thread. */
unsigned verifier_taken(struct verifier *v);

#endif

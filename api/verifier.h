/*
 * The thread that verifies JWTs, so that no HTTP worker does it: a signature takes longer than the rest of a
 * request, and other connections wait for the worker. The queue has a limit, and each client address may use
 * only a part of it. A client with many wrong JWTs thus takes no place from others.
 */
#ifndef API_VERIFIER_H
#define API_VERIFIER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"

enum {
    VERIFIER_PLACES = 1024,          /* JWTs that wait, and the one at work */
    VERIFIER_PLACES_OF_CLIENT = 256, /* of these, from one address or IPv6 /64 */
    VERIFIER_CLIENT_COUNTERS = 4096, /* addresses with the same counter share its places */
};

/* Embedded in the struct of the work. */
struct verifier_job {
    /* The verifier's thread. Takes over the job. */
    void (*work)(struct verifier_job *job);
    /* Called in place of `work` when the verifier stops first. The thread of verifier_stop. */
    void (*drop)(struct verifier_job *job);
    uint64_t client;  /* key of the client's address, evenly distributed */
    struct list link; /* used only by the verifier */
};

struct verifier {
    pthread_t thread;
    pthread_mutex_t lock; /* guards all members below except `refused`; not held during work */
    pthread_cond_t wake;
    struct list queue;
    unsigned taken; /* places */
    unsigned taken_by_client[VERIFIER_CLIENT_COUNTERS];
    bool is_stopping;
    _Atomic uint64_t refused;
};

/* Starts the thread; negative errno on failure. */
int verifier_start(struct verifier *v);
/* Ends the current job and drops the waiting ones. No other thread may use the verifier any more. */
void verifier_stop(struct verifier *v);

/* Takes a place for a job of this client. False, and a refusal is counted, when there is none. Any thread. */
bool verifier_take_place(struct verifier *v, uint64_t client);
/* Gives back a place that no job was submitted for. Any thread. */
void verifier_leave_place(struct verifier *v, uint64_t client);
/* Submits a job, for which its client has a place. Jobs are done in this order. Any thread. */
void verifier_submit(struct verifier *v, struct verifier_job *job);
/* The number of taken places. Any thread. */
unsigned verifier_taken(struct verifier *v);

#endif

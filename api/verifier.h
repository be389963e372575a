/*
 * The thread that verifies JWTs, so that no HTTP worker has to do it. The check of a signature takes longer
 * than the rest of a request, and other connections of the worker would wait for it. The queue has a limit,
 * and each client address may use only a part of it: as many places as it may still send wrong credentials.
 * Each JWT that waits may be wrong, so no address causes more checks than its limit allows. An address over
 * its limit has few places (valid JWTs may come from there, too), and their jobs are done at a slow pace. The
 * addresses take turns, so an address with many jobs does not delay the others.
 */
#ifndef API_VERIFIER_H
#define API_VERIFIER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/env.h"
#include "base/list.h"

enum {
    VERIFIER_PLACES = 1024,          /* the limit of JWTs that wait, including the one that is being
                                      * verified */
    VERIFIER_PLACES_OF_CLIENT = 256, /* the limit of JWTs that wait for one address, or for one IPv6 /64 */
    VERIFIER_CLIENT_COUNTERS = 4096, /* the number of counters; addresses with the same counter share its
                                      * limit */
    VERIFIER_PLACES_OVER_LIMIT = 4,  /* the limit for an address with too many wrong credentials */
    VERIFIER_ALL_OVER_LIMIT = 256,   /* the limit for all such addresses together */
    VERIFIER_AGAIN_US = 100000,      /* the time until unfinished work is continued */
    VERIFIER_GAP_US = 10000,         /* the time from one job of such an address to the next such job */
};

/* The kinds of places, and of the jobs in them. */
enum verifier_place { VERIFIER_USUAL, VERIFIER_OVER_LIMIT, VERIFIER_NO_PLACE };
#define VERIFIER_PLACE_KINDS VERIFIER_NO_PLACE

/* This struct is a member of the struct that describes the work. */
struct verifier_job {
    /* Called on the verifier's thread. Takes over the job and returns true; or returns false, and is called
     * again after VERIFIER_AGAIN_US. Meanwhile the job keeps its place. */
    bool (*work)(struct verifier_job *job);
    /* Called in place of `work` when the verifier stops before the job has ended. Called on the thread of
     * verifier_stop. */
    void (*drop)(struct verifier_job *job);
    uint64_t client;           /* the key of the client's address, whose bits are evenly distributed */
    enum verifier_place place; /* the place that verifier_take_place returned */
    struct list link;          /* used only by the verifier, as the next member */
    mono_us again_at;
};

/* The jobs of one kind that belong to one counter. */
struct verifier_client {
    unsigned taken;      /* the number of places in use */
    struct list waiting; /* the jobs; initialized by the first of them */
    struct list turn;    /* in the list of turns, while jobs wait */
};

struct verifier {
    pthread_t thread;
    pthread_mutex_t lock; /* protects all members below except `refused`; not held while a job is done */
    pthread_cond_t wake;
    const struct env *env;
    struct verifier_client *clients; /* VERIFIER_CLIENT_COUNTERS of each kind */
    struct list turns[VERIFIER_PLACE_KINDS];
    unsigned taken[VERIFIER_PLACE_KINDS]; /* the number of places in use */
    struct list unfinished;               /* jobs that are continued later; the earliest first */
    mono_us next_over_limit;              /* when the next job of an address over its limit may begin */
    bool is_stopping;
    _Atomic uint64_t refused;
};

/* Starts the thread; returns a negative errno on failure. `env` must stay valid until verifier_stop. */
int verifier_start(struct verifier *v, const struct env *env);
/* Waits for the end of the current job and drops the waiting jobs. From this call on, no other thread may use
 * the verifier. */
void verifier_stop(struct verifier *v);

/* Takes a place for a job of this client, which may still send `left` wrong credentials. When no place is
 * free, counts a refusal and returns VERIFIER_NO_PLACE. Any thread. */
enum verifier_place verifier_take_place(struct verifier *v, uint64_t client, int64_t left);
/* Gives back a place for which no job was submitted. Any thread. */
void verifier_leave_place(struct verifier *v, uint64_t client, enum verifier_place place);
/* Submits a job, which has a place. The jobs of a client are done in the order in which they were submitted,
 * and the clients take turns. Jobs of clients over their limit begin only when no other job waits. Any
 * thread. */
void verifier_submit(struct verifier *v, struct verifier_job *job);
/* Returns the number of taken places. Any thread. */
unsigned verifier_taken(struct verifier *v);

#endif

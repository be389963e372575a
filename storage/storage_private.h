/*
 * Shared by the files of this folder only: the writer (a thread that owns the writing connection and the
 * lease) and the reader (a thread that owns the read-only connection). Members say which thread may touch
 * them.
 */
#ifndef STORAGE_STORAGE_PRIVATE_H
#define STORAGE_STORAGE_PRIVATE_H

#include <pthread.h>

#include "storage/storage.h"

enum { STORE_PAGE_MAX = 1000 };

/* For the backends: whether the query's type patterns let this type through; a limit brought into 1..1000. */
bool event_query_wants_type(const struct event_query *query, enum event_type type);
int store_page_limit(int limit);
/*
 * A page looks at the first numbers of `all` behind `place`, in its order, and at no more than
 * STORE_LOOKED_AT. False: there are none.
 */
struct number_range {
    int64_t from;
    int64_t to; /* inclusive */
};
bool store_window(struct number_range all, int64_t place, bool newest_first, struct number_range *ret_window);
/* Where the next page goes on when this one is not full; 0: nowhere. */
int64_t store_window_end(struct number_range all, struct number_range window, bool newest_first);
/*
 * Takes or renews the lease as stored (zeroed: never held); an empty holder means that it was given back.
 * False when another's has not run out; `lease` is unchanged then.
 */
bool store_lease_claim(struct store_lease *lease, const char *name, const char *holder, wall_us now,
                       int64_t ttl_us);

/* A mutex with a condition that waits on CLOCK_MONOTONIC, so that a stepped wall clock delays nothing. */
struct signal {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
};
void signal_init(struct signal *s);
void signal_done(struct signal *s);
/* Locked by the caller. INT64_MAX waits without a limit. */
void signal_wait(struct signal *s, int64_t timeout_us);

struct set_queue {
    struct change_set *head;
    struct change_set *tail;
};

struct writer {
    const struct store_backend *backend;
    const struct env *env;
    void *conn;
    char holder[40];
    pthread_t thread;
    bool started;

    /* Under the lock. */
    struct signal lock;
    struct set_queue incoming;
    bool stopping;
    bool condemned; /* the store is damaged: nothing more is written */
    struct storage_metrics metrics;
    char trouble[STORE_TROUBLE_BYTES]; /* while broken */

    /* The writer thread's own. */
    struct set_queue backlog;
    int64_t transaction; /* number of the last one that was begun; the store has that of the last committed */
    size_t unsure;       /* so many sets at the head may be stored although their commit failed */
    bool broken;
    bool lost; /* the lease went to another holder, or the store is damaged: broken for good */
    int64_t backoff_us;
    mono_us retry_at;
    mono_us renew_at;
    int64_t fence;
};

/* Takes the connection, which holds the lease with `fence`. */
void writer_init(struct writer *w, const struct store_backend *backend, const struct env *env, void *conn,
                 const char *holder, int64_t fence);
void writer_start(struct writer *w);
void writer_submit(struct writer *w, struct change_set *set);
void writer_metrics(struct writer *w, struct storage_metrics *ret);
void writer_trouble(struct writer *w, char ret[static STORE_TROUBLE_BYTES]);
/* Any thread: what is damaged must not get worse. */
void writer_condemn(struct writer *w);
/* Commits what is queued, gives up what cannot be, joins the thread and releases the lease. */
void writer_stop(struct writer *w);
/* After the reader stopped: closes the connection. */
void writer_done(struct writer *w);

struct reader_request;

struct reader {
    const struct store_backend *backend;
    void *conn;
    pthread_t thread;
    bool started;

    /* Under the lock. */
    struct signal lock;
    struct reader_request *head;
    struct reader_request *tail;
    uint64_t depth; /* with the one that is being answered */
    bool stopping;
};

/* Takes the connection. */
void reader_init(struct reader *r, const struct store_backend *backend, void *conn);
void reader_start(struct reader *r);
uint64_t reader_depth(struct reader *r);
/* Answers what is queued, joins the thread and closes the connection. */
void reader_done(struct reader *r);

/*
 * checker.c: a thread that checks what the start left unchecked, and ends. Its connection is its own, but for
 * the order to stop.
 */
struct checker {
    const struct store_backend *backend;
    char *location;
    struct writer *writer;
    pthread_t thread;
    bool started;

    /* Under the lock. */
    struct signal lock;
    void *conn; /* of the check that runs, or NULL */
    bool stopping;
    bool ended;
};
void checker_start(struct checker *c, const struct store_backend *backend, const char *location,
                   struct writer *writer);
/* Ends a check that is under way; harmless when none was begun. */
void checker_stop(struct checker *c);

struct storage {
    char id[STORE_ID_BYTES];
    char seal_key[SEAL_KEY_ID_BYTES];
    char *location;
    struct checker checker;
    struct writer writer;
    struct reader reader;
    atomic_bool backups_end;
};

#define LEASE_NAME     "daemon"
#define LEASE_TTL_US   (30 * US_PER_S)
#define LEASE_RENEW_US (10 * US_PER_S)

#endif

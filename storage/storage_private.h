/*
 * Shared only by the files of this folder: the writer (a thread that owns the writing connection and the
 * lease) and the reader (a thread that owns the read-only connection). Comments at the members name the
 * threads that may use them.
 */
#ifndef STORAGE_STORAGE_PRIVATE_H
#define STORAGE_STORAGE_PRIVATE_H

#include <pthread.h>

#include "storage/storage.h"

enum { STORE_PAGE_MAX = 1000 };

/* Two functions for the backends: whether the type patterns of the query include this type, and the limit,
 * clamped to 1..1000. */
bool event_query_wants_type(const struct event_query *query, enum event_type type);
int store_page_limit(int limit);
/* Finds the numbers that the search for one page covers: at most STORE_LOOKED_AT numbers of `all`, after
 * `place` in the order of the page. False when there are none. */
struct number_range {
    int64_t from; /* the smallest number */
    int64_t to;   /* the largest number, inclusive */
};
bool store_window(struct number_range all, int64_t place, bool newest_first, struct number_range *ret_window);
/* Returns the `place` of the next page when this page is not full; 0: there is no next page. */
int64_t store_window_end(struct number_range all, struct number_range window, bool newest_first);
/*
 * Takes or renews the lease in `lease`. (It is zeroed when it was never held, and has an empty holder when it
 * was released.) False when the lease of another holder has not expired; `lease` is then unchanged.
 */
bool store_lease_claim(struct store_lease *lease, const char *name, const char *holder, wall_us now,
                       int64_t ttl_us);

/* A mutex and a condition variable that uses CLOCK_MONOTONIC, so that waits do not depend on changes of the
 * wall clock. */
struct signal {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
};
void signal_init(struct signal *s);
void signal_done(struct signal *s);
/* The caller holds the lock. A timeout of INT64_MAX means no time limit. */
void signal_wait(struct signal *s, int64_t timeout_us);

struct set_queue {
    struct change_set *head;
    struct change_set *tail;
};

struct store_writer {
    const struct store_backend *backend;
    const struct env *env;
    void *conn;
    char holder[40];
    pthread_t thread;
    bool started;

    /* `lock` protects these members. */
    struct signal lock;
    struct set_queue incoming;
    bool stopping;
    bool condemned; /* the store is damaged: no more writes */
    struct storage_metrics metrics;
    char trouble[STORE_TROUBLE_BYTES]; /* the reason, while the store is broken */

    /* Used only by the writer thread. */
    struct set_queue backlog;
    int64_t transaction; /* the number of the last transaction that was begun; the store contains the number
                          * of the last committed one */
    size_t unsure;       /* the number of sets at the head of the backlog whose commit failed but may have had
                          * an effect */
    bool broken;
    bool lost; /* another holder has the lease, or the store is damaged: nothing more is written */
    int64_t backoff_us;
    mono_us retry_at;
    mono_us renew_at;
    int64_t fence;
};

/* Takes over the connection, which holds the lease with `fence`. */
void writer_init(struct store_writer *w, const struct store_backend *backend, const struct env *env,
                 void *conn, const char *holder, int64_t fence);
void writer_start(struct store_writer *w);
void writer_submit(struct store_writer *w, struct change_set *set);
void writer_metrics(struct store_writer *w, struct storage_metrics *ret);
void writer_trouble(struct store_writer *w, char ret[static STORE_TROUBLE_BYTES]);
/* Stops all writing, because the store is damaged. Any thread. */
void writer_condemn(struct store_writer *w);
/* Commits the queued sets, refuses the sets that cannot be committed, joins the thread and releases the
 * lease. */
void writer_stop(struct store_writer *w);
/* Closes the connection, after the reader has stopped. */
void writer_done(struct store_writer *w);

struct reader_request;

struct reader {
    const struct store_backend *backend;
    void *conn;
    pthread_t thread;
    bool started;

    /* `lock` protects these members. */
    struct signal lock;
    struct reader_request *head;
    struct reader_request *tail;
    uint64_t depth; /* the number of queries, including the one in progress */
    bool stopping;
};

/* Takes over the connection. */
void reader_init(struct reader *r, const struct store_backend *backend, void *conn);
void reader_start(struct reader *r);
uint64_t reader_depth(struct reader *r);
/* Answers the queued queries, joins the thread and closes the connection. */
void reader_done(struct reader *r);

/* checker.c: a thread that checks the part of the store that the start did not check, and then ends. The
 * thread uses a separate connection; other threads use the connection only to interrupt a check. */
struct checker {
    const struct store_backend *backend;
    char *location;
    struct store_writer *writer;
    pthread_t thread;
    bool started;

    /* `lock` protects these members. */
    struct signal lock;
    void *conn; /* connection of the running check, or NULL */
    bool stopping;
    bool ended;
};
void checker_start(struct checker *c, const struct store_backend *backend, const char *location,
                   struct store_writer *writer);
/* Ends a running check; does nothing when none has begun. */
void checker_stop(struct checker *c);

struct storage {
    char id[STORE_ID_BYTES];
    bool is_new;
    char seal_key[SEAL_KEY_ID_BYTES];
    char *location;
    struct checker checker;
    struct store_writer writer;
    struct reader reader;
    atomic_bool backups_end;
};

#define LEASE_NAME     "daemon"
#define LEASE_TTL_US   (30 * US_PER_S)
#define LEASE_RENEW_US (10 * US_PER_S)

#endif

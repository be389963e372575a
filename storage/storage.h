/*
 * The interface of storage for the rest of the daemon: domain calls, no SQL. A backend (sqlite, fake, later
 * pgsql) is one const table of functions; everything above it (the writer thread with group commit, the
 * reader thread) is backend-independent. One conformance suite (tests/storage) runs against every backend.
 *
 * Threads: storage owns two. The writer applies change sets in the order of submission, many per transaction,
 * and reports each after its commit is durable. The reader answers page queries on a connection of its own.
 * Callbacks run on those threads: a callee only posts the result elsewhere.
 */
#ifndef STORAGE_STORAGE_H
#define STORAGE_STORAGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/attrs.h"
#include "base/env.h"
#include "base/seal.h"
#include "model/cluster.h"
#include "model/kept.h"
#include "model/webhook.h"

enum store_status {
    STORE_OK,
    STORE_NONE,      /* nothing there */
    STORE_CONFLICT,  /* a uniqueness rule, a stale version or a lease held by another */
    STORE_RETRY,     /* busy or serialization failure: the same call may succeed */
    STORE_UNCERTAIN, /* the connection was lost during commit: read back (pgsql) */
    STORE_BROKEN,    /* disk full, I/O error, corruption: stop writing, keep serving reads */
    STORE_NEWER,     /* the database was made by a newer version: refuse to start */
    STORE_LOCKED,    /* another process owns the store */
};
const char *store_status_name(enum store_status status);

/* ---- change sets ---- */

enum change_kind {
    CHANGE_CLUSTER_PUT, /* whole row; refused (STORE_CONFLICT) when a row with a higher version is stored */
    CHANGE_CLUSTER_DELETE,  /* by id */
    CHANGE_OPERATION_PUT,   /* whole row */
    CHANGE_OPERATION_PURGE, /* finished before purge.before */
    CHANGE_EVENT_APPEND,    /* the store gives the sequence and writes it back into the event */
    CHANGE_EVENT_PURGE,     /* see change_purge_events */
    CHANGE_SUBSCRIPTION_PUT,
    CHANGE_SUBSCRIPTION_DELETE, /* by id; its deliveries go with it */
    CHANGE_DELIVERY_PUT,
    CHANGE_DELIVERY_PURGE, /* final and updated before purge.before */
    CHANGE_TOKEN_PUT,
    CHANGE_TOKEN_DELETE, /* by id */
    CHANGE_ACCOUNT_PUT,
    CHANGE_PROJECT_PUT,
    CHANGE_REPLAY_PUT,   /* whole row; an older one of the same key gives way */
    CHANGE_REPLAY_PURGE, /* made before purge.before */
    CHANGE_AUDIT_APPEND, /* the store gives the sequence */
    CHANGE_AUDIT_PURGE,  /* older than purge.before, and all but the newest million */
    CHANGE_SEAL_KEY_PUT, /* by id: the key that what is stored was sealed with */
    CHANGE_KIND_MAX_,
};

struct change {
    enum change_kind kind;
    union {
        struct cluster *cluster;
        struct operation *operation;
        struct event *event;
        struct subscription *subscription;
        struct delivery *delivery;
        struct api_token *token;
        struct account_state *account;
        struct project_state *project;
        struct replay *replay;
        struct audit_entry *audit;
        char id[40];
        struct {
            wall_us before;
            int64_t newest; /* of events: how many stay */
            int64_t limit;  /* rows; what is over is left for the next purge */
        } purge;
    };
    bool left_over; /* of a purge, set by the store: the limit was met */
};

/*
 * Changes that become durable together or not at all. Built by one thread, handed over whole with
 * storage_submit(), given back through on_done, freed by the callee. Structs inside are owned by the set.
 */
struct change_set {
    struct change *changes;
    size_t count;
    size_t capacity;
    /*
     * Droppable sets (a client is waiting and can be refused) fail at once while the store is broken. The
     * others stay queued in order and are retried until they succeed.
     */
    bool droppable;
    void (*on_done)(struct change_set *set, enum store_status status); /* writer thread; owns set from here */
    void *ctx;
    struct change_set *next; /* the queue's */
};

struct change_set *change_set_new(void);
/* Frees the set and every struct in it. NULL is allowed. */
void change_set_free(struct change_set *set);
/* Each takes its argument. */
void change_put_cluster(struct change_set *set, struct cluster *c);
void change_delete_cluster(struct change_set *set, const char *id);
void change_put_operation(struct change_set *set, struct operation *op);
struct event *change_append_event(struct change_set *set,
                                  struct event *e); /* returns e, still owned by the set */
void change_put_subscription(struct change_set *set, struct subscription *s);
void change_delete_subscription(struct change_set *set, const char *id);
void change_put_delivery(struct change_set *set, struct delivery *d);
void change_put_token(struct change_set *set, struct api_token *t);
void change_delete_token(struct change_set *set, const char *id);
void change_put_account(struct change_set *set, struct account_state *a);
void change_put_project(struct change_set *set, struct project_state *p);
void change_put_replay(struct change_set *set, struct replay *p);
void change_append_audit(struct change_set *set, struct audit_entry *e);
void change_put_seal_key(struct change_set *set, const char *key_id);
/*
 * Events older than `before`, and all but the `newest` newest. An event that a pending delivery needs stays,
 * and every later one: the events that are kept have no gaps but for the jump of a restore, which counts as
 * no event, so that the oldest number shows what is gone. At most `limit` rows, the oldest first: other
 * transactions wait while a purge is written.
 */
void change_purge_events(struct change_set *set, wall_us before, int64_t newest, int64_t limit);
/* kind: one of the other CHANGE_..._PURGE. */
void change_purge(struct change_set *set, enum change_kind kind, wall_us before, int64_t limit);
/* Whether a purge of a committed set left something over. */
bool change_set_left_over(const struct change_set *set);

/* ---- page queries (reader thread) ---- */

/* One page looks at so many entries of the audit log, or events where actors or targets are asked for. */
enum { STORE_LOOKED_AT = 20000 };

struct event_query {
    int64_t after;  /* sequence, exclusive */
    int64_t before; /* the same from above; 0: up to the newest */
    bool newest_first;
    int limit;       /* 1..1000 */
    char **types;    /* NULL-terminated exact names or "cluster.*"; NULL: all. Owned by the query */
    char **projects; /* NULL: all; account events (no project) are included only when NULL */
    char *cluster;   /* name, or NULL */
    char **actors;   /* names of tokens that asked for what happened; NULL: all */
    char **targets;  /* what it is about: cluster, webhook, account, token or scope; NULL: all */
    /*
     * Id of a subscription, or NULL: only events from `since` on that were neither delivered to it nor wait
     * for that. Tests of webhooks are none of them.
     */
    char *undelivered_to;
    wall_us since; /* inclusive */
    wall_us until; /* exclusive; 0: until now */
};

struct event_page {
    struct event *events; /* array, in the order that was asked for */
    size_t count;
    int64_t cut; /* the page is not full, and ends here all the same: enough was looked at; 0: it does not */
    int64_t oldest; /* smallest sequence still kept, 0 when empty */
    int64_t newest; /* largest sequence given so far */
    int64_t base;   /* the store was restored when this was the newest one, and numbers below may have been
                       given   twice; 0: it never was */
};
void event_page_free(struct event_page *page);
void event_query_done(struct event_query *q);

/* Deliveries of a subscription, newest first. */
struct delivery_query {
    char subscription_id[40];
    char id[40];     /* this one only, or "" */
    char before[40]; /* the page behind this id; "" for the first one */
    int status;      /* an enum delivery_status; negative: all */
    int limit;       /* 1..1000 */
};

/* ---- everything at start ---- */

/* How many of the operations that ended are loaded at start; the others are asked for when they are wanted.
 */
enum { STORE_RECENT_OPERATIONS = 1000 };

/* Called once per stored struct, which is handed over. */
struct store_visitor {
    void (*cluster)(void *ctx, struct cluster *c);
    /* Those that are open, the newest that ended, and the one that each cluster names; after the clusters. */
    void (*operation)(void *ctx, struct operation *op);
    /* Before them: of those that ended only newer ones than this id are all loaded; "": all are. */
    void (*operations_left_out)(void *ctx, const char *id);
    void (*subscription)(void *ctx, struct subscription *s);
    void (*delivery)(void *ctx, struct delivery *d); /* pending ones only */
    void (*token)(void *ctx, struct api_token *t);
    void (*account)(void *ctx, struct account_state *a);
    void (*project)(void *ctx, struct project_state *p);
    void (*quarantined)(void *ctx, int64_t rows); /* rows that could not be read and were put aside, ever */
    void (*event_numbers)(void *ctx, int64_t oldest, int64_t newest); /* as in struct event_page */
    void *ctx;
};

/* ---- backend table ---- */

/* Text of a UUID with its NUL. */
enum { STORE_ID_BYTES = 37 };

/* The kinds of rows that are counted in a copy, and their names. */
enum { STORE_COUNTS = 7 };
extern const char *const store_count_names[STORE_COUNTS];

/* The content of a copy of a store. */
struct store_copy {
    char id[STORE_ID_BYTES]; /* the store's own; "": it has none yet */
    int schema;
    int64_t bytes;
    int64_t event_sequence; /* of the last event that it knows; 0: none */
    int64_t rows[STORE_COUNTS];
};

/* The description of a copy for people; the caller owns it. Any thread. */
json_t *store_copy_document(const struct store_copy *copy, const char *name, wall_us made_at);

struct store_lease {
    char name[64];
    char holder[40];
    wall_us until;
    int64_t fence; /* grows with each change of holder */
};

/*
 * A backend connection is used by one thread at a time. Errors: *ret_error (when not NULL) gets a message
 * without secrets that the caller frees.
 */
struct store_backend {
    const char *name;
    bool shared_by_replicas;
    /* Opens, checks integrity, migrates. `writer`: this connection may write. */
    enum store_status (*open)(const char *location, bool writer, void **ret_conn, char **ret_error);
    void (*close)(void *conn);
    /*
     * Whether opening it left a part unchecked, because the store is large; and that check, of everything, on
     * a connection that is used for nothing else. STORE_BROKEN: it is damaged; STORE_RETRY: there is no
     * verdict now. Another thread may interrupt the check while the connection is open. NULL: nothing is ever
     * left.
     */
    bool (*is_unchecked)(void *conn);
    enum store_status (*check)(void *conn, char **ret_error);
    void (*interrupt)(void *conn);
    enum store_status (*begin)(void *conn, char **ret_error);
    enum store_status (*apply)(void *conn, struct change *change, char **ret_error); /* inside begin/commit */
    /* Gives the transaction its number, inside begin/commit. */
    enum store_status (*mark)(void *conn, int64_t number, char **ret_error);
    enum store_status (*commit)(void *conn, char **ret_error);
    /*
     * The number of the last marked transaction that was committed, durably; 0: none. Outside a transaction.
     * After a commit that failed this shows whether it had effect.
     */
    enum store_status (*last_marked)(void *conn, int64_t *ret_number);
    void (*rollback)(void *conn);
    /* The store's own id, made at random when it was: copies have it, no other store does. */
    enum store_status (*identity)(void *conn, char ret_id[static STORE_ID_BYTES]);
    /* The id of the key (base/seal.h) that CHANGE_SEAL_KEY_PUT named last, "": none. */
    enum store_status (*seal_key)(void *conn, char ret_id[static SEAL_KEY_ID_BYTES]);
    enum store_status (*load)(void *conn, const struct store_visitor *visitor, char **ret_error);
    enum store_status (*events)(void *conn, const struct event_query *query, struct event_page *ret_page);
    enum store_status (*event_by_id)(void *conn, const char *id, struct event **ret_event);
    enum store_status (*deliveries)(void *conn, const struct delivery_query *query,
                                    struct delivery **ret_array, size_t *ret_count);
    enum store_status (*replay_by_key)(void *conn, const char *key, struct replay **ret_replay);
    /*
     * The next one in the order of keys, inside begin/commit: moves `key`, "" at first, to its key.
     * *ret_replay is NULL when the row cannot be read. STORE_NONE: that was all.
     */
    enum store_status (*replay_behind)(void *conn, char key[static REPLAY_DIGEST_BYTES],
                                       struct replay **ret_replay);
    enum store_status (*audit)(void *conn, const struct audit_query *query, struct audit_page *ret_page);
    enum store_status (*operations)(void *conn, const struct operation_query *query,
                                    struct operation_page *ret_page);
    /*
     * Takes or renews the lease `name` for `holder` until now + ttl. STORE_CONFLICT when another holder's
     * lease has not run out (then *lease says whose). A change of holder increments the fence (DB-23). Own
     * transaction.
     */
    enum store_status (*lease_take)(void *conn, const char *name, const char *holder, wall_us now,
                                    int64_t ttl_us, struct store_lease *ret_lease, char **ret_error);
    enum store_status (*lease_release)(void *conn, const char *name, const char *holder);
    /* See storage_backup; any thread. NULL: this store makes no copies. */
    enum store_status (*backup)(const char *location, const char *target, const atomic_bool *end,
                                struct store_copy *ret, char **ret_error);
};

extern const struct store_backend store_sqlite; /* location: path of the database file */
extern const struct store_backend store_fake;   /* location: names the shared in-memory state */

/* The fake fails the n-th apply or commit from now on, once (1 = the next). 0 switches it off. Tests only. */
void store_fake_fail_nth(void *conn, int nth, enum store_status status);
/* A commit that is made to fail so has effect all the same. Tests only. */
void store_fake_failed_commits_have_effect(void *conn, bool have);
/* last_marked fails so often from now on. Tests only. */
void store_fake_fail_last_marked(void *conn, int times);

/* ---- the running store ---- */

struct storage;

enum { STORE_TROUBLE_BYTES = 200 };

struct storage_metrics {
    uint64_t commits;
    uint64_t change_sets;
    uint64_t errors;
    uint64_t commit_us_total;
    uint64_t queue_depth;
    uint64_t queries; /* that the reader has not answered yet; for tests on a virtual clock */
    bool broken;
};

/*
 * Opens the writer and the reader connection and takes the lease "daemon" for `holder`. STORE_NEWER,
 * STORE_LOCKED and STORE_BROKEN come with a message in *ret_error (the caller frees it); nothing was changed
 * then.
 */
enum store_status storage_open(const struct store_backend *backend, const char *location, const char *holder,
                               const struct env *env, struct storage **ret_storage, char **ret_error);
/* Before storage_start, on the caller's thread. */
enum store_status storage_load(struct storage *s, const struct store_visitor *visitor, char **ret_error);
/* Starts the two threads, and the check of what the opening left unchecked. */
void storage_start(struct storage *s);
/* Commits what is queued, joins the threads, closes (readers first, DB-2). NULL is allowed. */
void storage_close(struct storage *s);

/* The store's own id; lives as long as `s`. Any thread. */
const char *storage_id(const struct storage *s);
/* The id of the key that the store was sealed with, as it was when it was opened; "": not known. Likewise. */
const char *storage_seal_key(const struct storage *s);
/*
 * Copies the store as it is at one moment to the file `target`, which is not there yet, and checks the copy:
 * one that is not sound leaves no file. Any thread, on a connection of its own; blocks for as long as that
 * takes, or until storage_end_backups, and stops no writer.
 */
enum store_status storage_backup(struct storage *s, const char *target, struct store_copy *ret,
                                 char **ret_error);
/* Copies under way end without a result, and so do those that begin. Any thread. */
void storage_end_backups(struct storage *s);
/* The number of the schema that this program writes. It upgrades stores of each smaller number, down to 1. */
int sqlite_schema(void);
/*
 * Checks all of an SQLite store, or of a backup of one, of any schema up to this program's, and prints what
 * it holds, what is wrong with it, what was put aside in it because it cannot be read, and what to do.
 * Changes nothing; also beside the daemon that has it open. *ret_sound: all is well. STORE_NEWER,
 * STORE_BROKEN: it is not known what it is.
 */
enum store_status sqlite_inspect(const char *location, FILE *out, bool *ret_sound, char **ret_error);

/* The sealed content of a store, beside the secrets of webhooks. */
struct store_sealed {
    char key_id[SEAL_KEY_ID_BYTES]; /* of the key that the store names, "": none */
    size_t tokens;                  /* of Cleura, one for an account at most */
    size_t answers;                 /* that are kept for an Idempotency-Key */
};
/*
 * Reads what is sealed in an SQLite store, or in a backup of one, of any schema up to this program's: each
 * webhook is visited, and taken. Rows that cannot be read are passed by. Blocking, on a connection of its
 * own, also beside the daemon. STORE_NEWER, STORE_BROKEN.
 */
enum store_status sqlite_sealed(const char *path, void (*webhook)(void *ctx, struct subscription *s),
                                void *ctx, struct store_sealed *ret, char **ret_error);

/* ---- copies of an SQLite store. Blocking, on a connection of their own ---- */

/* Checks all of a store, or of a backup of one, and describes it. STORE_NEWER, STORE_BROKEN. */
enum store_status sqlite_examine(const char *path, struct store_copy *ret, char **ret_error);
/*
 * Copies the store of one moment to the file `target`, which is not there yet, and checks the copy before it
 * gets that name: one that is not sound leaves no file. Also beside the daemon that has it open, which it
 * does not stop. When `end` is set meanwhile it ends without a result; NULL: it is not.
 */
enum store_status sqlite_backup(const char *location, const char *target, const atomic_bool *end,
                                struct store_copy *ret, char **ret_error);
/*
 * Puts a copy of the backup in the place of the store, which is there as `kept` afterwards. STORE_LOCKED:
 * a daemon has it open. A backup that is not whole and sound leaves the store as it is. Event numbers jump
 * ahead of all that the store before has given, or, where that cannot be read, by a number that no time
 * between two backups needs: no number is used twice. *ret describes the backup also after a failure to put
 * it in place; it is all zero when it is the backup that cannot be used.
 */
enum store_status sqlite_restore(const char *copy, const char *location, const char *kept,
                                 struct store_copy *ret, char **ret_error);

/* SQLite files up to so many bytes are checked as a whole before they are used (DB-11). Tests only. */
void store_sqlite_check_first_up_to(int64_t bytes);

/* Any thread. Takes the set; on_done is always called exactly once. */
void storage_submit(struct storage *s, struct change_set *set);
/* Any thread: whether the last commit failed and the store is being retried. */
bool storage_is_broken(struct storage *s);
/* Any thread: why it is, in words; "" when it is not. */
void storage_trouble(struct storage *s, char ret[static STORE_TROUBLE_BYTES]);
void storage_metrics(struct storage *s, struct storage_metrics *ret);

/* Any thread. The query is copied; on_done runs on the reader thread and takes the page. */
void storage_query_events(struct storage *s, const struct event_query *query,
                          void (*on_done)(void *ctx, enum store_status status, struct event_page *page),
                          void *ctx);
void storage_query_event(struct storage *s, const char *event_id,
                         void (*on_done)(void *ctx, enum store_status status, struct event *event),
                         void *ctx);
void storage_query_deliveries(struct storage *s, const struct delivery_query *query,
                              void (*on_done)(void *ctx, enum store_status status, struct delivery *array,
                                              size_t count),
                              void *ctx);
/* STORE_NONE, and NULL, when no such request is kept. */
void storage_query_replay(struct storage *s, const char *key,
                          void (*on_done)(void *ctx, enum store_status status, struct replay *replay),
                          void *ctx);

/* As for events: the query is copied, the page is taken. */
void storage_query_audit(struct storage *s, const struct audit_query *query,
                         void (*on_done)(void *ctx, enum store_status status, struct audit_page *page),
                         void *ctx);
void storage_query_operations(struct storage *s, const struct operation_query *query,
                              void (*on_done)(void *ctx, enum store_status status,
                                              struct operation_page *page),
                              void *ctx);

#endif

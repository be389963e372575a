/*
 * The interface of storage for all other folders. Its functions deal with clusters, operations and so on,
 * and show no SQL. A backend (sqlite, later pgsql) is one const table of functions. The writer thread
 * with its group commit and the reader thread do not depend on the backend. One conformance suite
 * (tests/storage) runs against every backend.
 *
 * Storage owns two threads. The writer applies change sets in the order of submission, many per transaction,
 * and reports each set after its commit is durable. The reader answers page queries on a connection of its
 * own. Callbacks run on these threads: a callback only posts the result to another thread.
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
#include "model/account_state.h"
#include "model/api_token.h"
#include "model/cluster.h"
#include "model/event.h"
#include "model/kept.h"
#include "model/operation.h"
#include "model/project_state.h"
#include "model/webhook.h"

enum store_status {
    STORE_OK,
    STORE_NONE,      /* the row was not found */
    STORE_CONFLICT,  /* a unique key exists already, the version is older, or another process has the lease */
    STORE_RETRY,     /* the store is busy, or a serialization failed: the same call may succeed later */
    STORE_UNCERTAIN, /* the connection was lost during a commit, so the result must be read (pgsql) */
    STORE_BROKEN,    /* the disk is full, or there was an I/O error or corruption: writes stop, reads
                      * continue */
    STORE_NEWER,     /* a newer version of shootd made the database, so the start is refused */
    STORE_LOCKED,    /* another process owns the store */
};
const char *store_status_name(enum store_status status);

/* ---- change sets ---- */

enum change_kind {
    CHANGE_CLUSTER_PUT,    /* stores a whole row; refused (STORE_CONFLICT) when the store already has this row
                            * with a higher version */
    CHANGE_CLUSTER_DELETE, /* deletes the row with this id */
    CHANGE_OPERATION_PUT,  /* stores a whole row */
    CHANGE_OPERATION_PURGE, /* deletes operations that ended before purge.before */
    CHANGE_EVENT_APPEND,    /* the store assigns the sequence and writes it into the event */
    CHANGE_EVENT_PURGE,     /* deletes old events, see change_purge_events */
    CHANGE_SUBSCRIPTION_PUT,
    CHANGE_SUBSCRIPTION_DELETE, /* deletes the row with this id, and its deliveries */
    CHANGE_STANDING_PUT, /* stores what the attempts tell about the receiver of a webhook; without effect when
                          * the webhook was deleted */
    CHANGE_DELIVERY_PUT,
    CHANGE_DELIVERY_PURGE, /* deletes ended deliveries that were updated before purge.before */
    CHANGE_TOKEN_PUT,
    CHANGE_TOKEN_DELETE, /* removes the token with this id */
    CHANGE_ACCOUNT_PUT,
    CHANGE_PROJECT_PUT,
    CHANGE_REPLAY_PUT,   /* stores a whole row, and replaces an older one with the same key */
    CHANGE_REPLAY_PURGE, /* deletes rows that were made before purge.before */
    CHANGE_AUDIT_APPEND, /* adds an entry, whose sequence the store assigns */
    CHANGE_AUDIT_PURGE,  /* deletes entries that are older than purge.before, and also all entries except the
                          * newest million */
    CHANGE_SEAL_KEY_PUT, /* stores the id of the key with which the stored secrets are sealed */
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
            char webhook[40];
            struct webhook_standing of;
        } standing;
        struct {
            wall_us before;
            int64_t newest; /* the number of events that are kept */
            int64_t limit;  /* the greatest number of rows to delete; further rows are left for the next
                             * purge */
        } purge;
    };
    bool left_over; /* set by the store after a purge: the limit was reached */
};

/*
 * Changes that become durable together or not at all. One thread makes the set and passes it to
 * storage_submit(). The store returns the set by a call of on_done, which then owns the set and must free
 * it. The set owns the structs in it.
 */
struct change_set {
    struct change *changes;
    size_t count;
    size_t capacity;
    /*
     * A droppable set fails at once while the store is broken, because its client waits and can be refused.
     * Other sets stay queued in order and are retried until they succeed.
     */
    bool droppable;
    /* Called on the writer thread; the called function owns the set. */
    void (*on_done)(struct change_set *set, enum store_status status);
    void *ctx;
    struct change_set *next; /* used by the queue */
};

struct change_set *change_set_new(void);
/* Frees the set and every struct in it. NULL is allowed. */
void change_set_free(struct change_set *set);
/* Each function takes over its argument. */
void change_put_cluster(struct change_set *set, struct cluster *c);
void change_delete_cluster(struct change_set *set, const char *id);
void change_put_operation(struct change_set *set, struct operation *op);
struct event *change_append_event(struct change_set *set,
                                  struct event *e); /* returns e, which the set owns */
void change_put_subscription(struct change_set *set, struct subscription *s);
void change_delete_subscription(struct change_set *set, const char *id);
void change_put_standing(struct change_set *set, const char *webhook,
                         const struct webhook_standing *standing);
void change_put_delivery(struct change_set *set, struct delivery *d);
void change_put_token(struct change_set *set, struct api_token *t);
void change_delete_token(struct change_set *set, const char *id);
void change_put_account(struct change_set *set, struct account_state *a);
void change_put_project(struct change_set *set, struct project_state *p);
void change_put_replay(struct change_set *set, struct replay *p);
void change_append_audit(struct change_set *set, struct audit_entry *e);
void change_put_seal_key(struct change_set *set, const char *key_id);
/*
 * Removes the events that are older than `before`, and also those that are not among the newest `newest`
 * events. An event that a pending delivery needs stays, and all later events stay, too. Therefore the
 * remaining events have no gaps, except after a restore, and the oldest number shows which events were
 * removed. Removes at most `limit` rows, the oldest first, because other transactions wait during a purge.
 */
void change_purge_events(struct change_set *set, wall_us before, int64_t newest, int64_t limit);
/* kind: one of the other CHANGE_..._PURGE. */
void change_purge(struct change_set *set, enum change_kind kind, wall_us before, int64_t limit);
/* Whether a purge of a committed set reached its limit. */
bool change_set_left_over(const struct change_set *set);

/* ---- page queries (reader thread) ---- */

/* The greatest number of entries that one query searches: in the audit log, or in events with a filter for
 * actors or targets. */
enum { STORE_LOOKED_AT = 20000 };

struct event_query {
    int64_t after;  /* only events with a larger sequence */
    int64_t before; /* only events with a smaller sequence; 0: up to the newest */
    bool newest_first;
    int limit;       /* 1..1000 */
    char **types;    /* exact names or "cluster.*", the last one is NULL; NULL: all types. The query owns the
                      * list */
    char **projects; /* NULL: all projects, and also the events of accounts (those events have no project) */
    char *cluster;   /* the name of a cluster, or NULL */
    char **actors;   /* names of tokens that caused the event; NULL: all */
    char **targets;  /* the objects that the event is about: cluster, webhook, account, token or scope; NULL:
                      * all */
    /* The id of a subscription, or NULL. Selects only events since `since` that have neither a successful
     * nor a pending delivery to this subscription. Test events of webhooks are excluded. */
    char *undelivered_to;
    wall_us since; /* the start of the period, inclusive; 0: no limit */
    wall_us until; /* the end of the period, exclusive; 0: until now */
};

struct event_page {
    struct event *events; /* the events, in the requested order */
    size_t count;
    int64_t cut;    /* the sequence at which a search ended because it reached its limit; otherwise 0 */
    int64_t oldest; /* the smallest stored sequence; 0: there is none */
    int64_t newest; /* the largest sequence that was assigned */
    int64_t base;   /* the sequence at which the last restore continued; a client's position below it may be
                     * that of an event that the restore removed; 0: the store was never restored */
};
void event_page_free(struct event_page *page);
void event_query_done(struct event_query *q);

/* Deliveries of a subscription, newest first. */
struct delivery_query {
    char subscription_id[40];
    char id[40];     /* selects only this delivery; "": all */
    char before[40]; /* selects only deliveries before this id; "" for the first page */
    int status;      /* an enum delivery_status; negative: all */
    int limit;       /* 1..1000 */
};

/* ---- load at start ---- */

/* The number of ended operations that are loaded at start; others are read on request. */
enum { STORE_RECENT_OPERATIONS = 1000 };

/* Each function is called once per stored struct and takes it over. */
struct store_visitor {
    void (*cluster)(void *ctx, struct cluster *c);
    /* Called for open operations, the newest ended operations, and the operations that clusters refer to.
     * These calls come after the calls for clusters. */
    void (*operation)(void *ctx, struct operation *op);
    /* Called before the first call of `operation`. All operations that are newer than the operation with
     * this id are loaded; "": all are loaded. */
    void (*operations_left_out)(void *ctx, const char *id);
    void (*subscription)(void *ctx, struct subscription *s);
    void (*delivery)(void *ctx, struct delivery *d); /* called for pending deliveries only */
    void (*token)(void *ctx, struct api_token *t);
    void (*account)(void *ctx, struct account_state *a);
    void (*project)(void *ctx, struct project_state *p);
    /* Called with the number of unreadable rows in the quarantine. */
    void (*quarantined)(void *ctx, int64_t rows);
    void (*event_numbers)(void *ctx, int64_t oldest, int64_t newest); /* as in struct event_page */
    void *ctx;
};

/* ---- table of a backend ---- */

/* Text of a UUID with its NUL. */
enum { STORE_ID_BYTES = 37 };

/* The kinds of rows that are counted for the description of a copy, and their names. */
enum { STORE_COUNTS = 7 };
extern const char *const store_count_names[STORE_COUNTS];

/* The content of a copy of a store. */
struct store_copy {
    char id[STORE_ID_BYTES]; /* the id of the store; "": the store has none yet */
    int schema;
    int64_t bytes;
    int64_t event_sequence; /* the sequence of the last event; 0: the store has no events */
    int64_t rows[STORE_COUNTS];
};

/* Returns the description of a copy for people; the caller owns it. Any thread. */
json_t *store_copy_document(const struct store_copy *copy, const char *name, wall_us made_at);

struct store_lease {
    char name[64];
    char holder[40];
    wall_us until;
    int64_t fence; /* a number that is incremented with each change of the holder */
};

/*
 * One thread at a time uses a backend connection. On errors, *ret_error (when not NULL) gets a message
 * without secrets; the caller frees it.
 */
struct store_backend {
    const char *name;
    bool shared_by_replicas;
    /* Opens the store, checks its integrity, migrates it. `writer`: this connection may write. */
    enum store_status (*open)(const char *location, bool writer, void **ret_conn, char **ret_error);
    void (*close)(void *conn);
    /* Whether the opening made the store. */
    bool (*is_new)(void *conn);
    /*
     * `is_unchecked` returns whether the opening left a part unchecked because the store is large. `check`
     * examines everything, on a connection that is used for nothing else; it returns STORE_BROKEN for a
     * damaged store, and STORE_RETRY when it has no result now. `interrupt` ends a running check; another
     * thread may call it while the connection is open.
     */
    bool (*is_unchecked)(void *conn);
    enum store_status (*check)(void *conn, char **ret_error);
    void (*interrupt)(void *conn);
    enum store_status (*begin)(void *conn, char **ret_error);
    /* Applies a change, between begin and commit. */
    enum store_status (*apply)(void *conn, struct change *change, char **ret_error);
    /* Stores the number of the transaction, between begin and commit. */
    enum store_status (*mark)(void *conn, int64_t number, char **ret_error);
    enum store_status (*commit)(void *conn, char **ret_error);
    /*
     * Returns the number of the last marked transaction whose commit is durable; 0: there is none. Called
     * outside a transaction. After a failed commit the number shows whether the commit had an effect.
     */
    enum store_status (*last_marked)(void *conn, int64_t *ret_number);
    void (*rollback)(void *conn);
    /* Gets the id of the store, a random id that was made together with the store. Only copies of the store
     * have the same id. */
    enum store_status (*identity)(void *conn, char ret_id[static STORE_ID_BYTES]);
    /* Returns the id of the key (base/seal.h) in the last CHANGE_SEAL_KEY_PUT; "": there is none. */
    enum store_status (*seal_key)(void *conn, char ret_id[static SEAL_KEY_ID_BYTES]);
    enum store_status (*load)(void *conn, const struct store_visitor *visitor, char **ret_error);
    enum store_status (*events)(void *conn, const struct event_query *query, struct event_page *ret_page);
    enum store_status (*event_by_id)(void *conn, const char *id, struct event **ret_event);
    enum store_status (*deliveries)(void *conn, const struct delivery_query *query,
                                    struct delivery **ret_array, size_t *ret_count);
    enum store_status (*replay_by_key)(void *conn, const char *key, struct replay **ret_replay);
    /*
     * Called between begin and commit. Reads the first row whose key is greater than `key`, and sets `key` to
     * the key of that row. The first call has `key` "". *ret_replay is NULL when the row cannot be read.
     * STORE_NONE: there are no more rows.
     */
    enum store_status (*replay_behind)(void *conn, char key[static REPLAY_DIGEST_BYTES],
                                       struct replay **ret_replay);
    enum store_status (*audit)(void *conn, const struct audit_query *query, struct audit_page *ret_page);
    enum store_status (*operations)(void *conn, const struct operation_query *query,
                                    struct operation_page *ret_page);
    /*
     * Takes or renews the lease `name` for `holder` until now + ttl. STORE_CONFLICT when the lease of another
     * holder has not expired; *lease then names the holder. A change of the holder increments the fence
     * (DB-23). This call has its own transaction.
     */
    enum store_status (*lease_take)(void *conn, const char *name, const char *holder, wall_us now,
                                    int64_t ttl_us, struct store_lease *ret_lease, char **ret_error);
    enum store_status (*lease_release)(void *conn, const char *name, const char *holder);
    /* Makes a copy, see storage_backup; any thread. */
    enum store_status (*backup)(const char *location, const char *target, const atomic_bool *end,
                                struct store_copy *ret, char **ret_error);
    /* Gets the id of the store that was copied, see storage_id_of_copy; any thread. */
    enum store_status (*id_of_copy)(const char *path, char ret_id[static STORE_ID_BYTES]);
};

extern const struct store_backend store_sqlite; /* its location is the path of the database file */

/* ---- the running store ---- */

struct storage;

enum { STORE_TROUBLE_BYTES = 200 };

struct storage_metrics {
    uint64_t commits;
    uint64_t change_sets;
    uint64_t errors;
    uint64_t commit_us_total;
    uint64_t queue_depth;
    uint64_t queries; /* the number of queries that have no answer yet; for tests with a virtual clock */
    bool broken;
};

/*
 * Opens the writer's and the reader's connection and takes the lease "daemon" for `holder`. With STORE_NEWER,
 * STORE_LOCKED and STORE_BROKEN, *ret_error is a message (the caller frees it), and nothing was changed.
 */
enum store_status storage_open(const struct store_backend *backend, const char *location, const char *holder,
                               const struct env *env, struct storage **ret_storage, char **ret_error);
/* Passes all stored structs to the visitor. Called before storage_start, on the caller's thread. */
enum store_status storage_load(struct storage *s, const struct store_visitor *visitor, char **ret_error);
/* Starts the two threads, and a third thread when the opening has not checked the whole store: it checks the
 * rest. */
void storage_start(struct storage *s);
/* Commits all queued sets, joins the threads, closes the connections (reader first, DB-2). NULL is
 * allowed. */
void storage_close(struct storage *s);

/* Returns the store's id; valid as long as `s`. Any thread. */
const char *storage_id(const struct storage *s);
/* Whether storage_open made the store: there was none, or an empty file. Any thread. */
bool storage_is_new(const struct storage *s);
/* Returns the id of the seal key that was in the store when it was opened; "": there was none. Valid as long
 * as `s`. Any thread. */
const char *storage_seal_key(const struct storage *s);
/*
 * Copies the store at one moment to the file `target`, which must not exist, and checks the copy. A damaged
 * copy leaves no file. Any thread, on a separate connection. Blocks until the end, or until
 * storage_end_backups, and does not block the writer.
 */
enum store_status storage_backup(struct storage *s, const char *target, struct store_copy *ret,
                                 char **ret_error);
/*
 * Gets the id of the store of which the file `path` is a copy; "" for a copy of a store without an id. Reads
 * only the first pages: a whole file is checked by sqlite_examine. STORE_BROKEN when the file is no copy that
 * this program can read. Blocks; any thread.
 */
enum store_status storage_id_of_copy(struct storage *s, const char *path, char ret_id[static STORE_ID_BYTES]);
/* Ends running copies and copies that begin later; they leave no file and return an error. Any thread. */
void storage_end_backups(struct storage *s);
/* Returns the number of the schema that this program writes. The program upgrades stores of every lower
 * number, down to 1. */
int sqlite_schema(void);
/*
 * Checks a whole SQLite store, or a backup, of any schema up to this program's. Prints its content, its
 * faults, the unreadable rows in the quarantine, and the advice. Changes nothing; may run while a daemon has
 * the store open. *ret_sound is true when no fault was found. STORE_NEWER or STORE_BROKEN: the file cannot be
 * identified.
 */
enum store_status sqlite_inspect(const char *location, FILE *out, bool *ret_sound, char **ret_error);

/* The sealed content of a store, without the secrets of webhooks. */
struct store_sealed {
    char key_id[SEAL_KEY_ID_BYTES]; /* the id of the key that the store names; "": there is none */
    size_t tokens;                  /* tokens of Cleura, at most one per account */
    size_t answers;                 /* stored answers for Idempotency-Keys */
};
/*
 * Reads the sealed content of an SQLite store, or a backup, of any schema up to this program's. `webhook` is
 * called for each webhook and takes it over. Unreadable rows are skipped. The function blocks, and uses a
 * separate connection; a daemon may have the store open. May return STORE_NEWER or STORE_BROKEN.
 */
enum store_status sqlite_sealed(const char *path, void (*webhook)(void *ctx, struct subscription *s),
                                void *ctx, struct store_sealed *ret, char **ret_error);

/* ---- copies of an SQLite store. Blocking, each on a separate connection ---- */

/* Checks a whole store, or a backup, and describes it. May return STORE_NEWER or STORE_BROKEN. */
enum store_status sqlite_examine(const char *path, struct store_copy *ret, char **ret_error);
/*
 * Copies the store at one moment to the file `target`, which must not exist. The copy gets this name after it
 * was checked; a damaged copy leaves no file. May run while a daemon has the store open; the daemon is not
 * blocked. When `end` becomes true, the call stops, leaves no file and returns an error. `end` may be NULL.
 */
enum store_status sqlite_backup(const char *location, const char *target, const atomic_bool *end,
                                struct store_copy *ret, char **ret_error);
/*
 * Replaces the store with a copy of the backup and renames the old store to `kept`. STORE_LOCKED: a daemon
 * has the store open. Every status but STORE_OK leaves the old store unchanged. STORE_OK with an *ret_error:
 * the backup is in place, but the directory could not be synced. Event numbers continue above all numbers
 * that the old store has assigned, so no number is used twice. When the old numbers cannot be read, the
 * numbers continue so far ahead that no event can have had them. *ret describes the backup, also when the
 * replacement failed; it is zeroed when the backup cannot be used.
 */
enum store_status sqlite_restore(const char *copy, const char *location, const char *kept,
                                 struct store_copy *ret, char **ret_error);

/* Sets the size up to which SQLite files are checked as a whole before they are used (DB-11). Used only by
 * tests. */
void store_sqlite_check_first_up_to(int64_t bytes);

/* Any thread. Takes over the set; on_done is always called exactly once. */
void storage_submit(struct storage *s, struct change_set *set);
/* Whether the last commit failed and the writer tries again. Any thread. */
bool storage_is_broken(struct storage *s);
/* Writes the reason as text to `ret`; "" when the store is not broken. Any thread. */
void storage_trouble(struct storage *s, char ret[static STORE_TROUBLE_BYTES]);
void storage_metrics(struct storage *s, struct storage_metrics *ret);

/* Any thread. The query is copied; on_done runs on the reader thread and takes over the page. */
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
/* on_done gets STORE_NONE and NULL when there is no stored answer for this key. */
void storage_query_replay(struct storage *s, const char *key,
                          void (*on_done)(void *ctx, enum store_status status, struct replay *replay),
                          void *ctx);

/* The query is copied; on_done runs on the reader thread and takes over the page. */
void storage_query_audit(struct storage *s, const struct audit_query *query,
                         void (*on_done)(void *ctx, enum store_status status, struct audit_page *page),
                         void *ctx);
void storage_query_operations(struct storage *s, const struct operation_query *query,
                              void (*on_done)(void *ctx, enum store_status status,
                                              struct operation_page *page),
                              void *ctx);

#endif

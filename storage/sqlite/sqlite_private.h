/*
 * Shared by the files of the SQLite backend only. A connection belongs to one thread at a time; there is
 * exactly one that writes per database (DB-2, DB-4), guarded by a file lock.
 */
#ifndef STORAGE_SQLITE_SQLITE_PRIVATE_H
#define STORAGE_SQLITE_SQLITE_PRIVATE_H

#include <sqlite3.h>
#include <stdbool.h>

#include "storage/storage.h"

enum { SQLITE_STORE_APPLICATION_ID = 0x73687464 }; /* "shtd" */

enum statement {
#define STATEMENT(name, sql) STATEMENT_##name,
#include "storage/sqlite/statements.h"
#undef STATEMENT
    STATEMENT_MAX_,
};

struct sqlite_conn {
    sqlite3 *db; /* NULL after a reopening failed */
    sqlite3_stmt *statements[STATEMENT_MAX_];
    char *path;
    int lock_fd; /* -1 on a reader */
    bool writer;
    bool was_open;           /* before: whatever made it suspect may be anywhere in the file */
    char id[STORE_ID_BYTES]; /* of the store that was opened first: a reopening finds it again, or fails */
    bool unchecked;          /* it is large, and only what is loaded at start was checked */
    bool needs_checkpoint;   /* what the log holds may not be on the disk (sqlite_last_marked) */
    bool suspect; /* an I/O error or corruption was seen: reopen and check before the next transaction (DB-14)
                   */
};

/* ---- handle.c: opening, settings, checks ---- */

/* Opens and verifies; on failure nothing is open and nothing was changed. A store is made at the first
 * opening only. */
enum store_status handle_open(struct sqlite_conn *conn, char **ret_error);
/* The same for a reader of a database of any version that is known; *ret_version is that version. Nothing is
 * prepared, and nothing was checked. */
enum store_status handle_open_to_read(struct sqlite_conn *conn, int *ret_version, char **ret_error);
void handle_close(struct sqlite_conn *conn);
/* Replaces what *ret_error says; NULL is allowed. */
void handle_explain(char **ret_error, const char *what);
/* Runs SQL without parameters; a failure is described as "`what`: reason". */
enum store_status handle_exec(struct sqlite_conn *conn, const char *sql, const char *what, char **ret_error);

enum store_status sqlite_check(void *conn, char **ret_error);
void sqlite_stop_check(void *conn); /* any thread */
/* The first column of the first row as text, NULL when there is none or it cannot be read; the caller frees
 * it. */
char *handle_text(struct sqlite_conn *conn, const char *sql);
enum store_status sqlite_identity(void *conn, char ret_id[static STORE_ID_BYTES]);

/* ---- lease.c: one process per database (DB-15) ---- */

/* STORE_OK with an open descriptor, STORE_LOCKED, or STORE_BROKEN. */
enum store_status lock_take(const char *database, int *ret_fd, char **ret_error);
void lock_release(int fd);

/* ---- packed_ids.c ---- */

/* Gives the connection id_packed and id_unpacked, which statements and migrations use; an SQLite code. */
int packed_ids_register(sqlite3 *db);

/* ---- migrate.c ---- */

/* The version that this binary writes. */
int migrate_newest(void);
/* Brings a verified database from `from` to `to`, one transaction per step. */
enum store_status migrate_run(sqlite3 *db, int from, int to, char **ret_error);

/* ---- backup.c ---- */

/* Copies the database to backup-v<version>-<its name> beside it, checked and synced, replacing an older copy.
 */
enum store_status backup_make(sqlite3 *db, const char *path, int version, char **ret_error);

/* ---- quarantine.c: rows that cannot be read ---- */

enum row_kind {
    ROW_CLUSTER,
    ROW_OPERATION,
    ROW_SUBSCRIPTION,
    ROW_TOKEN,
    ROW_ACCOUNT,
    ROW_PROJECT,
    ROW_DELIVERY,
    ROW_KIND_MAX_,
};
const char *row_kind_name(enum row_kind kind);

struct bad_row {
    enum row_kind kind;
    sqlite3_value *key;
    char *reason;
};
/* Zeroed: empty. */
struct quarantine {
    struct bad_row *rows;
    size_t count;
};
/* Copies. */
void quarantine_note(struct quarantine *q, enum row_kind kind, sqlite3_value *key, const char *reason);
/* Moves the rows that were noted, inside the caller's transaction. */
enum store_status quarantine_move(struct sqlite_conn *conn, const struct quarantine *q);
void quarantine_done(struct quarantine *q);

/* ---- statement.c: binding and running ---- */

/* Values are bound in order; the first failure is kept and reported when the statement runs. */
struct binder {
    struct sqlite_conn *conn;
    sqlite3_stmt *stmt;
    int next;
    int rc;
};

enum store_status statement_prepare_all(struct sqlite_conn *conn, char **ret_error);
void statement_finalize_all(struct sqlite_conn *conn);
struct binder statement_start(struct sqlite_conn *conn, enum statement which);
/* Borrowed until the statement was reset; NULL binds NULL. */
void bind_text(struct binder *b, const char *text);
void bind_blob(struct binder *b, const void *bytes, size_t len);
void bind_int(struct binder *b, int64_t value);
/* STORE_OK: a row is there; STORE_NONE: no more, and the statement was reset; else a failure, likewise. */
enum store_status statement_step(struct binder *b, char **ret_error);
/* Resets a statement that was not stepped to its end. */
void statement_end(struct binder *b);
/* For statements that return no rows. */
enum store_status statement_run(struct binder *b, char **ret_error);
/*
 * People's name for an error that they can do something about; NULL: SQLite's message is the best there is.
 */
const char *sqlite_trouble(int rc, int os_error);
/* Maps a result code, notes a suspect connection, describes. */
enum store_status sqlite_fail(struct sqlite_conn *conn, int rc, const char *what, char **ret_error);

/* Column text: copied for the caller, or into a fixed id. */
char *column_text(sqlite3_stmt *stmt, int column);
void column_copy(sqlite3_stmt *stmt, int column, char *target, size_t size);

/* ---- transactions, apply.c, rows.c, pages.c, lease.c ---- */

enum store_status sqlite_begin(void *conn, char **ret_error);
enum store_status sqlite_commit(void *conn, char **ret_error);
void sqlite_rollback(void *conn);
enum store_status sqlite_apply(void *conn, struct change *change, char **ret_error);
enum store_status sqlite_load(void *conn, const struct store_visitor *visitor, char **ret_error);
/* Tells that a document is the one that was written, byte for byte. */
enum { DOC_DIGEST_BYTES = 16 };
void doc_digest(const char *doc, size_t len, unsigned char ret_digest[static DOC_DIGEST_BYTES]);
/* Column 1, or NULL when it is no document; `fault` says why. */
json_t *row_doc(sqlite3_stmt *stmt, struct json_fault *fault);
enum store_status sqlite_event_numbers(struct sqlite_conn *conn, int64_t *ret_oldest, int64_t *ret_newest);
enum store_status sqlite_events(void *conn, const struct event_query *query, struct event_page *ret_page);
enum store_status sqlite_event_by_id(void *conn, const char *id, struct event **ret_event);
enum store_status sqlite_deliveries(void *conn, const struct delivery_query *query,
                                    struct delivery **ret_array, size_t *ret_count);
enum store_status sqlite_operations(void *conn, const struct operation_query *query,
                                    struct operation_page *ret_page);
enum store_status sqlite_replay_by_key(void *conn, const char *key, struct replay **ret_replay);
enum store_status sqlite_replay_behind(void *conn, char key[static REPLAY_DIGEST_BYTES],
                                       struct replay **ret_replay);
enum store_status sqlite_seal_key(void *conn, char ret_id[static SEAL_KEY_ID_BYTES]);

enum store_status sqlite_audit(void *conn, const struct audit_query *query, struct audit_page *ret_page);
enum store_status sqlite_lease_take(void *conn, const char *name, const char *holder, wall_us now,
                                    int64_t ttl_us, struct store_lease *ret_lease, char **ret_error);
enum store_status sqlite_lease_release(void *conn, const char *name, const char *holder);

#endif

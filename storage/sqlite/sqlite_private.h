/*
 * Shared only by the files of the SQLite backend. One thread at a time uses a connection. Each database has
 * exactly one writing connection (DB-2, DB-4); a file lock guarantees that.
 */
#ifndef STORAGE_SQLITE_SQLITE_PRIVATE_H
#define STORAGE_SQLITE_SQLITE_PRIVATE_H

#include <sqlite3.h>
#include <stdbool.h>

#include "storage/storage.h"

enum { SQLITE_STORE_APPLICATION_ID = 0x73687464 }; /* the letters "shtd" */

enum statement {
#define STATEMENT(name, sql) STATEMENT_##name,
#include "storage/sqlite/statements.h"
#undef STATEMENT
    STATEMENT_MAX_,
};

struct sqlite_conn {
    sqlite3 *db; /* NULL: the file could not be opened again */
    sqlite3_stmt *statements[STATEMENT_MAX_];
    char *path;
    int lock_fd; /* -1 for a reader */
    bool writer;
    bool was_open;           /* the file was opened before: all of it is checked, because damage may be
                              * anywhere */
    char id[STORE_ID_BYTES]; /* the id of the store at the first opening; a later opening must find the same
                              * id */
    bool is_new;             /* the first opening made the store */
    bool unchecked;          /* the store is large, and the opening checked only the tables that a start
                              * needs */
    bool needs_checkpoint;   /* the content of the write-ahead log may not be on the disk
                              * (sqlite_last_marked) */
    bool suspect; /* there was an I/O error or corruption: the file is reopened and checked before the next
                   * transaction (DB-14) */
};

/* ---- handle.c: opening, settings, checks ---- */

/* Opens and checks the file. After a failure nothing is open and nothing was changed. A new store is created
 * only when the connection is opened for the first time. */
enum store_status handle_open(struct sqlite_conn *conn, char **ret_error);
/* Opens a database of any known version only to read it, and returns the version in *ret_version. Prepares no
 * statements and checks nothing. */
enum store_status handle_open_to_read(struct sqlite_conn *conn, int *ret_version, char **ret_error);
void handle_close(struct sqlite_conn *conn);
/* Replaces the text in *ret_error; NULL is allowed. */
void handle_explain(char **ret_error, const char *what);
/* Runs SQL without parameters; a failure is described as "`what`: reason". */
enum store_status handle_exec(struct sqlite_conn *conn, const char *sql, const char *what, char **ret_error);

enum store_status sqlite_check(void *conn, char **ret_error);
void sqlite_stop_check(void *conn); /* may be called on any thread */
/* Returns the first column of the first row as text, NULL when there is no row or it cannot be read. The
 * caller frees it. */
char *handle_text(struct sqlite_conn *conn, const char *sql);
enum store_status sqlite_identity(void *conn, char ret_id[static STORE_ID_BYTES]);

/* See storage_id_of_copy. */
enum store_status sqlite_id_of_copy(const char *path, char ret_id[static STORE_ID_BYTES]);

/* ---- lease.c: one process per database (DB-15) ---- */

/* Returns STORE_OK with an open descriptor, STORE_LOCKED, or STORE_BROKEN. */
enum store_status lock_take(const char *database, int *ret_fd, char **ret_error);
void lock_release(int fd);
/* Whether the lock file still has its name. After it was removed, another process can lock a new file. */
bool lock_in_place(const char *database, int fd);

/* ---- packed_ids.c ---- */

/* Registers id_packed and id_unpacked, which statements and migrations use. Returns an SQLite code. */
int packed_ids_register(sqlite3 *db);

/* ---- migrate.c ---- */

/* Returns the schema version that this program writes. */
int migrate_newest(void);
/* Upgrades a verified database from `from` to `to`, one transaction per step. */
enum store_status migrate_run(sqlite3 *db, int from, int to, char **ret_error);

/* ---- backup.c ---- */

/* Copies the database to backup-v<version>-<its name> in the same folder, checked and synced. Replaces an
 * older copy. */
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
/* A zeroed struct is empty. */
struct quarantine {
    struct bad_row *rows;
    size_t count;
};
/* Adds a row; copies its arguments. */
void quarantine_note(struct quarantine *q, enum row_kind kind, sqlite3_value *key, const char *reason);
/* Moves the rows that were noted to the quarantine, inside the caller's transaction. */
enum store_status quarantine_move(struct sqlite_conn *conn, const struct quarantine *q);
void quarantine_done(struct quarantine *q);

/* ---- statement.c: binding and running ---- */

/* Values are bound in order. The first failure of a bind is stored, and reported when the statement runs. */
struct binder {
    struct sqlite_conn *conn;
    enum statement which;
    sqlite3_stmt *stmt;
    int next;
    int rc;
};

/* Prepares all statements, which shows whether the schema has all tables and columns that they need. A
 * connection without this call prepares a statement when it first uses it. */
enum store_status statement_prepare_all(struct sqlite_conn *conn, char **ret_error);
void statement_finalize_all(struct sqlite_conn *conn);
struct binder statement_start(struct sqlite_conn *conn, enum statement which);
/* The text must stay valid until the statement is reset; NULL binds NULL. */
void bind_text(struct binder *b, const char *text);
void bind_blob(struct binder *b, const void *bytes, size_t len);
void bind_int(struct binder *b, int64_t value);
/* Returns STORE_OK when there is a row, and STORE_NONE when there are no more rows. Any other status is a
 * failure. When the result is not STORE_OK, the statement has been reset. */
enum store_status statement_step(struct binder *b, char **ret_error);
/* Resets a statement before its end. */
void statement_end(struct binder *b);
/* Runs a statement that returns no rows. */
enum store_status statement_run(struct binder *b, char **ret_error);
/* Returns a description of an error that users can correct; NULL: the caller uses SQLite's message. */
const char *sqlite_trouble(int rc, int os_error);
/* Maps a result code to a status, marks a suspect connection, and describes the error. */
enum store_status sqlite_fail(struct sqlite_conn *conn, int rc, const char *what, char **ret_error);

/* Returns the text of a column: as a copy that the caller owns, or in an id of fixed size. */
char *column_text(sqlite3_stmt *stmt, int column);
void column_copy(sqlite3_stmt *stmt, int column, char *target, size_t size);

/* ---- transaction.c ---- */

enum store_status sqlite_begin(void *conn, char **ret_error);
enum store_status sqlite_commit(void *conn, char **ret_error);
void sqlite_rollback(void *conn);
/* sqlite_mark stores a number with the current transaction. sqlite_last_marked returns the number of the last
 * marked transaction that had an effect. */
enum store_status sqlite_mark(void *conn, int64_t number, char **ret_error);
enum store_status sqlite_last_marked(void *conn, int64_t *ret_number);

/* ---- apply.c, rows.c, pages.c, sqlite_operations.c, lease.c ---- */

enum store_status sqlite_apply(void *conn, struct change *change, char **ret_error);
enum store_status sqlite_load(void *conn, const struct store_visitor *visitor, char **ret_error);
/* Size of the digest that shows whether a document is unchanged. */
enum { DOC_DIGEST_BYTES = 16 };
void doc_digest(const char *doc, size_t len, unsigned char ret_digest[static DOC_DIGEST_BYTES]);
/* Parses column 1. When the column is no document, returns NULL, with the reason in `fault`. */
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

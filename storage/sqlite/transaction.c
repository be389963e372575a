/*
 * Begins, commits and rolls back the transactions of a connection, and finds out whether the last commit had
 * an effect. A connection that had an I/O error is opened again before its next transaction.
 */
#include "storage/sqlite/sqlite_private.h"

#include "base/log.h"
#include "base/mem.h"

#include <assert.h>
#include <errno.h>
#include <unistd.h>

/* Opens the file again after an I/O error or corruption, because the handle may have a wrong state. The new
 * handle checks the file first (DB-14). */
static enum store_status reopen_suspect(struct sqlite_conn *conn, char **ret_error)
{
    if (!conn->suspect)
        return STORE_OK;
    char *CLEANUP_FREE error = NULL;
    handle_close(conn);
    if (handle_open(conn, &error) == STORE_OK)
        return STORE_OK;
    log_warning("the database cannot be opened again", "error", error);
    handle_explain(ret_error, "the database cannot be opened again");
    conn->suspect = true;
    return STORE_BROKEN;
}

/* Checks that the database and its lock file still have their names. After the database was removed, SQLite
 * would continue to use it, and all later writes would be lost when the process ends. After the lock file was
 * removed, a second daemon could write the same database. */
static enum store_status check_in_place(struct sqlite_conn *conn, char **ret_error)
{
    int moved = 0;
    const bool has_name =
        sqlite3_file_control(conn->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && !moved;
    if (has_name && lock_in_place(conn->path, conn->lock_fd))
        return STORE_OK;
    const bool is_denied = access(conn->path, F_OK) < 0 && errno == EACCES;
    handle_explain(ret_error,
                   is_denied  ? "permission denied: owner and mode of the state directory were changed"
                   : has_name ? "the lock file was moved or removed while shootd was running: stop "
                                "all shootd processes that use this database, then start one"
                              : "the database file was moved or removed while shootd was running");
    return STORE_BROKEN;
}

enum store_status sqlite_begin(void *arg, char **ret_error)
{
    struct sqlite_conn *conn = arg;
    enum store_status status = reopen_suspect(conn, ret_error);
    if (status == STORE_OK && conn->writer)
        status = check_in_place(conn, ret_error);
    if (status != STORE_OK)
        return status;
    return handle_exec(conn, conn->writer ? "BEGIN IMMEDIATE" : "BEGIN", "begin", ret_error);
}

enum store_status sqlite_commit(void *arg, char **ret_error)
{
    return handle_exec(arg, "COMMIT", "commit", ret_error);
}

enum store_status sqlite_mark(void *arg, int64_t number, char **ret_error)
{
    struct binder b = statement_start(arg, STATEMENT_MARK);
    bind_int(&b, number);
    return statement_run(&b, ret_error);
}

/*
 * After an I/O error, the number of the last marked transaction is in the write-ahead log, but perhaps not on
 * the disk, because a failed fsync cannot be repeated. The checkpoint writes this number to the database
 * file, with a new fsync.
 */
enum store_status sqlite_last_marked(void *arg, int64_t *ret_number)
{
    struct sqlite_conn *conn = arg;
    assert(conn->writer);
    conn->needs_checkpoint |= conn->suspect;
    enum store_status status = reopen_suspect(conn, NULL);
    if (status == STORE_OK && conn->needs_checkpoint) {
        int rc = sqlite3_wal_checkpoint_v2(conn->db, NULL, SQLITE_CHECKPOINT_FULL, NULL, NULL);
        if (rc != SQLITE_OK)
            status = sqlite_fail(conn, rc, "checkpoint", NULL);
        conn->needs_checkpoint = status != STORE_OK;
    }
    if (status != STORE_OK)
        return STORE_BROKEN;
    struct binder b = statement_start(conn, STATEMENT_LAST_MARKED);
    status = statement_step(&b, NULL);
    if (status == STORE_OK) {
        *ret_number = sqlite3_column_int64(b.stmt, 0);
        statement_end(&b);
    }
    return status == STORE_OK ? STORE_OK : STORE_BROKEN;
}

void sqlite_rollback(void *arg)
{
    struct sqlite_conn *conn = arg;
    /* After a full disk or an I/O error, SQLite may already have rolled back. */
    if (conn->db && !sqlite3_get_autocommit(conn->db))
        (void)handle_exec(conn, "ROLLBACK", "rollback", NULL);
}

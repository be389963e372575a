/*
 * Prepares, binds and steps statements, and maps result codes. Runs on the connection's thread. Every
 * statement must be reset, because an open one would prevent a checkpoint of the WAL (DB-8).
 */
#include "storage/sqlite/sqlite_private.h"

#include "base/ids.h"
#include "base/mem.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>

static const char *const statement_sql[STATEMENT_MAX_] = {
#define STATEMENT(name, sql) [STATEMENT_##name] = sql,
#include "storage/sqlite/statements.h"
#undef STATEMENT
};

static const char *const statement_names[STATEMENT_MAX_] = {
#define STATEMENT(name, sql) [STATEMENT_##name] = #name,
#include "storage/sqlite/statements.h"
#undef STATEMENT
};

struct rc_meaning {
    int rc; /* primary result code */
    enum store_status status;
    bool suspect;
};

/* An SQLite code that is not in this table means STORE_BROKEN and makes the connection suspect. */
static const struct rc_meaning meanings[] = {
    {SQLITE_BUSY, STORE_RETRY, false},          {SQLITE_LOCKED, STORE_RETRY, false},
    {SQLITE_INTERRUPT, STORE_RETRY, false},     {SQLITE_SCHEMA, STORE_RETRY, false},
    {SQLITE_CONSTRAINT, STORE_CONFLICT, false}, {SQLITE_TOOBIG, STORE_CONFLICT, false},
    {SQLITE_MISMATCH, STORE_CONFLICT, false},   {SQLITE_FULL, STORE_BROKEN, false},
};

/* SQLite enlarges the index file of its WAL by a write at the end of that file. When this write fails, the
 * disk is full, although the error code does not say so. */
const char *sqlite_trouble(int rc, int os_error)
{
    if (rc == SQLITE_FULL || rc == SQLITE_IOERR_SHMSIZE || os_error == ENOSPC)
        return "disk full";
    if (os_error == EDQUOT)
        return "disk quota used up";
    if (os_error == EROFS || (rc & 0xff) == SQLITE_READONLY)
        return "file or file system is read-only";
    return os_error == EFBIG ? "file size limit reached" : NULL;
}

/* Returns the system's error of a failed commit. SQLite itself does not keep this error, but the file object
 * still has it. */
static int os_error_of(sqlite3 *db)
{
    static const int files[] = {SQLITE_FCNTL_JOURNAL_POINTER, SQLITE_FCNTL_FILE_POINTER};
    int os_error = sqlite3_system_errno(db);
    for (size_t i = 0; !os_error && i < ARRAY_LEN(files); i++) {
        sqlite3_file *file = NULL;
        if (sqlite3_file_control(db, "main", files[i], &file) == SQLITE_OK && file && file->pMethods)
            (void)file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &os_error);
    }
    return os_error;
}

static char *describe_statement(const struct sqlite_conn *conn, int rc, const char *what)
{
    bool os = (rc & 0xff) == SQLITE_IOERR || (rc & 0xff) == SQLITE_CANTOPEN || (rc & 0xff) == SQLITE_FULL;
    const char *trouble = sqlite_trouble(rc, conn->db && os ? os_error_of(conn->db) : 0);
    if (trouble)
        return mem_printf("%s: %s", what, trouble);
    return mem_printf("%s: %s (SQLite error %d)", what,
                      conn->db ? sqlite3_errmsg(conn->db) : sqlite3_errstr(rc), rc);
}

enum store_status sqlite_fail(struct sqlite_conn *conn, int rc, const char *what, char **ret_error)
{
    if (ret_error) {
        free(*ret_error);
        *ret_error = describe_statement(conn, rc, what);
    }
    for (size_t i = 0; i < ARRAY_LEN(meanings); i++) {
        if (meanings[i].rc == (rc & 0xff)) {
            conn->suspect |= meanings[i].suspect;
            return meanings[i].status;
        }
    }
    conn->suspect = true;
    return STORE_BROKEN;
}

/* Returns an SQLite code. */
static int prepare(struct sqlite_conn *conn, enum statement which)
{
    assert(!conn->statements[which]);
    return sqlite3_prepare_v3(conn->db, statement_sql[which], -1, SQLITE_PREPARE_PERSISTENT,
                              &conn->statements[which], NULL);
}

enum store_status statement_prepare_all(struct sqlite_conn *conn, char **ret_error)
{
    for (int i = 0; i < STATEMENT_MAX_; i++) {
        int rc = prepare(conn, (enum statement)i);
        if (rc != SQLITE_OK) {
            (void)sqlite_fail(conn, rc, statement_names[i], ret_error);
            return STORE_BROKEN;
        }
    }
    return STORE_OK;
}

void statement_finalize_all(struct sqlite_conn *conn)
{
    for (int i = 0; i < STATEMENT_MAX_; i++) {
        (void)sqlite3_finalize(conn->statements[i]);
        conn->statements[i] = NULL;
    }
}

struct binder statement_start(struct sqlite_conn *conn, enum statement which)
{
    assert(which < STATEMENT_MAX_);
    int rc = conn->db && !conn->statements[which] ? prepare(conn, which) : SQLITE_OK;
    return (struct binder){
        .conn = conn, .which = which, .stmt = conn->statements[which], .next = 1, .rc = rc};
}

static void bound(struct binder *b, int rc)
{
    b->next++;
    if (b->rc == SQLITE_OK)
        b->rc = rc;
}

void bind_text(struct binder *b, const char *text)
{
    bound(b, sqlite3_bind_text(b->stmt, b->next, text, -1, SQLITE_STATIC));
}

void bind_blob(struct binder *b, const void *bytes, size_t len)
{
    bound(b, sqlite3_bind_blob64(b->stmt, b->next, bytes, len, SQLITE_STATIC));
}

void bind_int(struct binder *b, int64_t value)
{
    bound(b, sqlite3_bind_int64(b->stmt, b->next, value));
}

void statement_end(struct binder *b)
{
    (void)sqlite3_reset(b->stmt);
    (void)sqlite3_clear_bindings(b->stmt);
}

enum store_status statement_step(struct binder *b, char **ret_error)
{
    if (!b->conn->db)
        return sqlite_fail(b->conn, SQLITE_CANTOPEN, "the database is not open", ret_error);
    if (!b->stmt)
        return sqlite_fail(b->conn, b->rc, statement_names[b->which], ret_error);
    /* each parameter must have been bound exactly once */
    assert(b->next - 1 == sqlite3_bind_parameter_count(b->stmt));
    int rc = b->rc == SQLITE_OK ? sqlite3_step(b->stmt) : b->rc;
    if (rc == SQLITE_ROW)
        return STORE_OK;
    enum store_status status = STORE_NONE;
    if (rc != SQLITE_DONE)
        status = sqlite_fail(b->conn, rc, statement_names[b->which], ret_error);
    statement_end(b);
    return status;
}

enum store_status statement_run(struct binder *b, char **ret_error)
{
    enum store_status status = statement_step(b, ret_error);
    if (status == STORE_OK)
        statement_end(b);
    return status == STORE_NONE ? STORE_OK : status;
}

char *column_text(sqlite3_stmt *stmt, int column)
{
    const unsigned char *text = sqlite3_column_text(stmt, column);
    return text ? mem_strndup((const char *)text, (size_t)sqlite3_column_bytes(stmt, column)) : NULL;
}

void column_copy(sqlite3_stmt *stmt, int column, char *target, size_t size)
{
    const unsigned char *text = sqlite3_column_text(stmt, column);
    (void)snprintf(target, size, "%s", text ? (const char *)text : "");
}

/*
 * Opens an SQLite handle: settings (DB-6), the checks before the first change, migration. Runs on the thread
 * that opens the store, or on the writer's thread when a suspect handle is opened again. Nothing is written
 * before the file was recognized as a store of shootd and was checked.
 */
#include "storage/sqlite/sqlite_private.h"

#include "base/log.h"
#include "base/mem.h"

#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <uuid/uuid.h>

/* These settings do not write to the file. */
static const char settings_common[] = "PRAGMA busy_timeout = 5000;"
                                      "PRAGMA foreign_keys = ON;"
                                      "PRAGMA trusted_schema = OFF;"
                                      "PRAGMA cell_size_check = ON;"
                                      "PRAGMA temp_store = MEMORY;"
                                      "PRAGMA cache_size = -4096;"
                                      "PRAGMA mmap_size = 0;";
/* Deleted rows may contain sealed secrets; secure_delete overwrites their bytes. */
static const char settings_writer[] = "PRAGMA synchronous = FULL;"
                                      "PRAGMA secure_delete = ON;"
                                      "PRAGMA journal_size_limit = 67108864;"
                                      "PRAGMA wal_autocheckpoint = 1000;";
static const char settings_reader[] = "PRAGMA query_only = ON;";

enum store_status handle_exec(struct sqlite_conn *conn, const char *sql, const char *what, char **ret_error)
{
    int rc = sqlite3_exec(conn->db, sql, NULL, NULL, NULL);
    return rc == SQLITE_OK ? STORE_OK : sqlite_fail(conn, rc, what, ret_error);
}

void handle_explain(char **ret_error, const char *what)
{
    if (ret_error)
        mem_set_str(ret_error, what);
}

static enum store_status refuse_store(struct sqlite_conn *conn, enum store_status status, const char *why,
                                      char **ret_error)
{
    if (ret_error) {
        free(*ret_error);
        *ret_error = mem_printf("%s: %s", conn->path, why);
    }
    return status;
}

/* Gets the first column of the first row, as text; NULL when there is no row. */
static enum store_status first_text(struct sqlite_conn *conn, const char *sql, char **ret_text,
                                    char **ret_error)
{
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(conn->db, sql, -1, &stmt, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(stmt);
    char *text = rc == SQLITE_ROW ? column_text(stmt, 0) : NULL;
    enum store_status status = STORE_OK;
    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        status = sqlite_fail(conn, rc, conn->path, ret_error);
    (void)sqlite3_finalize(stmt);
    if (status == STORE_OK)
        *ret_text = text;
    return status;
}

static enum store_status first_int(struct sqlite_conn *conn, const char *sql, int64_t *ret_value,
                                   char **ret_error)
{
    char *CLEANUP_FREE text = NULL;
    enum store_status status = first_text(conn, sql, &text, ret_error);
    if (status == STORE_OK)
        *ret_value = text ? strtoll(text, NULL, 10) : 0;
    return status;
}

static enum store_status set_up(struct sqlite_conn *conn, char **ret_error)
{
    (void)sqlite3_extended_result_codes(conn->db, 1);
    /* A file that was not yet recognized as a store of shootd may belong to another application. When such a
     * file is closed, its WAL must not be checkpointed. */
    (void)sqlite3_db_config(conn->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    (void)sqlite3_db_config(conn->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    (void)sqlite3_db_config(conn->db, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
    (void)sqlite3_db_config(conn->db, SQLITE_DBCONFIG_DQS_DDL, 0, NULL);
    (void)sqlite3_db_config(conn->db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
    int rc = packed_ids_register(conn->db);
    return rc == SQLITE_OK ? handle_exec(conn, settings_common, conn->path, ret_error)
                           : sqlite_fail(conn, rc, conn->path, ret_error);
}

/* Accepts a store of shootd of a known version, or an empty file (then *ret_version is 0). */
static enum store_status recognize(struct sqlite_conn *conn, int *ret_version, char **ret_error)
{
    int64_t application = 0;
    int64_t version = 0;
    int64_t objects = 0;
    enum store_status status = first_int(conn, "PRAGMA application_id", &application, ret_error);
    if (status == STORE_OK)
        status = first_int(conn, "PRAGMA user_version", &version, ret_error);
    if (status == STORE_OK)
        status = first_int(conn, "SELECT count(*) FROM sqlite_schema", &objects, ret_error);
    if (status != STORE_OK)
        return status == STORE_RETRY ? STORE_LOCKED : STORE_BROKEN;
    bool empty = application == 0 && version == 0 && objects == 0;
    if (!empty && application != SQLITE_STORE_APPLICATION_ID)
        return refuse_store(conn, STORE_BROKEN, "not a shootd database (another program's application_id)",
                            ret_error);
    if (version > migrate_newest())
        return refuse_store(conn, STORE_NEWER, "made by a newer version of shootd", ret_error);
    if (!empty && version < 1)
        return refuse_store(conn, STORE_BROKEN, "a shootd database without a version", ret_error);
    *ret_version = (int)version;
    return STORE_OK;
}

/* Returns the status for a check that ended without a result: STORE_BROKEN when the error itself shows
 * damage, otherwise STORE_RETRY. */
static enum store_status no_verdict(const struct sqlite_conn *conn)
{
    int rc = sqlite3_errcode(conn->db) & 0xff;
    return rc == SQLITE_CORRUPT || rc == SQLITE_NOTADB ? STORE_BROKEN : STORE_RETRY;
}

static enum store_status check_with(struct sqlite_conn *conn, const char *sql, char **ret_error)
{
    char *CLEANUP_FREE verdict = NULL;
    enum store_status status = first_text(conn, sql, &verdict, ret_error);
    if (status != STORE_OK)
        return no_verdict(conn);
    return verdict && !strcmp(verdict, "ok")
               ? STORE_OK
               : refuse_store(conn, STORE_BROKEN, "the database is corrupt (quick_check)", ret_error);
}

static enum store_status check_whole(struct sqlite_conn *conn, char **ret_error)
{
    enum store_status status = check_with(conn, "PRAGMA quick_check(1)", ret_error);
    if (status != STORE_OK)
        return status;
    char *CLEANUP_FREE orphan = NULL;
    status = first_text(conn, "PRAGMA foreign_key_check", &orphan, ret_error);
    if (status != STORE_OK)
        return no_verdict(conn);
    return orphan ? refuse_store(conn, STORE_BROKEN, "the database is corrupt (foreign_key_check)", ret_error)
                  : STORE_OK;
}

/* Checks the tables that the start needs. The tables that may be large are checked later: events, deliveries,
 * operations, the audit log. */
static enum store_status check_small_tables(struct sqlite_conn *conn, char **ret_error)
{
    static const char *const tables[] = {"clusters", "subscriptions", "tokens", "accounts",
                                         "projects", "leases",        "meta"};
    enum store_status status = STORE_OK;
    for (size_t i = 0; i < ARRAY_LEN(tables) && status == STORE_OK; i++) {
        char *CLEANUP_FREE sql = mem_printf("PRAGMA quick_check('%s')", tables[i]);
        status = check_with(conn, sql, ret_error);
    }
    return status;
}

static _Atomic int64_t check_first_bytes = 64 * 1024 * 1024;

void store_sqlite_check_first_up_to(int64_t bytes)
{
    atomic_store(&check_first_bytes, bytes);
}

static enum store_status check_sound(struct sqlite_conn *conn, int version, char **ret_error)
{
    int64_t pages = 0, page_bytes = 0;
    if (first_int(conn, "PRAGMA page_count", &pages, ret_error) != STORE_OK ||
        first_int(conn, "PRAGMA page_size", &page_bytes, ret_error) != STORE_OK)
        return STORE_BROKEN;
    conn->unchecked = !conn->was_open && version == migrate_newest() &&
                      pages * page_bytes > atomic_load(&check_first_bytes);
    enum store_status status =
        conn->unchecked ? check_small_tables(conn, ret_error) : check_whole(conn, ret_error);
    return status == STORE_OK
               ? STORE_OK
               : STORE_BROKEN; /* the check is not repeated at a start, so each failure counts as damage */
}

enum store_status sqlite_check(void *conn, char **ret_error)
{
    return check_whole(conn, ret_error);
}

void sqlite_stop_check(void *arg)
{
    struct sqlite_conn *conn = arg;
    sqlite3_interrupt(conn->db);
}

static enum store_status use_wal(struct sqlite_conn *conn, char **ret_error)
{
    char *CLEANUP_FREE mode = NULL;
    if (first_text(conn, "PRAGMA journal_mode = WAL", &mode, ret_error) != STORE_OK)
        return STORE_BROKEN;
    if (!mode || strcmp(mode, "wal") != 0)
        return refuse_store(conn, STORE_BROKEN, "the file system does not allow write-ahead logging",
                            ret_error);
    return handle_exec(conn, settings_writer, conn->path, ret_error);
}

char *handle_text(struct sqlite_conn *conn, const char *sql)
{
    char *text = NULL;
    return first_text(conn, sql, &text, NULL) == STORE_OK ? text : NULL;
}

/* A store without an id gets one when a version of shootd that supports ids first opens it for writing. */
static enum store_status give_identity(struct sqlite_conn *conn, char **ret_error)
{
    uuid_t id;
    char text[STORE_ID_BYTES];
    uuid_generate_random(id);
    uuid_unparse_lower(id, text);
    char *CLEANUP_FREE sql =
        mem_printf("INSERT OR IGNORE INTO meta (key, value) VALUES ('store_id', '%s')", text);
    return handle_exec(conn, sql, "identity", ret_error);
}

enum store_status sqlite_identity(void *arg, char ret_id[static STORE_ID_BYTES])
{
    char *CLEANUP_FREE text = handle_text(arg, "SELECT value FROM meta WHERE key = 'store_id'");
    (void)snprintf(ret_id, STORE_ID_BYTES, "%s", text ? text : "");
    return text ? STORE_OK : STORE_BROKEN;
}

/* Checks that the file is still the same store. A different store with the same path would not contain the
 * data that this process has stored. */
static enum store_status check_identity(struct sqlite_conn *conn, char **ret_error)
{
    char id[STORE_ID_BYTES];
    if (sqlite_identity(conn, id) != STORE_OK)
        return conn->writer ? STORE_BROKEN : STORE_OK;
    if (conn->was_open && strcmp(id, conn->id) != 0)
        return refuse_store(conn, STORE_BROKEN, "another database is in its place", ret_error);
    (void)memcpy(conn->id, id, sizeof(id));
    return STORE_OK;
}

/* Until the first checkpoint, all of a new store is in the write-ahead log. A copy of the database file alone
 * would be an empty file, with which a start makes another new store. A checkpoint that fails is made later.
 */
static void write_to_file(struct sqlite_conn *conn)
{
    if (sqlite3_wal_checkpoint_v2(conn->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL) != SQLITE_OK)
        log_warning("no checkpoint after the migration", "error", sqlite3_errmsg(conn->db));
}

static enum store_status make_ready(struct sqlite_conn *conn, int version, char **ret_error)
{
    if (!conn->writer)
        return version == migrate_newest() ? handle_exec(conn, settings_reader, conn->path, ret_error)
                                           : refuse_store(conn, STORE_BROKEN, "not migrated yet", ret_error);
    enum store_status status = check_sound(conn, version, ret_error);
    if (status == STORE_OK && version > 0 && version < migrate_newest())
        status = backup_make(conn->db, conn->path, version, ret_error);
    if (status == STORE_OK)
        status = use_wal(conn, ret_error);
    if (status == STORE_OK)
        status = migrate_run(conn->db, version, migrate_newest(), ret_error);
    if (status == STORE_OK)
        status = give_identity(conn, ret_error);
    if (status == STORE_OK && version < migrate_newest())
        write_to_file(conn);
    return status;
}

/* Opens the file and recognizes it. */
static enum store_status open_known(struct sqlite_conn *conn, int *ret_version, char **ret_error)
{
    int flags = SQLITE_OPEN_NOMUTEX | (conn->writer ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY);
    int rc = sqlite3_open_v2(conn->path, &conn->db, flags, NULL);
    enum store_status status = rc == SQLITE_OK ? STORE_OK : sqlite_fail(conn, rc, conn->path, ret_error);
    if (status == STORE_OK)
        status = set_up(conn, ret_error);
    if (status == STORE_OK)
        status = recognize(conn, ret_version, ret_error);
    return status;
}

static enum store_status refused(struct sqlite_conn *conn, enum store_status status)
{
    handle_close(conn);
    return status == STORE_NEWER || status == STORE_LOCKED ? status : STORE_BROKEN;
}

enum store_status handle_open_to_read(struct sqlite_conn *conn, int *ret_version, char **ret_error)
{
    assert(!conn->db && !conn->writer);
    enum store_status status = open_known(conn, ret_version, ret_error);
    if (status == STORE_OK && *ret_version == 0)
        status = refuse_store(conn, STORE_BROKEN, "there is no store in it, the file is empty", ret_error);
    if (status == STORE_OK)
        status = handle_exec(conn, settings_reader, conn->path, ret_error);
    return status == STORE_OK ? STORE_OK : refused(conn, status);
}

enum store_status handle_open(struct sqlite_conn *conn, char **ret_error)
{
    int version = 0;
    assert(!conn->db);
    if (conn->writer && !conn->was_open) {
        /* The file is created here, because SQLite would use the mode of the umask. The files -wal and -shm
         * get the same mode. */
        int fd = open(conn->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd >= 0)
            (void)close(fd);
    }
    enum store_status status = open_known(conn, &version, ret_error);
    if (status == STORE_OK)
        status = make_ready(conn, version, ret_error);
    if (status == STORE_OK && conn->writer) /* a reader needs few statements of a schema that is now known */
        status = statement_prepare_all(conn, ret_error);
    if (status == STORE_OK)
        status = check_identity(conn, ret_error);
    if (status != STORE_OK)
        return refused(conn, status);
    (void)sqlite3_db_config(conn->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, conn->writer ? 0 : 1, NULL);
    conn->is_new |= version == 0;
    conn->suspect = false;
    conn->was_open = true;
    return STORE_OK;
}

void handle_close(struct sqlite_conn *conn)
{
    statement_finalize_all(conn);
    (void)sqlite3_close(conn->db);
    conn->db = NULL;
}

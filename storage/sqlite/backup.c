/*
 * Copies of a database: the copy before a migration, `shootd backup`, and the restore. A copy is one file.
 * SQLite's backup calls make it inside one read transaction. Therefore the copy contains the store at one
 * moment, and the writer is not blocked. The copy is checked and synced before it gets its name (DB-13).
 */
#include "storage/sqlite/sqlite_private.h"

#include "base/directory.h"
#include "base/log.h"
#include "base/mem.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static enum store_status refuse(char **ret_error, const char *what, const char *path, const char *why)
{
    if (ret_error)
        *ret_error = mem_printf("%s %s: %s", what, path, why);
    return STORE_BROKEN;
}

/* ---- examining a copy ---- */

static bool is_sound(sqlite3 *db)
{
    sqlite3_stmt *stmt = NULL;
    bool sound = sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &stmt, NULL) == SQLITE_OK &&
                 sqlite3_step(stmt) == SQLITE_ROW &&
                 !sqlite3_stricmp((const char *)sqlite3_column_text(stmt, 0), "ok");
    (void)sqlite3_finalize(stmt);
    return sound;
}

static int64_t number_in(struct sqlite_conn *conn, const char *sql)
{
    char *CLEANUP_FREE text = handle_text(conn, sql);
    return text ? strtoll(text, NULL, 10) : 0;
}

static void describe(struct sqlite_conn *conn, int version, struct store_copy *ret)
{
    *ret = (struct store_copy){.schema = version};
    (void)sqlite_identity(conn, ret->id); /* the id is "" when a version without store ids made the file */
    ret->event_sequence = number_in(conn, "SELECT value FROM meta WHERE key = 'event_sequence'");
    ret->bytes = number_in(conn, "PRAGMA page_count") * number_in(conn, "PRAGMA page_size");
    for (size_t i = 0; i < STORE_COUNTS; i++) {
        /* A schema without this table has no such rows. */
        const bool is_webhooks = !strcmp(store_count_names[i], "webhooks");
        char *CLEANUP_FREE sql =
            mem_printf("SELECT count(*) FROM %s", is_webhooks ? "subscriptions" : store_count_names[i]);
        ret->rows[i] = number_in(conn, sql);
    }
}

static enum store_status open_existing(const char *path, struct sqlite_conn *conn, int *ret_version,
                                       char **ret_error)
{
    *conn = (struct sqlite_conn){.path = mem_strdup(path), .lock_fd = -1};
    return handle_open_to_read(conn, ret_version, ret_error);
}

static void close_existing(struct sqlite_conn *conn)
{
    handle_close(conn);
    free(conn->path);
}

/* Whether the caller has requested the end of the copy. */
static bool is_to_end(const atomic_bool *end)
{
    return end && atomic_load(end);
}

static int interrupts(void *end)
{
    return is_to_end(end);
}

/* Examines a copy. A long check stops soon after `end` becomes true; `end` may be NULL. */
static enum store_status look(const char *path, const atomic_bool *end, struct store_copy *ret,
                              char **ret_error)
{
    enum { STEPS_BETWEEN = 10000 };
    struct sqlite_conn conn;
    int version = 0;
    enum store_status status = open_existing(path, &conn, &version, ret_error);
    if (status == STORE_OK)
        sqlite3_progress_handler(conn.db, STEPS_BETWEEN, interrupts, (void *)(uintptr_t)end);
    if (status == STORE_OK)
        status = sqlite_check(&conn, ret_error);
    if (status == STORE_OK && !is_sound(conn.db))
        status = refuse(ret_error, "the store is damaged:", path, "integrity_check");
    if (status == STORE_OK)
        describe(&conn, version, ret);
    close_existing(&conn);
    return status;
}

enum store_status sqlite_examine(const char *path, struct store_copy *ret, char **ret_error)
{
    return look(path, NULL, ret, ret_error);
}

/* ---- making a copy ---- */

/*
 * Copies in pieces and syncs each piece before the next. Otherwise a commit of the daemon would wait until
 * all pages of the copy are on the disk. All pieces are in one read transaction, so the copy contains the
 * store at one moment.
 */
static bool copy_pages(sqlite3 *from, sqlite3 *to, int fd, const atomic_bool *end)
{
    enum { PAGES_OF_A_PIECE = 256 };
    if (sqlite3_exec(from, "BEGIN; SELECT count(*) FROM sqlite_schema", NULL, NULL, NULL) != SQLITE_OK)
        return false;
    sqlite3_backup *backup = sqlite3_backup_init(to, "main", from, "main");
    int rc = backup ? SQLITE_OK : SQLITE_ERROR;
    while (rc == SQLITE_OK) {
        rc = sqlite3_backup_step(backup, PAGES_OF_A_PIECE);
        if (rc == SQLITE_OK && is_to_end(end))
            rc = SQLITE_INTERRUPT;
        else if (rc == SQLITE_OK && fdatasync(fd) != 0)
            rc = SQLITE_IOERR;
    }
    bool copied = sqlite3_backup_finish(backup) == SQLITE_OK && rc == SQLITE_DONE;
    (void)sqlite3_exec(from, "ROLLBACK", NULL, NULL, NULL);
    return copied;
}

static bool write_copy(sqlite3 *from, const char *path, const atomic_bool *end)
{
    (void)unlink(path);
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    sqlite3 *to = NULL;
    /* The copy is used only after it was synced as a whole, so no page needs a journal. The copy is not in
     * WAL mode, because otherwise there would be more than one file to rename. */
    bool written =
        sqlite3_open_v2(path, &to, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK &&
        sqlite3_exec(to, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF", NULL, NULL, NULL) ==
            SQLITE_OK &&
        copy_pages(from, to, fd, end) &&
        sqlite3_exec(to, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL) == SQLITE_OK;
    written = sqlite3_close(to) == SQLITE_OK && written;
    (void)close(fd);
    return written;
}

static bool sync_file(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool synced = fsync(fd) == 0;
    (void)close(fd);
    return synced;
}

static bool sync_folder(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_DIRECTORY);
    if (fd < 0)
        return false;
    int r = directory_sync(fd);
    (void)close(fd);
    errno = -r;
    return r == 0;
}

/* Returns the folder with its final slash. The caller frees it. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? mem_strndup(path, (size_t)(slash - path) + 1) : mem_strdup("./");
}

/* Gives the checked draft its name. When the name may not be durable, the file is removed again. */
static bool give_name(const char *draft, const char *target, const char *folder)
{
    if (rename(draft, target) != 0)
        return false;
    if (sync_folder(folder))
        return true;
    int error = errno;
    (void)unlink(target);
    errno = error;
    return false;
}

/* Writes the copy to a draft beside `target`. Renames the draft to `target` when it is complete and was
 * checked. After a failure there is no file `target`. The caller frees *ret_why. */
static bool copy_to(sqlite3 *from, const char *target, const atomic_bool *end, struct store_copy *ret,
                    char **ret_why)
{
    char *CLEANUP_FREE folder = folder_of(target);
    char *CLEANUP_FREE draft = mem_printf("%s.tmp", target);
    *ret_why = NULL;
    errno = 0;
    bool made = !is_to_end(end) && write_copy(from, draft, end) && sync_file(draft) &&
                look(draft, end, ret, ret_why) == STORE_OK && give_name(draft, target, folder);
    if (!made && is_to_end(end))
        mem_set_str(ret_why, "shootd is stopping");
    if (!made && !*ret_why)
        *ret_why = mem_strdup(errno ? strerror(errno) : sqlite3_errmsg(from));
    if (!made)
        (void)unlink(draft);
    return made;
}

enum store_status backup_make(sqlite3 *db, const char *path, int version, char **ret_error)
{
    const char *slash = strrchr(path, '/');
    assert(version > 0 && version < migrate_newest());
    char *CLEANUP_FREE folder = folder_of(path);
    /* The name does not begin with the name of the database, so that a user who deletes shootd.db* does not
     * delete the copies. */
    char *CLEANUP_FREE target = mem_printf("%sbackup-v%d-%s", folder, version, slash ? slash + 1 : path);
    struct store_copy copy;
    char *CLEANUP_FREE why = NULL;
    if (!copy_to(db, target, NULL, &copy, &why))
        return refuse(ret_error, "cannot copy the database before its migration to", target, why);
    log_info("database copied before its migration", "path", target);
    return STORE_OK;
}

enum store_status sqlite_backup(const char *location, const char *target, const atomic_bool *end,
                                struct store_copy *ret, char **ret_error)
{
    struct sqlite_conn conn;
    int version = 0;
    if (access(target, F_OK) == 0)
        return refuse(ret_error, "cannot make the backup", target, "there is a file of this name");
    enum store_status status = open_existing(location, &conn, &version, ret_error);
    char *CLEANUP_FREE why = NULL;
    if (status == STORE_OK && !copy_to(conn.db, target, end, ret, &why))
        status = refuse(ret_error, "cannot make the backup", target, why);
    close_existing(&conn);
    return status;
}

enum store_status sqlite_id_of_copy(const char *path, char ret_id[static STORE_ID_BYTES])
{
    struct stat st;
    struct sqlite_conn conn;
    int version = 0;
    ret_id[0] = '\0';
    if (lstat(path, &st) != 0 || !S_ISREG(st.st_mode)) /* an opened FIFO would block */
        return STORE_BROKEN;
    enum store_status status = open_existing(path, &conn, &version, NULL);
    if (status == STORE_OK)
        (void)sqlite_identity(&conn, ret_id);
    close_existing(&conn);
    return status;
}

/* ---- restore ---- */

/* When root makes a file, the file gets the owner of its directory. */
static bool give_to_owner(const char *path, const char *folder)
{
    struct stat st;
    return stat(folder, &st) == 0 && (geteuid() != 0 || lchown(path, st.st_uid, st.st_gid) == 0);
}

/* Merges the WAL of the old store into its file, when that store can be read. No other process has the store
 * open. */
static void settle(const char *location)
{
    sqlite3 *db = NULL;
    if (sqlite3_open_v2(location, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK)
        (void)sqlite3_exec(db, "PRAGMA wal_checkpoint(TRUNCATE)", NULL, NULL, NULL);
    (void)sqlite3_close(db);
}

/* Moves the files that SQLite has made beside a database. */
static bool move_beside(const char *database, const char *to_database)
{
    static const char *const beside[] = {"-wal", "-shm"};
    for (size_t i = 0; i < ARRAY_LEN(beside); i++) {
        char *CLEANUP_FREE from = mem_printf("%s%s", database, beside[i]);
        char *CLEANUP_FREE to = mem_printf("%s%s", to_database, beside[i]);
        if (rename(from, to) != 0 && errno != ENOENT)
            return false;
    }
    return true;
}

/* Takes put_away back: the old store stays the store. Leaves errno as it was. */
static void put_back(const char *location, const char *kept)
{
    int error = errno;
    if (access(kept, F_OK) == 0) {
        (void)move_beside(kept, location);
        (void)unlink(kept);
    }
    errno = error;
}

/* Gives the old store the second name `kept`. The old store also keeps its own name until the new store gets
 * that name. */
static bool put_away(const char *location, const char *kept)
{
    if (access(location, F_OK) != 0)
        return true;
    settle(location);
    if (link(location, kept) != 0)
        return false;
    if (move_beside(location, kept))
        return true;
    put_back(location, kept);
    return false;
}

/* Replaces the store with the draft. Until the rename, a failure takes everything back. After it there is no
 * way back: the store of before is only under its other name. */
static bool replace(const char *draft, const char *location, const char *kept)
{
    if (!put_away(location, kept))
        return false;
    if (rename(draft, location) == 0)
        return true;
    put_back(location, kept);
    return false;
}

/* Returns the newest event number that the store has assigned; 0: there is no store, or it cannot be read. */
static int64_t newest_event(const char *location)
{
    struct sqlite_conn conn = {.lock_fd = -1};
    int64_t newest = 0;
    if (access(location, F_OK) == 0 &&
        sqlite3_open_v2(location, &conn.db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK)
        newest = number_in(&conn, "SELECT value FROM meta WHERE key = 'event_sequence'");
    (void)sqlite3_close(conn.db);
    return newest;
}

/*
 * Consumers may have received event numbers that the backup does not contain. None of these numbers may be
 * assigned again, so the numbers of the restored store jump ahead. The jump grows with the age of the
 * backup, so a second restore of the same backup begins at a different number. Operations that are open in
 * the backup may have been carried out, and undone, since then, so they are marked: they make no call any
 * more (model/operation.h). The draft needs no journal on the disk, because it is useless before it gets its
 * name.
 */
static bool adapt_to_restore(const char *draft, int64_t newest_before)
{
    enum { JUMP = 100000 };
    sqlite3 *db = NULL;
    const long long now = (long long)env_wall(env_real());
    char *CLEANUP_FREE sql = mem_printf(
        "PRAGMA journal_mode = MEMORY; BEGIN;"
        "CREATE TEMP TABLE jump AS SELECT value AS from_number, max(value, %lld) + %d + max(0, (%lld - "
        "ifnull((SELECT max(at) FROM events), %lld)) / 1000000) AS to_number FROM meta WHERE key = "
        "'event_sequence';"
        "INSERT OR REPLACE INTO meta (key, value) SELECT 'event_gap', to_number - from_number + "
        "ifnull((SELECT value FROM meta WHERE key = 'event_gap'), 0) FROM jump;"
        "INSERT OR REPLACE INTO meta (key, value) SELECT 'event_base', to_number FROM jump;"
        "UPDATE meta SET value = (SELECT to_number FROM jump) WHERE key = 'event_sequence';"
        "UPDATE operations SET doc = json_set(doc, '$.restored', json('true'))"
        " WHERE finished_at = 0 AND json_valid(doc); COMMIT",
        (long long)newest_before, JUMP, now, now);
    bool done = sqlite3_open_v2(draft, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK &&
                sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK;
    return sqlite3_close(db) == SQLITE_OK && done && sync_file(draft);
}

static enum store_status put_in_place(const char *copy, const char *location, const char *kept,
                                      char **ret_error)
{
    struct sqlite_conn conn;
    int version = 0;
    char *CLEANUP_FREE folder = folder_of(location);
    char *CLEANUP_FREE draft = mem_printf("%s.restored", location);
    char *CLEANUP_FREE journal = mem_printf("%s-journal", draft);
    enum store_status status = open_existing(copy, &conn, &version, ret_error);
    (void)unlink(journal); /* left by an earlier restore; SQLite would apply this journal */
    if (status == STORE_OK) {
        struct store_copy copied;
        char *CLEANUP_FREE why = NULL;
        bool placed = copy_to(conn.db, draft, NULL, &copied, &why) &&
                      adapt_to_restore(draft, newest_event(location)) && give_to_owner(draft, folder) &&
                      replace(draft, location, kept);
        if (placed && !sync_folder(folder) && ret_error)
            *ret_error = mem_printf("the directory %s cannot be synced: %s", folder, strerror(errno));
        if (!placed)
            status = refuse(ret_error, "cannot put the backup in the place of", location,
                            why ? why : strerror(errno));
        if (!placed)
            (void)unlink(draft);
    }
    close_existing(&conn);
    return status;
}

enum store_status sqlite_restore(const char *copy, const char *location, const char *kept,
                                 struct store_copy *ret, char **ret_error)
{
    int lock_fd = -1;
    char *CLEANUP_FREE lock = mem_printf("%s.lock", location);
    char *CLEANUP_FREE folder = folder_of(location);
    *ret = (struct store_copy){0};
    enum store_status status = sqlite_examine(copy, ret, ret_error);
    if (status == STORE_OK)
        status = lock_take(location, &lock_fd, ret_error);
    if (status != STORE_OK)
        return status;
    if (give_to_owner(lock, folder))
        status = put_in_place(copy, location, kept, ret_error);
    else
        status = refuse(ret_error, "cannot give the lock file to its owner", lock, strerror(errno));
    lock_release(lock_fd);
    return status;
}

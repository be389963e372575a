/*
 * Owns the copy that is made before a migration (DB-10, DB-13): written beside the database under a temporary
 * name, checked, synced and renamed into place. Runs on the opening thread, on the writing connection.
 */
#include "storage/sqlite/sqlite_private.h"

#include "base/log.h"
#include "base/mem.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool copy_pages(sqlite3 *from, sqlite3 *to)
{
    sqlite3_backup *backup = sqlite3_backup_init(to, "main", from, "main");
    if (!backup)
        return false;
    int rc = sqlite3_backup_step(backup, -1);
    return sqlite3_backup_finish(backup) == SQLITE_OK && rc == SQLITE_DONE;
}

static bool copy_is_sound(sqlite3 *db)
{
    sqlite3_stmt *stmt = NULL;
    bool sound = sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &stmt, NULL) == SQLITE_OK &&
                 sqlite3_step(stmt) == SQLITE_ROW &&
                 !sqlite3_stricmp((const char *)sqlite3_column_text(stmt, 0), "ok");
    (void)sqlite3_finalize(stmt);
    return sound;
}

static bool write_copy(sqlite3 *from, const char *path)
{
    (void)unlink(path);
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    (void)close(fd);
    sqlite3 *to = NULL;
    /* Out of WAL mode the copy is one file, with nothing beside it that would have to be renamed too. */
    bool written =
        sqlite3_open_v2(path, &to, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK &&
        copy_pages(from, to) &&
        sqlite3_exec(to, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL) == SQLITE_OK && copy_is_sound(to);
    return sqlite3_close(to) == SQLITE_OK && written;
}

static bool sync_path(const char *path, int flags)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | flags);
    if (fd < 0)
        return false;
    bool synced = fsync(fd) == 0;
    (void)close(fd);
    return synced;
}

enum store_status backup_make(sqlite3 *db, const char *path, int version, char **ret_error)
{
    const char *slash = strrchr(path, '/');
    char *CLEANUP_FREE folder = slash ? mem_strndup(path, (size_t)(slash - path) + 1) : mem_strdup("./");
    /* Not with the name of the database in front: who removes shootd.db* to begin anew keeps the copies. */
    char *CLEANUP_FREE target = mem_printf("%sbackup-v%d-%s", folder, version, slash ? slash + 1 : path);
    char *CLEANUP_FREE temporary = mem_printf("%s.tmp", target);
    if (!write_copy(db, temporary) || !sync_path(temporary, 0) || rename(temporary, target) != 0 ||
        !sync_path(folder, O_DIRECTORY)) {
        (void)unlink(temporary);
        if (ret_error)
            *ret_error = mem_printf("cannot copy the database to %s before its migration", target);
        return STORE_BROKEN;
    }
    log_info("database copied before its migration", "path", target);
    return STORE_OK;
}

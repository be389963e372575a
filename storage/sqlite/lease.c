/*
 * Decides which process may write, with two means: the lock file beside a database, and the lease rows in the
 * database, whose fence grows with each change of the holder (DB-23). A lock of flock() belongs to the open
 * file. Therefore the lock always ends with its process, and also prevents a second opening inside the same
 * process. The file is never removed, because another process may be opening it at the same time. When
 * somebody removes it all the same, the holder writes no more: it cannot know whether another process has
 * locked a new file.
 */
#include "storage/sqlite/sqlite_private.h"

#include "base/log.h"
#include "base/mem.h"
#include "storage/storage_private.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static void lock_describe(char **ret_error, const char *what, const char *path, int error)
{
    char reason[128];
    if (ret_error)
        *ret_error = mem_printf("%s %s: %s", what, path, strerror_r(error, reason, sizeof(reason)));
}

bool lock_in_place(const char *database, int fd)
{
    struct stat ours, named;
    char *CLEANUP_FREE path = mem_printf("%s.lock", database);
    return fstat(fd, &ours) == 0 && lstat(path, &named) == 0 && ours.st_dev == named.st_dev &&
           ours.st_ino == named.st_ino;
}

enum store_status lock_take(const char *database, int *ret_fd, char **ret_error)
{
    char *CLEANUP_FREE path = mem_printf("%s.lock", database);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) {
        lock_describe(ret_error, "cannot open the lock file", path, errno);
        return STORE_BROKEN;
    }
    if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
        char number[32];
        int n = snprintf(number, sizeof(number), "%ld\n", (long)getpid());
        if (ftruncate(fd, 0) != 0 || pwrite(fd, number, (size_t)n, 0) != n)
            log_debug("cannot write the process number into the lock file");
        *ret_fd = fd;
        return STORE_OK;
    }
    int error = errno;
    enum store_status status = error == EWOULDBLOCK ? STORE_LOCKED : STORE_BROKEN;
    if (status == STORE_BROKEN) {
        lock_describe(ret_error, "cannot lock", path, error);
    } else if (ret_error) {
        char owner[24]; /* the process id that the owner of the lock wrote into the lock file, or "" */
        ssize_t n = pread(fd, owner, sizeof(owner) - 1, 0);
        owner[n > 0 ? n : 0] = '\0';
        owner[strspn(owner, "0123456789")] = '\0';
        *ret_error = *owner ? mem_printf("the database %s is in use by process %s", database, owner)
                            : mem_printf("the database %s is in use by another process", database);
    }
    (void)close(fd);
    return status;
}

void lock_release(int fd)
{
    if (fd < 0)
        return;
    if (ftruncate(fd, 0) != 0)
        log_debug("cannot clear the process number in the lock file");
    (void)close(fd);
}

/* Reads a lease. Returns STORE_NONE when the lease was never held. */
static enum store_status lease_get(struct sqlite_conn *conn, const char *name, struct store_lease *ret_lease)
{
    struct binder b = statement_start(conn, STATEMENT_LEASE_GET);
    bind_text(&b, name);
    enum store_status status = statement_step(&b, NULL);
    if (status != STORE_OK)
        return status;
    (void)snprintf(ret_lease->name, sizeof(ret_lease->name), "%s", name);
    column_copy(b.stmt, 0, ret_lease->holder, sizeof(ret_lease->holder));
    ret_lease->until = sqlite3_column_int64(b.stmt, 1);
    ret_lease->fence = sqlite3_column_int64(b.stmt, 2);
    statement_end(&b);
    return STORE_OK;
}

static enum store_status lease_put(struct sqlite_conn *conn, const struct store_lease *lease,
                                   char **ret_error)
{
    struct binder b = statement_start(conn, STATEMENT_LEASE_PUT);
    bind_text(&b, lease->name);
    bind_text(&b, lease->holder);
    bind_int(&b, lease->until);
    bind_int(&b, lease->fence);
    return statement_run(&b, ret_error);
}

static enum store_status lease_finish(struct sqlite_conn *conn, enum store_status status, char **ret_error)
{
    if (status == STORE_OK)
        status = sqlite_commit(conn, ret_error);
    if (status != STORE_OK)
        sqlite_rollback(conn);
    return status;
}

enum store_status sqlite_lease_take(void *arg, const char *name, const char *holder, wall_us now,
                                    int64_t ttl_us, struct store_lease *ret_lease, char **ret_error)
{
    struct sqlite_conn *conn = arg;
    assert(conn->writer);
    enum store_status status = sqlite_begin(conn, ret_error);
    if (status != STORE_OK)
        return status;
    struct store_lease lease = {0};
    status = lease_get(conn, name, &lease);
    if (status == STORE_OK || status == STORE_NONE) {
        bool ours = store_lease_claim(&lease, name, holder, now, ttl_us);
        status = ours ? lease_put(conn, &lease, ret_error) : STORE_CONFLICT;
    }
    status = lease_finish(conn, status, ret_error);
    if (status == STORE_OK || status == STORE_CONFLICT)
        *ret_lease = lease;
    return status;
}

enum store_status sqlite_lease_release(void *arg, const char *name, const char *holder)
{
    struct sqlite_conn *conn = arg;
    assert(conn->writer);
    enum store_status status = sqlite_begin(conn, NULL);
    if (status != STORE_OK)
        return status;
    struct binder b = statement_start(conn, STATEMENT_LEASE_RELEASE);
    bind_text(&b, name);
    bind_text(&b, holder);
    status = statement_run(&b, NULL);
    bool released = status == STORE_OK && sqlite3_changes(conn->db) > 0;
    status = lease_finish(conn, status, NULL);
    return status == STORE_OK && !released ? STORE_NONE : status;
}

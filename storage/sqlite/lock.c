/*
 * Owns the lock file beside a database. flock() belongs to the open file, so it ends with the process however
 * that ends, and it excludes a second opening inside one process too. The file stays: removing it would race.
 */
#include "storage/sqlite/sqlite_private.h"

#include "base/log.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static void describe_failure(char **ret_error, const char *what, const char *path, int error)
{
    char reason[128];
    if (ret_error)
        *ret_error = mem_printf("%s %s: %s", what, path, strerror_r(error, reason, sizeof(reason)));
}

/* The owner's number as it wrote it, or "". */
static void read_owner(int fd, char *text, size_t size)
{
    ssize_t n = pread(fd, text, size - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    text[strspn(text, "0123456789")] = '\0';
}

static void write_owner(int fd)
{
    char text[32];
    int n = snprintf(text, sizeof(text), "%ld\n", (long)getpid());
    if (ftruncate(fd, 0) != 0 || pwrite(fd, text, (size_t)n, 0) != n)
        log_debug("cannot write the process number into the lock file");
}

enum store_status lock_take(const char *database, int *ret_fd, char **ret_error)
{
    char *CLEANUP_FREE path = mem_printf("%s.lock", database);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) {
        describe_failure(ret_error, "cannot open the lock file", path, errno);
        return STORE_BROKEN;
    }
    if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
        write_owner(fd);
        *ret_fd = fd;
        return STORE_OK;
    }
    int error = errno;
    enum store_status status = error == EWOULDBLOCK ? STORE_LOCKED : STORE_BROKEN;
    if (status == STORE_BROKEN) {
        describe_failure(ret_error, "cannot lock", path, error);
    } else if (ret_error) {
        char owner[24];
        read_owner(fd, owner, sizeof(owner));
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

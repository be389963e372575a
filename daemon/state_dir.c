#include "daemon/daemon_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/attrs.h"
#include "base/mem.h"

/* Makes the directory and its parents, so the first start needs no preparation. */
static void make_with_parents(const char *path)
{
    char *partial CLEANUP_FREE = mem_strdup(path);
    for (char *p = partial + 1; *partial && *p; p++) {
        if (*p != '/')
            continue;
        *p = '\0';
        (void)mkdir(partial, 0755);
        *p = '/';
    }
    (void)mkdir(path, 0700);
}

static bool is_trusted(uid_t owner)
{
    return owner == geteuid() || owner == 0;
}

/* Opens the directory. For the dynamic users of systemd the path is a link that root made. Links of other
 * users are not followed. */
static int open_directory(const char *path)
{
    const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
    struct stat st;
    int fd = open(path, flags | O_NOFOLLOW);
    if (fd < 0 && lstat(path, &st) == 0 && S_ISLNK(st.st_mode)) {
        errno = ELOOP;
        return is_trusted(st.st_uid) ? open(path, flags) : -1;
    }
    return fd;
}

/* Returns the name of a file of the store that is a link; NULL: none. SQLite opens the database by its path
 * and follows links, so links are refused. */
static const char *linked_file(int fd)
{
    static const char *const names[] = {"shootd.db", "shootd.db-wal", "shootd.db-shm"};
    struct stat st;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (fstatat(fd, names[i], &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode))
            return names[i];
    return NULL;
}

/* Returns the fault of the directory; NULL: none. The caller frees it. */
static char *fault_of(int fd, const char *path)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return mem_printf("state directory %s: %s", path, strerror(errno));
    if (!is_trusted(st.st_uid))
        return mem_printf("state directory %s belongs to user %u, shootd runs as user %u: chown it", path,
                          (unsigned)st.st_uid, (unsigned)geteuid());
    if (st.st_mode & (S_IWGRP | S_IWOTH))
        return mem_printf("state directory %s may be changed by others (mode %04o): chmod 700 it", path,
                          (unsigned)(st.st_mode & 07777));
    if (faccessat(fd, ".", R_OK | W_OK | X_OK, AT_EACCESS) < 0)
        return mem_printf("state directory %s cannot be written: %s", path, strerror(errno));
    if (linked_file(fd))
        return mem_printf("%s/%s is a symbolic link, which is not followed: put the file itself there", path,
                          linked_file(fd));
    return NULL;
}

int state_dir_open(const char *path, char **ret_error)
{
    make_with_parents(path);
    int fd = open_directory(path);
    if (fd < 0)
        *ret_error = mem_printf("state directory %s cannot be made or opened: %s", path, strerror(errno));
    else if ((*ret_error = fault_of(fd, path))) {
        (void)close(fd);
        fd = -1;
    }
    return fd;
}

bool state_dir_become_owner(int directory)
{
    struct stat st;
    if (fstat(directory, &st) < 0)
        return false;
    return geteuid() != 0 || st.st_uid == 0 || (setgid(st.st_gid) == 0 && setuid(st.st_uid) == 0);
}

#include "base/replace_file.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/directory.h"

/* The file before the change. */
struct old_file {
    bool is_there;
    struct stat st;
};

/* Returns 0 or a negative errno. */
static int look(int directory, const char *name, struct old_file *ret)
{
    ret->is_there = fstatat(directory, name, &ret->st, AT_SYMLINK_NOFOLLOW) == 0;
    if (!ret->is_there)
        return errno == ENOENT ? 0 : -errno;
    return S_ISREG(ret->st.st_mode) ? 0 : S_ISLNK(ret->st.st_mode) ? -ELOOP : -EPERM;
}

static int write_all(int fd, const char *bytes, size_t len)
{
    for (size_t at = 0; at < len;) {
        const ssize_t n = write(fd, bytes + at, len - at);
        if (n < 0 && errno != EINTR)
            return -errno;
        at += n > 0 ? (size_t)n : 0;
    }
    return fsync(fd) < 0 ? -errno : 0;
}

/* Closes the file, and returns `r` or the failure of close. */
static int closed(int fd, int r)
{
    return close(fd) < 0 && !r ? -errno : r;
}

/* Returns 0 or a negative errno. *ret_has_owner: the draft has the owner and group of the old file. */
static int write_draft(int directory, const char *draft, mode_t mode, const struct old_file *old,
                       const void *bytes, size_t len, bool *ret_has_owner)
{
    const int fd = openat(directory, draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return -errno;
    struct stat st;
    int r = fstat(fd, &st) < 0 ? -errno : 0;
    *ret_has_owner = !old->is_there || (!r && st.st_uid == old->st.st_uid && st.st_gid == old->st.st_gid) ||
                     fchown(fd, old->st.st_uid, old->st.st_gid) == 0;
    if (!r && fchmod(fd, mode) < 0)
        r = -errno;
    return closed(fd, r ? r : write_all(fd, bytes, len));
}

/* Writes into the old file. The old bytes stay when it cannot be opened, and when the new bytes have no room
 * beside them: the length grows first. */
static int write_in_place(int directory, const char *name, const void *bytes, size_t len)
{
    const int fd = openat(directory, name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int r = len ? -posix_fallocate(fd, 0, (off_t)len) : 0;
    if (!r || r == -EOPNOTSUPP || r == -EINVAL)
        r = write_all(fd, bytes, len);
    if (!r && (ftruncate(fd, (off_t)len) < 0 || fsync(fd) < 0))
        r = -errno;
    return closed(fd, r);
}

/* Whether the failure says that the directory cannot be changed, and nothing about the file. */
static bool is_about_directory(int r)
{
    return r == -EACCES || r == -EPERM || r == -EROFS || r == -EBUSY;
}

int replace_file(int directory, const char *name, const char *draft, mode_t mode, const void *bytes,
                 size_t len)
{
    struct old_file old;
    bool has_owner = true;
    assert(!strchr(name, '/') && !strchr(draft, '/') && strcmp(name, draft) != 0);
    int r = look(directory, name, &old);
    if (r)
        return r;
    (void)unlinkat(directory, draft, 0);
    r = write_draft(directory, draft, mode, &old, bytes, len, &has_owner);
    if (!r && !has_owner && write_in_place(directory, name, bytes, len) == 0)
        return unlinkat(directory, draft, 0) < 0 ? -errno : 0;
    if (!r && renameat(directory, draft, directory, name) == 0)
        return directory_sync(directory);
    r = r ? r : -errno;
    if (old.is_there && is_about_directory(r)) {
        const int in_place = write_in_place(directory, name, bytes, len);
        r = in_place == 0 || r == -EBUSY ? in_place : r;
    }
    (void)unlinkat(directory, draft, 0);
    return r;
}

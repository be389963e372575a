#include "base/private_file.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/mem.h"

static int check(int fd, enum private_mode mode)
{
    const mode_t others = mode == PRIVATE_TO_GROUP ? S_IWGRP | S_IRWXO : S_IRWXG | S_IRWXO;
    struct stat st;
    if (fstat(fd, &st) < 0)
        return -errno;
    bool is_ours = st.st_uid == geteuid() || st.st_uid == 0;
    return S_ISREG(st.st_mode) && is_ours && !(st.st_mode & others) ? 0 : -EPERM;
}

int private_file_read(int directory, const char *name, enum private_mode mode, void *bytes, size_t size)
{
    assert(!strchr(name, '/'));
    int fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return -errno;
    int r = check(fd, mode);
    ssize_t n = r ? 0 : read(fd, bytes, size);
    if (n < 0)
        r = -errno;
    (void)close(fd);
    return r ? r : (int)n;
}

static int write_new(int directory, const char *name, const void *bytes, size_t len)
{
    int fd = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return -errno;
    errno = EIO; /* a short write sets no errno */
    int r = fchmod(fd, 0600) < 0 || write(fd, bytes, len) != (ssize_t)len || fsync(fd) < 0 ? -errno : 0;
    if (close(fd) < 0 && !r)
        r = -errno;
    return r;
}

void private_file_remove_draft(int directory, const char *name)
{
    char *draft CLEANUP_FREE = mem_printf("%s.new", name);
    (void)unlinkat(directory, draft, 0);
}

int private_file_write(int directory, const char *name, const void *bytes, size_t len)
{
    char *draft CLEANUP_FREE = mem_printf("%s.new", name);
    private_file_remove_draft(directory, name);
    int r = write_new(directory, draft, bytes, len);
    if (!r && renameat(directory, draft, directory, name) < 0)
        r = -errno;
    if (r)
        private_file_remove_draft(directory, name);
    return r ? r : directory_sync(directory);
}

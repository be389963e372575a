#include "base/private_file.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/replace_file.h"

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

void private_file_remove_draft(int directory, const char *name)
{
    char *draft CLEANUP_FREE = mem_printf("%s.new", name);
    (void)unlinkat(directory, draft, 0);
}

int private_file_write(int directory, const char *name, const void *bytes, size_t len)
{
    char *draft CLEANUP_FREE = mem_printf("%s.new", name);
    struct stat st;
    if (fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode))
        (void)unlinkat(directory, name, 0); /* nobody but shootd writes here: the file takes its place */
    return replace_file(directory, name, draft, 0600, bytes, len);
}

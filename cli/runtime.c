#include "cli/runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/mem.h"
#include "cli/files.h"

static char *directory_path(void)
{
    const char *runtime = getenv("XDG_RUNTIME_DIR"), *cache = getenv("XDG_CACHE_HOME"),
               *home = getenv("HOME");
    if (runtime && runtime[0] == '/')
        return mem_printf("%s/shootctl", runtime);
    if (cache && cache[0] == '/')
        return mem_printf("%s/shootctl", cache);
    return mem_printf("%s/.cache/shootctl", home && home[0] == '/' ? home : "");
}

int runtime_open(struct buffer *fault)
{
    char *path CLEANUP_FREE = directory_path();
    struct stat st;
    (void)files_make_directory(path);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    bool ours = fd >= 0 && fstat(fd, &st) == 0 && st.st_uid == geteuid() && !(st.st_mode & 077);
    if (ours)
        return fd;
    if (fd >= 0)
        (void)buffer_printf(
            fault, "%s: belongs to others, or others may read it: it holds credentials (chmod 700)", path);
    else
        (void)buffer_printf(fault, "%s: %s", path, strerror(errno));
    if (fd >= 0)
        (void)close(fd);
    return -1;
}

char *runtime_temporary(const char *name, const char *text, size_t len, struct buffer *fault)
{
    int directory = runtime_open(fault);
    if (directory < 0)
        return NULL;
    (void)close(directory);
    char *parent CLEANUP_FREE = directory_path();
    char *path = mem_printf("%s/%s-XXXXXX", parent, name);
    int fd = mkostemp(path, O_CLOEXEC);
    errno = fd < 0 ? errno : EIO; /* a write that was too short sets no errno, and is reported as EIO */
    bool good = fd >= 0 && write(fd, text, len) == (ssize_t)len;
    if (fd >= 0 && close(fd) < 0)
        good = false;
    if (good)
        return path;
    (void)buffer_printf(fault, "%s: %s", path, strerror(errno));
    if (fd >= 0)
        (void)unlink(path);
    free(path);
    return NULL;
}

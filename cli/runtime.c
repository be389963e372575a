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

/* Whether the directory belongs to the user, or is missing. With su or sudo -E, XDG_RUNTIME_DIR is that of
 * another user, who would find root's directory in it. */
static bool is_own(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? S_ISDIR(st.st_mode) && st.st_uid == geteuid() : errno == ENOENT;
}

/* Returns NULL when no variable names a place. */
static char *directory_path(void)
{
    const char *runtime = getenv("XDG_RUNTIME_DIR"), *cache = getenv("XDG_CACHE_HOME"),
               *home = getenv("HOME");
    if (runtime && runtime[0] == '/' && is_own(runtime))
        return mem_printf("%s/shootctl", runtime);
    if (cache && cache[0] == '/')
        return mem_printf("%s/shootctl", cache);
    return home && home[0] == '/' ? mem_printf("%s/.cache/shootctl", home) : NULL;
}

int runtime_open(struct buffer *fault)
{
    char *path CLEANUP_FREE = directory_path();
    struct stat st;
    if (!path) {
        buffer_add_str(fault,
                       "there is no place for credentials: set HOME or XDG_RUNTIME_DIR to an absolute path");
        return -1;
    }
    (void)files_make_directory(path);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    bool ours = fd >= 0 && fstat(fd, &st) == 0 && st.st_uid == geteuid() && !(st.st_mode & 077);
    if (ours)
        return fd;
    if (fd >= 0)
        buffer_printf(fault, "%s: belongs to others, or others may read it: it holds credentials (chmod 700)",
                      path);
    else
        buffer_printf(fault, "%s: %s", path, strerror(errno));
    if (fd >= 0)
        (void)close(fd);
    return -1;
}

/* Returns the directory for temporary files, which the caller frees. The usual place is not always usable; a
 * file with a new name and the mode 0600 is safe in the directory for temporary files of all users, too. */
static char *temporary_directory(void)
{
    struct buffer unused CLEANUP_BUFFER;
    const char *all = getenv("TMPDIR");
    buffer_init(&unused, 64 * 1024);
    const int directory = runtime_open(&unused);
    if (directory < 0)
        return mem_strdup(all && all[0] == '/' ? all : "/tmp");
    (void)close(directory);
    return directory_path();
}

char *runtime_temporary(const char *name, const char *text, size_t len, struct buffer *fault)
{
    char *parent CLEANUP_FREE = temporary_directory();
    char *path = mem_printf("%s/shootctl-%s-XXXXXX", parent, name);
    int fd = mkostemp(path, O_CLOEXEC);
    errno = fd < 0 ? errno : EIO; /* a write that was too short sets no errno, and is reported as EIO */
    bool good = fd >= 0 && write(fd, text, len) == (ssize_t)len;
    if (fd >= 0 && close(fd) < 0)
        good = false;
    if (good)
        return path;
    buffer_printf(fault, "%s: %s", path, strerror(errno));
    if (fd >= 0)
        (void)unlink(path);
    free(path);
    return NULL;
}

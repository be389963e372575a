#include "cli/files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/mem.h"

int files_read_all(FILE *file, struct buffer *bytes)
{
    char piece[16384];
    int error = 0;
    for (size_t n; !error && (n = fread(piece, 1, sizeof(piece), file)) > 0;) {
        buffer_add(bytes, piece, n);
        error = bytes->overflow ? EFBIG : 0;
    }
    if (!error && ferror(file))
        error = errno ? errno : EIO;
    explicit_bzero(piece, sizeof(piece)); /* the bytes may contain tokens and kubeconfigs */
    return error;
}

int files_read(const char *path, struct buffer *bytes)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return errno;
    int error = files_read_all(file, bytes);
    (void)fclose(file);
    return error;
}

int files_read_regular(const char *path, struct buffer *bytes)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return errno;
    int error = fstat(fd, &st) < 0 ? errno : S_ISREG(st.st_mode) ? 0 : EINVAL;
    FILE *file = error ? NULL : fdopen(fd, "r");
    if (!file) {
        error = error ? error : errno;
        (void)close(fd);
        return error;
    }
    error = files_read_all(file, bytes);
    (void)fclose(file);
    return error;
}

/* Gives a new directory the owner of its parent. */
static void give_to_owner_of_parent(const char *path)
{
    struct stat st;
    char *parent CLEANUP_FREE = mem_printf("%s/..", path);
    if (geteuid() == 0 && stat(parent, &st) == 0 && st.st_uid != 0 && lchown(path, st.st_uid, st.st_gid) < 0)
        return; /* the file system has no owners */
}

int files_make_directory(const char *path)
{
    char *copy CLEANUP_FREE = mem_strdup(path);
    int error = 0;
    for (char *slash = copy; !error && slash;) {
        slash = *slash ? strchr(slash + 1, '/') : NULL;
        if (slash)
            *slash = '\0';
        if (mkdir(copy, 0700) == 0)
            give_to_owner_of_parent(copy);
        else if (errno != EEXIST)
            error = errno;
        if (slash)
            *slash = '/';
    }
    return error;
}

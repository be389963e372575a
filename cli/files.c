#include "cli/files.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buffer.h"
#include "base/mem.h"

int files_read_all(FILE *file, struct buffer *bytes)
{
    char piece[16384];
    int error = 0;
    for (size_t n; !error && (n = fread(piece, 1, sizeof(piece), file)) > 0;)
        error = buffer_add(bytes, piece, n) ? 0 : EFBIG;
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

int files_make_directory(const char *path)
{
    char *copy CLEANUP_FREE = mem_strdup(path);
    int error = 0;
    for (char *slash = copy; !error && slash;) {
        slash = *slash ? strchr(slash + 1, '/') : NULL;
        if (slash)
            *slash = '\0';
        if (mkdir(copy, 0700) < 0 && errno != EEXIST)
            error = errno;
        if (slash)
            *slash = '/';
    }
    return error;
}

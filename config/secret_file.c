#include "config/secret_file.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"

/* Whether the file is a credential of systemd. systemd protects credentials by a separate directory; the
 * access lists of their files look like rights of the group. */
static bool is_credential(const char *path)
{
    const char *directory = getenv("CREDENTIALS_DIRECTORY");
    size_t len = directory ? strlen(directory) : 0;
    while (len && directory[len - 1] == '/')
        len--;
    return len && !strncmp(path, directory, len) && path[len] == '/' && !strchr(path + len + 1, '/');
}

static enum secret_status cannot_read(const char *path, char **ret_error)
{
    int error = errno;
    *ret_error = mem_printf("cannot read %s: %s", path, strerror(error));
    return error == ENOENT ? SECRET_MISSING : SECRET_REFUSED;
}

/* Reads the line of a file that is open; `text` has max + 2 bytes. */
static enum secret_status read_line(int fd, const char *path, size_t max, char *text, char **ret_error)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return cannot_read(path, ret_error);
    if (!S_ISREG(st.st_mode)) {
        *ret_error = mem_printf("%s is not a regular file", path);
        return SECRET_REFUSED;
    }
    if (st.st_mode & (is_credential(path) ? 007 : 077)) {
        *ret_error = mem_printf("%s may be read by others: chmod 600 it", path);
        return SECRET_REFUSED;
    }
    ssize_t n = read(fd, text, max + 1);
    if (n < 0)
        return cannot_read(path, ret_error);
    text[n] = '\0';
    const char *line = text_secret_line(text);
    memmove(text, line, strlen(line) + 1);
    if (text[0] && (size_t)n <= max)
        return SECRET_READ;
    *ret_error = mem_printf("%s must hold one line of 1 to %zu characters", path, max);
    return text[0] ? SECRET_REFUSED : SECRET_MISSING;
}

enum secret_status secret_file_read(const char *path, size_t max, char **ret_secret, char **ret_error)
{
    char text[SECRET_FILE_MAX + 2];
    assert(max > 0 && max <= SECRET_FILE_MAX);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return cannot_read(path, ret_error);
    enum secret_status status = read_line(fd, path, max, text, ret_error);
    (void)close(fd);
    if (status == SECRET_READ)
        *ret_secret = mem_strdup(text);
    explicit_bzero(text, sizeof(text));
    return status;
}

/*
 * A secret in a file: one line that nobody but the owner of the process may read. Used when the configuration
 * is loaded (passwords) and on the loop thread (tokens handed over): a small local file, read at once. Any
 * thread.
 */
#ifndef CONFIG_SECRET_FILE_H
#define CONFIG_SECRET_FILE_H

#include <stdbool.h>
#include <stddef.h>

enum { TOKEN_MAX = 4096, SECRET_FILE_MAX = 4096 };

enum secret_status {
    SECRET_READ,
    SECRET_MISSING, /* no such file, or nothing in it: it may come later */
    SECRET_REFUSED, /* readable by others, too long, not a file, not readable */
};

/*
 * Reads the first line of `path`, of 1 to `max` (at most SECRET_FILE_MAX) characters. With `only_regular`
 * anything but a regular file is refused without waiting for it. SECRET_READ: *ret_secret is the secret,
 * freed with mem_free_secret. Else *ret_error says what is wrong, without a byte of the content; freed by the
 * caller.
 */
enum secret_status secret_file_read(const char *path, size_t max, bool only_regular, char **ret_secret,
                                    char **ret_error);

#endif

/*
 * Reads a secret from a file: one line that only the owner of the process may read. Used for passwords when
 * the configuration is loaded, and for tokens on the loop thread. The file is small and local, so the read
 * hardly blocks. Any thread.
 */
#ifndef CONFIG_SECRET_FILE_H
#define CONFIG_SECRET_FILE_H

#include <stdbool.h>
#include <stddef.h>

enum { TOKEN_MAX = 4096, SECRET_FILE_MAX = 4096 };

enum secret_status {
    SECRET_READ,
    SECRET_MISSING, /* the file is absent or empty; it may be written later */
    SECRET_REFUSED, /* other users may read the file, or it is too long, not a file, or not readable */
};

/*
 * Reads the first line of `path` (text_secret_line), 1 to `max` characters (at most SECRET_FILE_MAX). Refuses
 * everything except a regular file, and does not wait (for example for the writer of a pipe).
 * SECRET_READ: *ret_secret is the secret; the caller frees it with mem_free_secret. Otherwise *ret_error
 * describes the fault without any of the content; the caller frees it.
 */
enum secret_status secret_file_read(const char *path, size_t max, char **ret_secret, char **ret_error);

#endif

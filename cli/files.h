/* Reads files and makes directories. One thread; blocking. */
#ifndef CLI_FILES_H
#define CLI_FILES_H

#include <stdio.h>

struct buffer;

/* Appends the rest of the file. Returns 0 or an errno; EFBIG when the file is larger than the limit of
 * `bytes`. */
int files_read_all(FILE *file, struct buffer *bytes);
/* Does the same as files_read_all, for the file with this name. */
int files_read(const char *path, struct buffer *bytes);
/* Does the same as files_read, but never waits, and reads regular files only: EINVAL for any other. */
int files_read_regular(const char *path, struct buffer *bytes);
/* Makes a directory and its missing parents (0700). When root makes one in the directory of a user, as with
 * sudo -E, it belongs to this user. Returns 0 or an errno. */
int files_make_directory(const char *path);

#endif

/* Files as this program reads and makes them. One thread; blocking. */
#ifndef CLI_FILES_H
#define CLI_FILES_H

#include <stdio.h>

struct buffer;

/* Appends everything up to the end; 0 or an errno, EFBIG when the maximum of `bytes` would be passed. */
int files_read_all(FILE *file, struct buffer *bytes);
/* The same with the file of this name. */
int files_read(const char *path, struct buffer *bytes);
/* Makes a directory and those above it (0700) where they are missing; 0 or an errno. */
int files_make_directory(const char *path);

#endif

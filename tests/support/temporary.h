/* A temporary folder of a test. */
#ifndef TESTS_SUPPORT_TEMPORARY_H
#define TESTS_SUPPORT_TEMPORARY_H

#include <stddef.h>

/* Makes a new folder in $TMPDIR, or else in /tmp, and writes its path to `path`. */
void make_temporary(char *path, size_t size);
/* Removes the folder and all of its content. */
void remove_temporary(const char *path);

#endif

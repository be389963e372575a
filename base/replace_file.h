/*
 * Replaces the content of a file: the one way in which shootd and shootctl do it. The file is a regular file
 * before and afterwards; links are not followed. A reader sees the old or the new content, except in the case
 * of a file that cannot be replaced by a rename. The functions block.
 */
#ifndef BASE_REPLACE_FILE_H
#define BASE_REPLACE_FILE_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Writes a draft beside the file, with this mode and the owner and group of the old file, syncs it, and
 * renames it. Writes into the old file itself when a rename is not possible (a file that is mounted into a
 * container, a directory that may not be changed) or would change the owner. `draft` is the name of the
 * draft; a draft that an earlier process left is removed first, so the caller holds a lock, or no other
 * process writes the file. After a failure there is no draft. Returns 0 or a negative errno; -EPERM: the name
 * is that of a directory, device or FIFO; -ELOOP: of a link.
 */
int replace_file(int directory, const char *name, const char *draft, mode_t mode, const void *bytes,
                 size_t len);

#endif

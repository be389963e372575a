/*
 * Reads and writes small files that only shootd's user may read, in an open directory. Links are never
 * followed: a user who can place a link in the directory could otherwise choose the file that is read or
 * written. The functions block; they are called at the start.
 */
#ifndef BASE_PRIVATE_FILE_H
#define BASE_PRIVATE_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* The access that a file's mode may give to other users. */
enum private_mode {
    PRIVATE_TO_OWNER,
    PRIVATE_TO_GROUP, /* the file's group may read it: systemd passes credentials in this form */
};

/*
 * Reads at most `size` bytes. Returns their number or a negative errno. -EPERM: other users may read the
 * file, its owner is neither shootd's user nor root, or it is not a regular file. -ELOOP: the name is a link.
 */
int private_file_read(int directory, const char *name, enum private_mode mode, void *bytes, size_t size);
/* Replaces the file (base/replace_file.h), with the mode 0600; a link of this name is removed first. Returns
 * 0 or a negative errno. When only the sync of the directory fails, the file has its new content, and a power
 * failure may bring the old content back. */
int private_file_write(int directory, const char *name, const void *bytes, size_t len);
/* Removes the unfinished new file that remains when the process was killed in private_file_write. */
void private_file_remove_draft(int directory, const char *name);

#endif

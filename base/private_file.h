/*
 * Small files that only we may read, in a directory that is open. Names are never followed when they are
 * links: who could place one in the directory does not choose what is read or written. Blocking; at the
 * start.
 */
#ifndef BASE_PRIVATE_FILE_H
#define BASE_PRIVATE_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* The access that a file's mode may give to others. */
enum private_mode {
    PRIVATE_TO_OWNER,
    PRIVATE_TO_GROUP, /* its group may read it: how systemd hands credentials over */
};

/*
 * Reads at most `size` bytes; their number, or a negative errno: -EPERM when others may read the file, it
 * belongs to somebody else than us or root, or is no regular file; -ELOOP when it is a link.
 */
int private_file_read(int directory, const char *name, enum private_mode mode, void *bytes, size_t size);
/* Makes the file anew (mode 0600, synced) and then puts it in the place of the old one. 0 or a negative
 * errno. */
int private_file_write(int directory, const char *name, const void *bytes, size_t len);
/* Removes the draft that a killed private_file_write leaves. */
void private_file_remove_draft(int directory, const char *name);

#endif

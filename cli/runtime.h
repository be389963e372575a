/* Files of shootctl that are needed only during a session: cached credentials, and the kubeconfig of a
 * running kubectl. These files are in $XDG_RUNTIME_DIR/shootctl or, when that variable is not set or names a
 * directory of another user, in $XDG_CACHE_HOME/shootctl. Only the user may read the directory (0700). One
 * thread; blocking. */
#ifndef CLI_RUNTIME_H
#define CLI_RUNTIME_H

#include <stddef.h>

struct buffer;

/* Opens the directory, and makes it if it is missing. When other users may read the directory, or when it
 * cannot be made, writes a message and returns -1. */
int runtime_open(struct buffer *fault);
/* Stores the text in a new file (0600), in the directory for temporary files of all users when the usual
 * directory is not usable. Returns its absolute path, which the caller frees; after a failure returns NULL
 * with a message. */
char *runtime_temporary(const char *name, const char *text, size_t len, struct buffer *fault);

#endif

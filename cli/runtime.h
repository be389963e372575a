/* Files of ours that live as long as a session: the cache of credentials, kubeconfigs of one command. In
 * $XDG_RUNTIME_DIR/shootctl, without it in $XDG_CACHE_HOME/shootctl; the directory is ours alone (0700). One
 * thread; blocking. */
#ifndef CLI_RUNTIME_H
#define CLI_RUNTIME_H

#include <stddef.h>

struct buffer;

/* The open directory, made where it is missing; -1 with a message when others may read it or it cannot be
 * made. */
int runtime_open(struct buffer *fault);
/* A new file (0600) with this text; its absolute path, which the caller frees, or NULL with a message. */
char *runtime_temporary(const char *name, const char *text, size_t len, struct buffer *fault);

#endif

/*
 * `shootd backup` makes a checked copy of the store while shootd runs; `shootd restore` restores it while
 * shootd does not run. Both print their actions and return an exit code. Both block; nothing else runs in
 * this process.
 */
#ifndef DAEMON_BACKUP_H
#define DAEMON_BACKUP_H

#include <stdbool.h>

#include "config/config.h"

/* Writes a backup. `to` is the path of a new file, or a directory; the name of the file in a directory
 * contains the time. With `with_seal_key`, also writes the seal key to a second file, which has the same name
 * followed by .seal.key. */
int backup_write(const struct config *config, const char *to, bool with_seal_key);
/* Restores the file `from`, and the seal key beside it when there is one. Existing files are kept under other
 * names. When no key opens the sealed data of the backup, the store is restored only with
 * `without_secrets`. */
int backup_restore(const struct config *config, const char *from, bool without_secrets);

#endif

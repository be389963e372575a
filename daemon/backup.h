/*
 * `shootd backup` and `shootd restore`: a checked copy of the store while shootd runs, and its restore while
 * shootd does not run. Both print their actions and return an exit code. Blocking; nothing else runs in this
 * process.
 */
#ifndef DAEMON_BACKUP_H
#define DAEMON_BACKUP_H

#include <stdbool.h>

#include "config/config.h"

/* `to`: a new file, or a directory, in which the file is named by the time. With the seal key: also writes a
 * second file with the same name and .seal.key. */
int backup_write(const struct config *config, const char *to, bool with_seal_key);
/* Also restores a seal key beside the file `from`. Existing files are kept under other names. Changes nothing
 * when no key opens the sealed data of the backup, unless `without_secrets`. */
int backup_restore(const struct config *config, const char *from, bool without_secrets);

#endif

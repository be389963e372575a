/*
 * `shootd backup` and `shootd restore`: a checked copy of the store while shootd runs, and its way back while
 * it does not. Both print what they did. An exit code. Blocking; nothing else runs in this process.
 */
#ifndef DAEMON_BACKUP_H
#define DAEMON_BACKUP_H

#include <stdbool.h>

#include "config/config.h"

/* `to`: a file that is not there yet, or a directory, in which the file is named by the time. With the seal
 * key: as a second file, named as the first with .seal.key behind. */
int backup_write(const struct config *config, const char *to, bool with_seal_key);
/* A seal key that is beside the file `from` is put in its place, too. The files that were there are kept.
 * Without a key that opens what is sealed in the backup nothing is changed, unless `without_secrets`. */
int backup_restore(const struct config *config, const char *from, bool without_secrets);

#endif

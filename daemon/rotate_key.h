/*
 * `shootd rotate-seal-key`: a new seal key, and everything that is sealed in the store sealed again with it.
 * And whether a key fits a store, for `shootd check-store` and `shootd restore`. An exit code. Blocking;
 * nothing else runs in this process.
 */
#ifndef DAEMON_ROTATE_KEY_H
#define DAEMON_ROTATE_KEY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/seal.h"
#include "config/config.h"

/*
 * The daemon must not run. Killed at any moment, the old or the new key opens everything; the next start, or
 * the next call, finishes what was begun or removes it (base/seal_key.h).
 */
int rotate_key(const struct config *config);
enum key_fit {
    KEY_FITS,         /* or nothing was ever sealed in the store */
    KEY_FITS_NOT,     /* the store was sealed with another key */
    KEY_NOT_LOOKED_AT /* the store cannot be read, or is of an older schema */
};
/* Whether the key (NULL: there is none) is that of the store `database`, and how many webhooks have secrets
 * that it does not open. Prints each of these when `prints`. */
enum key_fit rotate_key_fit(const char *database, const struct seal_key *key, bool prints,
                            size_t *ret_unreadable);
/* Prints whether the key in the file `key` opens what is in the store `database`; false: it does not. */
bool rotate_key_check(const char *database, const char *key);

#endif

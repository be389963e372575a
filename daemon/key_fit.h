/*
 * Whether a seal key fits a store or a backup of one, of any schema, and what is lost where it does not: for
 * `shootd check-store` and `shootd restore`. Blocking; nothing else runs in this process.
 */
#ifndef DAEMON_KEY_FIT_H
#define DAEMON_KEY_FIT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/seal.h"

enum key_fit {
    KEY_FITS,         /* or nothing was ever sealed in the store */
    KEY_FITS_NOT,     /* the store was sealed with another key */
    KEY_NOT_LOOKED_AT /* the store cannot be read */
};

struct key_fit_result {
    enum key_fit fit;
    size_t webhooks; /* whose secrets the key does not open */
    size_t tokens;   /* of Cleura that are sealed in the store */
    size_t answers;  /* of keyed requests, likewise */
};

/* Looks at the key (NULL: there is none) and the store `database`. Prints each webhook whose secrets it does
 * not open when `prints`. */
struct key_fit_result key_fit_examine(const char *database, const struct seal_key *key, bool prints);
/* Says in words all that the key which was looked at does not open; NULL: nothing. The caller frees it. */
char *key_fit_loss(const struct key_fit_result *look);
/* Prints whether the key in the file `key` opens what is in the store `database`; false: it does not. */
bool key_fit_check(const char *database, const char *key);
/* Reads a seal key that may belong to another user than who asks. 0 or a negative errno. */
int key_fit_read(const char *path, struct seal_key *ret);

#endif

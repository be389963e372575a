/*
 * Checks whether a seal key fits a store or a backup of any schema. Finds the data that is lost when the key
 * does not fit. Used by `shootd check-store` and `shootd restore`. The functions block; nothing else runs in
 * this process.
 */
#ifndef DAEMON_KEY_FIT_H
#define DAEMON_KEY_FIT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/seal.h"

enum key_fit {
    KEY_FITS,         /* the key opens the sealed data, or the store contains none */
    KEY_FITS_NOT,     /* the store was sealed with another key */
    KEY_NOT_LOOKED_AT /* the store cannot be read */
};

struct key_fit_result {
    enum key_fit fit;
    size_t webhooks; /* number of webhooks whose secrets the key does not open */
    size_t tokens;   /* number of Cleura tokens sealed in the store */
    size_t answers;  /* number of stored answers to requests with an idempotency key */
};

/* Checks the key (NULL: none) against the store `database`. With `prints`, prints each webhook whose secrets
 * the key does not open. */
struct key_fit_result key_fit_examine(const char *database, const struct seal_key *key, bool prints);
/* Describes all data that the key does not open; NULL when it opens all data. The caller frees the text. */
char *key_fit_loss(const struct key_fit_result *look);
/* Prints whether the key in the file `key` opens the sealed data of the store `database`; false when it does
 * not. */
bool key_fit_check(const char *database, const char *key);
/* Reads a seal key that may belong to another user than the caller's. Returns 0 or a negative errno. */
int key_fit_read(const char *path, struct seal_key *ret);

#endif

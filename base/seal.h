/*
 * Sealing of secrets at rest: XChaCha20-Poly1305 under one key of the installation. The context (for example
 * "token|main|https://...|robot") is authenticated, so a sealed value cannot be moved to another place. Any
 * thread.
 */
#ifndef BASE_SEAL_H
#define BASE_SEAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/env.h"

enum { SEAL_KEY_BYTES = 32 };

struct seal_key {
    uint8_t bytes[SEAL_KEY_BYTES];
};

/*
 * Loads the key: $CREDENTIALS_DIRECTORY/shootd-seal-key when it is there, else `seal.key` in the
 * state directory, which is made (mode 0600) on first use. 0, or a negative errno with *ret_error (the caller
 * frees it) saying what is wrong.
 */
int seal_key_load(int state_dir, const struct env *env, struct seal_key *ret_key, char **ret_error);

/* A key for another purpose, which tells nothing of this one; `purpose` says which. */
void seal_derive(const struct seal_key *key, const char *purpose, uint8_t ret_key[static SEAL_KEY_BYTES]);

/* The caller frees the result. */
uint8_t *seal(const struct seal_key *key, const struct env *env, const char *context, const char *secret,
              size_t *ret_len);
/* NULL when the bytes were not sealed under this key and context. The result is a NUL-terminated secret. */
char *seal_open(const struct seal_key *key, const char *context, const uint8_t *sealed, size_t len);

#endif

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

enum { SEAL_KEY_BYTES = 32, SEAL_KEY_ID_BYTES = 33 /* text with its NUL */ };

struct seal_key {
    uint8_t bytes[SEAL_KEY_BYTES];
};

/* A key for another purpose, which reveals nothing of this one; `purpose` says which. */
void seal_derive(const struct seal_key *key, const char *purpose, uint8_t ret_key[static SEAL_KEY_BYTES]);

/* A name of the key, which reveals nothing of it: hex. */
void seal_key_id(const struct seal_key *key, char ret_id[static SEAL_KEY_ID_BYTES]);

/* The caller frees the result. */
uint8_t *seal(const struct seal_key *key, const struct env *env, const char *context, const char *secret,
              size_t *ret_len);
/* NULL when the bytes were not sealed under this key and context. The result is a NUL-terminated secret. */
char *seal_open(const struct seal_key *key, const char *context, const uint8_t *sealed, size_t len);

struct seal_change {
    const struct seal_key *from;
    const struct seal_key *to;
    const struct env *env;
};
/* Opens with one key and seals with the other, in place. False, and nothing changed: the first does not fit.
 */
bool seal_again(const struct seal_change *change, const char *context, uint8_t **sealed, size_t *len);

#endif

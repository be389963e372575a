/*
 * Encrypts ("seals") secrets before they are stored: XChaCha20-Poly1305 with one key for the installation.
 * The context (for example "token|main|https://...|robot") is authenticated, so a sealed value is not valid
 * in another row. Any thread.
 */
#ifndef BASE_SEAL_H
#define BASE_SEAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/env.h"

enum { SEAL_KEY_BYTES = 32, SEAL_KEY_ID_BYTES = 33 /* the length of the id with its NUL */ };

struct seal_key {
    uint8_t bytes[SEAL_KEY_BYTES];
};

/* Derives a key for another purpose, which `purpose` names. The derived key reveals nothing of `key`. */
void seal_derive(const struct seal_key *key, const char *purpose, uint8_t ret_key[static SEAL_KEY_BYTES]);

/* Writes an id of the key as hex; the id reveals nothing of the key. */
void seal_key_id(const struct seal_key *key, char ret_id[static SEAL_KEY_ID_BYTES]);

/* Seals the bytes. The caller frees the result. */
uint8_t *seal(const struct seal_key *key, const struct env *env, const char *context, const char *secret,
              size_t *ret_len);
/* Returns NULL when the bytes were not sealed under this key and context. The result is a NUL-terminated
 * secret; the caller frees it. */
char *seal_open(const struct seal_key *key, const char *context, const uint8_t *sealed, size_t len);

struct seal_change {
    const struct seal_key *from;
    const struct seal_key *to;
    const struct env *env;
};
/* Opens the value with the key `from` and seals it with the other key, in place. When `from` does not open
 * the value, changes nothing and returns false. */
bool seal_again(const struct seal_change *change, const char *context, uint8_t **sealed, size_t *len);

#endif

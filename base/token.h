/*
 * API tokens as text (AU-1, AU-2): "shd_", 32 random base62 characters, 6 characters of CRC-32 over all of
 * that. The checksum only rejects typing errors and made-up strings before a look-up. Pure but for env; any
 * thread.
 */
#ifndef BASE_TOKEN_H
#define BASE_TOKEN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/env.h"

#define TOKEN_PREFIX "shd_"
enum {
    TOKEN_LEN = 42, /* prefix 4, random 32, checksum 6 */
    TOKEN_BYTES = TOKEN_LEN + 1,
    TOKEN_DIGEST_BYTES = 32,
    TOKEN_HEX_BYTES = TOKEN_DIGEST_BYTES * 2 + 1,
};

/* Writes a new token; the caller overwrites it after use. */
void token_make(const struct env *env, char token[static TOKEN_BYTES]);
/* Length, alphabet, prefix and checksum are right. Says nothing about whether the token exists. */
bool token_is_wellformed(const char *token);
/* SHA-256 of the whole token: what is stored (AU-3). */
void token_digest(const char *token, uint8_t digest[static TOKEN_DIGEST_BYTES]);
/* A digest as lower-case hex: the key of VIEW_TOKENS. */
void token_hex(const uint8_t digest[static TOKEN_DIGEST_BYTES], char hex[static TOKEN_HEX_BYTES]);
void token_digest_hex(const char *token, char hex[static TOKEN_HEX_BYTES]);

#endif

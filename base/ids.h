/* Random names: identifiers, and API tokens as text. Pure except for env; any thread. */
#ifndef BASE_IDS_H
#define BASE_IDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/env.h"

/*
 * Identifiers: a type prefix and 26 characters of Crockford base32 (time in milliseconds, then 80 random
 * bits). They therefore sort by age in every store (DB-16). They are safe in URLs and never contain '.'.
 */
enum { ID_BYTES = 40 };

#define ID_CLUSTER      "cl_"
#define ID_OPERATION    "op_"
#define ID_EVENT        "evt_"
#define ID_SUBSCRIPTION "wh_"
#define ID_DELIVERY     "dlv_"
#define ID_TOKEN        "tok_"
#define ID_REQUEST      "req_"

/* Writes a new id (the prefix and 26 characters) into `id`, and returns `id`. */
const char *id_new(const struct env *env, const char *prefix, char id[static ID_BYTES]);

/* Writes a text that sorts before all ids that are made at this time or later (to the millisecond), and
 * returns it. */
const char *id_floor(const char *prefix, wall_us at, char id[static ID_BYTES]);

/* The 128 bits of an id as bytes, which sort like the ids. A store uses this form for an id that every row
 * contains. */
enum { ID_PACKED_BYTES = 16 };

/* Packs an id. False when `id` does not have the form of id_new with this prefix. */
bool id_pack(const char *prefix, const char *id, uint8_t packed[static ID_PACKED_BYTES]);
/* Unpacks an id into `id`, and returns `id`. */
const char *id_unpack(const char *prefix, const uint8_t packed[static ID_PACKED_BYTES],
                      char id[static ID_BYTES]);

/*
 * API tokens (AU-1, AU-2): "shd_", 32 random base62 characters, 6 characters of CRC-32 over all characters
 * before. The checksum only rejects typing errors and invented strings before they are looked up.
 */
#define TOKEN_PREFIX "shd_"
enum {
    TOKEN_LEN = 42, /* 4 of the prefix, 32 random, 6 of the checksum */
    TOKEN_BYTES = TOKEN_LEN + 1,
    TOKEN_DIGEST_BYTES = 32,
    TOKEN_HEX_BYTES = TOKEN_DIGEST_BYTES * 2 + 1,
};

/* Writes a new token; the caller overwrites it after use. */
void token_make(const struct env *env, char token[static TOKEN_BYTES]);
/* True when length, alphabet, prefix and checksum are right. This does not prove that the token exists. */
bool token_is_wellformed(const char *token);
/* Computes SHA-256 of the whole token. Only this digest is stored (AU-3). */
void token_digest(const char *token, uint8_t digest[static TOKEN_DIGEST_BYTES]);
/* Writes a digest as lower-case hex. The entries of VIEW_TOKENS have this text as their key. */
void token_hex(const uint8_t digest[static TOKEN_DIGEST_BYTES], char hex[static TOKEN_HEX_BYTES]);
void token_digest_hex(const char *token, char hex[static TOKEN_HEX_BYTES]);

#endif

#include "base/ids.h"

#include <assert.h>
#include <sodium.h>
#include <string.h>
#include <zlib.h>

static const char base32[] = "0123456789abcdefghjkmnpqrstvwxyz";

const char *id_new(const struct env *env, const char *prefix, char id[static ID_BYTES])
{
    enum { TIME_CHARS = 10, RANDOM_CHARS = 16 };
    size_t n = strlen(prefix);
    assert(n + TIME_CHARS + RANDOM_CHARS < ID_BYTES);
    memcpy(id, prefix, n);
    uint64_t ms = (uint64_t)(env_wall(env) / US_PER_MS);
    for (int i = TIME_CHARS - 1; i >= 0; i--) {
        id[n + (size_t)i] = base32[ms & 31];
        ms >>= 5;
    }
    unsigned char random[RANDOM_CHARS];
    env->random(env, random, sizeof(random));
    for (int i = 0; i < RANDOM_CHARS; i++)
        id[n + TIME_CHARS + (size_t)i] = base32[random[i] & 31];
    id[n + TIME_CHARS + RANDOM_CHARS] = '\0';
    return id;
}

static const char base62[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

enum { BASE = 62, PREFIX_LEN = 4, RANDOM_LEN = 32, CHECKSUM_LEN = 6, CHECKED_LEN = PREFIX_LEN + RANDOM_LEN };

/* Base62, most significant character first, padded with '0' (AU-1). */
static void write_checksum(const char *token, char checksum[static CHECKSUM_LEN])
{
    unsigned long crc = crc32(0L, (const unsigned char *)token, CHECKED_LEN);
    for (int i = CHECKSUM_LEN - 1; i >= 0; i--) {
        checksum[i] = base62[crc % BASE];
        crc /= BASE;
    }
}

void token_make(const struct env *env, char token[static TOKEN_BYTES])
{
    memcpy(token, TOKEN_PREFIX, PREFIX_LEN);
    for (size_t made = 0; made < RANDOM_LEN;) {
        unsigned char byte;
        env->random(env, &byte, 1);
        if (byte < 256 - 256 % BASE) /* the rest would favour the first characters */
            token[PREFIX_LEN + made++] = base62[byte % BASE];
    }
    write_checksum(token, token + CHECKED_LEN);
    token[TOKEN_LEN] = '\0';
}

bool token_is_wellformed(const char *token)
{
    if (strnlen(token, TOKEN_BYTES) != TOKEN_LEN || memcmp(token, TOKEN_PREFIX, PREFIX_LEN) != 0)
        return false;
    if (strspn(token + PREFIX_LEN, base62) != TOKEN_LEN - PREFIX_LEN)
        return false;
    char checksum[CHECKSUM_LEN];
    write_checksum(token, checksum);
    return memcmp(token + CHECKED_LEN, checksum, CHECKSUM_LEN) == 0;
}

void token_digest(const char *token, uint8_t digest[static TOKEN_DIGEST_BYTES])
{
    (void)crypto_hash_sha256(digest, (const unsigned char *)token, strlen(token));
}

void token_hex(const uint8_t digest[static TOKEN_DIGEST_BYTES], char hex[static TOKEN_HEX_BYTES])
{
    (void)sodium_bin2hex(hex, TOKEN_HEX_BYTES, digest, TOKEN_DIGEST_BYTES);
}

void token_digest_hex(const char *token, char hex[static TOKEN_HEX_BYTES])
{
    uint8_t digest[TOKEN_DIGEST_BYTES];
    token_digest(token, digest);
    token_hex(digest, hex);
}

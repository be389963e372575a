#include "base/ids.h"

#include <assert.h>
#include <sodium.h>
#include <string.h>
#include <zlib.h>

static const char base32[] = "0123456789abcdefghjkmnpqrstvwxyz";

enum { TIME_CHARS = 10, RANDOM_CHARS = 16, ID_DIGITS = TIME_CHARS + RANDOM_CHARS };

const char *id_floor(const char *prefix, wall_us at, char id[static ID_BYTES])
{
    size_t n = strlen(prefix);
    assert(n + ID_DIGITS < ID_BYTES);
    memcpy(id, prefix, n);
    uint64_t ms = at > 0 ? (uint64_t)(at / US_PER_MS) : 0;
    for (int i = TIME_CHARS - 1; i >= 0; i--) {
        id[n + (size_t)i] = base32[ms & 31];
        ms >>= 5;
    }
    id[n + TIME_CHARS] = '\0';
    return id;
}

const char *id_new(const struct env *env, const char *prefix, char id[static ID_BYTES])
{
    const size_t n = strlen(prefix);
    (void)id_floor(prefix, env_wall(env), id);
    unsigned char random[RANDOM_CHARS];
    env->random(env, random, sizeof(random));
    for (int i = 0; i < RANDOM_CHARS; i++)
        id[n + TIME_CHARS + (size_t)i] = base32[random[i] & 31];
    id[n + ID_DIGITS] = '\0';
    return id;
}

enum { BITS_OF_A_DIGIT = 5, FIRST_DIGIT_MOST = 7 }; /* 26 digits have 130 bits; the highest two bits are 0 */

bool id_pack(const char *prefix, const char *id, uint8_t packed[static ID_PACKED_BYTES])
{
    size_t n = strlen(prefix);
    if (strncmp(id, prefix, n) != 0 || strlen(id + n) != ID_DIGITS)
        return false;
    uint32_t held = 0;
    int bits = -2;
    size_t made = 0;
    for (const char *digit = id + n; *digit; digit++) {
        const char *found = strchr(base32, *digit);
        if (!found || (made == 0 && bits < 0 && found - base32 > FIRST_DIGIT_MOST))
            return false;
        held = held << BITS_OF_A_DIGIT | (uint32_t)(found - base32);
        bits += BITS_OF_A_DIGIT;
        if (bits >= 8) {
            bits -= 8;
            packed[made++] = (uint8_t)(held >> bits);
        }
    }
    assert(made == ID_PACKED_BYTES && bits == 0);
    return true;
}

const char *id_unpack(const char *prefix, const uint8_t packed[static ID_PACKED_BYTES],
                      char id[static ID_BYTES])
{
    size_t n = strlen(prefix);
    assert(n + ID_DIGITS < ID_BYTES);
    memcpy(id, prefix, n);
    uint32_t held = 0;
    int bits = 2;
    for (int i = 0; i < ID_PACKED_BYTES; i++) {
        held = held << 8 | packed[i];
        for (bits += 8; bits >= BITS_OF_A_DIGIT;) {
            bits -= BITS_OF_A_DIGIT;
            id[n++] = base32[held >> bits & 31];
        }
    }
    assert(bits == 0);
    id[n] = '\0';
    return id;
}

static const char base62[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

enum { BASE = 62, PREFIX_LEN = 4, RANDOM_LEN = 32, CHECKSUM_LEN = 6, CHECKED_LEN = PREFIX_LEN + RANDOM_LEN };

/* Writes the checksum in base62: most significant character first, padded with '0' (AU-1). */
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
        if (byte < 256 - 256 % BASE) /* larger bytes are not used: with them, the first characters of the
                                      * alphabet would be more frequent */
            token[PREFIX_LEN + made++] = base62[byte % BASE];
    }
    write_checksum(token, token + CHECKED_LEN);
    token[TOKEN_LEN] = '\0';
}

/* The function has no branch, so its duration is the same for all characters. */
static bool is_base62(char c)
{
    const unsigned char byte = (unsigned char)c, lower = byte | 0x20;
    return ((unsigned)byte - '0' < 10) | ((unsigned)lower - 'a' < 26);
}

/* Always makes all checks, so for tokens of one length the duration reveals nothing. */
bool token_is_wellformed(const char *token)
{
    if (strnlen(token, TOKEN_BYTES) != TOKEN_LEN)
        return false;
    char checksum[CHECKSUM_LEN];
    write_checksum(token, checksum);
    const bool has_prefix = memcmp(token, TOKEN_PREFIX, PREFIX_LEN) == 0;
    const bool has_checksum = memcmp(token + CHECKED_LEN, checksum, CHECKSUM_LEN) == 0;
    size_t digits = 0;
    for (size_t i = PREFIX_LEN; i < TOKEN_LEN; i++)
        digits += is_base62(token[i]);
    return has_prefix && has_checksum && digits == TOKEN_LEN - PREFIX_LEN;
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

/*
 * Secrets and signatures of Standard Webhooks 1.0 (WH-2 to WH-4). Pure functions, any thread. Keys are wiped
 * as soon as they were used; nothing here logs.
 */
#include "webhook/webhook.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/mem.h"

#define SECRET_PREFIX     "whsec_"
#define SIGNATURE_VERSION "v1,"

enum {
    SECRET_NEW_BYTES = 24,
    SECRET_MIN_BYTES = 24,
    SECRET_MAX_BYTES = 64,
    BASE64 = sodium_base64_VARIANT_ORIGINAL,
};

char *webhook_secret_new(const struct env *env)
{
    enum { PREFIX_LEN = sizeof(SECRET_PREFIX) - 1 };
    uint8_t key[SECRET_NEW_BYTES];
    size_t text_bytes = sodium_base64_ENCODED_LEN(sizeof(key), BASE64);
    char *secret = mem_calloc(PREFIX_LEN + text_bytes, 1);
    env->random(env, key, sizeof(key));
    memcpy(secret, SECRET_PREFIX, PREFIX_LEN);
    (void)sodium_bin2base64(secret + PREFIX_LEN, text_bytes, key, sizeof(key), BASE64);
    sodium_memzero(key, sizeof(key));
    return secret;
}

char *webhook_seal_context(const char *subscription_id)
{
    return mem_printf("webhook|%s", subscription_id);
}

/* The key behind "whsec_<base64>"; false when it is not one (WH-4). */
static bool decode_secret(const char *secret, uint8_t key[static SECRET_MAX_BYTES], size_t *ret_len)
{
    if (!secret || strncmp(secret, SECRET_PREFIX, strlen(SECRET_PREFIX)) != 0)
        return false;
    const char *text = secret + strlen(SECRET_PREFIX);
    const char *end = NULL;
    size_t len = 0;
    if (sodium_base642bin(key, SECRET_MAX_BYTES, text, strlen(text), NULL, &len, &end, BASE64) != 0)
        return false;
    if (*end || len < SECRET_MIN_BYTES)
        return false;
    *ret_len = len;
    return true;
}

char *webhook_sign(const char *secret, const char *id, int64_t timestamp_s, const char *body, size_t body_len)
{
    uint8_t key[SECRET_MAX_BYTES];
    size_t key_len = 0;
    if (!decode_secret(secret, key, &key_len))
        return NULL;
    char *prefix CLEANUP_FREE = mem_printf("%s.%" PRId64 ".", id, timestamp_s);
    crypto_auth_hmacsha256_state state;
    uint8_t digest[crypto_auth_hmacsha256_BYTES];
    (void)crypto_auth_hmacsha256_init(&state, key, key_len);
    (void)crypto_auth_hmacsha256_update(&state, (const uint8_t *)prefix, strlen(prefix));
    (void)crypto_auth_hmacsha256_update(&state, (const uint8_t *)body, body_len);
    (void)crypto_auth_hmacsha256_final(&state, digest);
    sodium_memzero(key, sizeof(key));
    sodium_memzero(&state, sizeof(state));
    char text[sodium_base64_ENCODED_LEN(sizeof(digest), sodium_base64_VARIANT_ORIGINAL)];
    (void)sodium_bin2base64(text, sizeof(text), digest, sizeof(digest), BASE64);
    return mem_printf(SIGNATURE_VERSION "%s", text);
}

/*
 * Signatures of Standard Webhooks 1.0 (WH-2 to WH-5). Pure functions, any thread. Keys are wiped as soon as
 * they were used; nothing here logs.
 *
 * Ed25519 (v1a) follows svix-server, where the scheme comes from: "whsk_" holds the seed and the public key,
 * 64 bytes, which is libsodium's form of a secret key. Its published vector is in test_webhook_sign.c. The
 * npm packages standardwebhooks 1.1.1 and svix 2.5.0 know v1 only and pass over v1a; whoever wants v1a
 * verifies with any library of Ed25519.
 */
#include "webhook/sign_private.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/mem.h"
#include "webhook/webhook.h"

enum { BASE64 = sodium_base64_VARIANT_ORIGINAL };

/* What is signed, in its parts. */
struct signed_text {
    const char *prefix; /* "id.timestamp." */
    const char *body;
    size_t body_len;
};

static void sign_hmac(const uint8_t *key, size_t key_len, const struct signed_text *text,
                      uint8_t *ret_signature)
{
    crypto_auth_hmacsha256_state state;
    (void)crypto_auth_hmacsha256_init(&state, key, key_len);
    (void)crypto_auth_hmacsha256_update(&state, (const uint8_t *)text->prefix, strlen(text->prefix));
    (void)crypto_auth_hmacsha256_update(&state, (const uint8_t *)text->body, text->body_len);
    (void)crypto_auth_hmacsha256_final(&state, ret_signature);
    sodium_memzero(&state, sizeof(state));
}

static void sign_ed25519(const uint8_t *key, size_t key_len, const struct signed_text *text,
                         uint8_t *ret_signature)
{
    (void)key_len;
    size_t prefix_len = strlen(text->prefix);
    /* Pure Ed25519 wants the message in one piece. */
    uint8_t *message CLEANUP_FREE = mem_calloc(prefix_len + text->body_len, 1);
    memcpy(message, text->prefix, prefix_len);
    memcpy(message + prefix_len, text->body, text->body_len);
    (void)crypto_sign_detached(ret_signature, NULL, message, prefix_len + text->body_len, key);
}

static const struct {
    const char *prefix;
    size_t min_bytes;
    size_t max_bytes;
    size_t signature_bytes;
    void (*sign)(const uint8_t *key, size_t key_len, const struct signed_text *text, uint8_t *ret_signature);
} schemes[SIGNATURE_SCHEME_MAX_] = {
    [SIGNATURE_V1] = {"whsec_", SECRET_MIN_BYTES, SECRET_MAX_BYTES, crypto_auth_hmacsha256_BYTES, sign_hmac},
    [SIGNATURE_V1A] = {"whsk_", crypto_sign_SECRETKEYBYTES, crypto_sign_SECRETKEYBYTES, crypto_sign_BYTES,
                       sign_ed25519},
};

_Static_assert(SECRET_MAX_BYTES >= crypto_sign_SECRETKEYBYTES, "either key fits");
_Static_assert(crypto_sign_BYTES >= crypto_auth_hmacsha256_BYTES, "either signature fits");

char *secret_encode(const char *prefix, const uint8_t *bytes, size_t len)
{
    size_t prefix_len = strlen(prefix), text_bytes = sodium_base64_encoded_len(len, BASE64);
    char *text = mem_calloc(prefix_len + text_bytes, 1);
    memcpy(text, prefix, prefix_len);
    (void)sodium_bin2base64(text + prefix_len, text_bytes, bytes, len, BASE64);
    return text;
}

bool secret_decode(const char *secret, enum signature_scheme scheme, uint8_t ret_key[static SECRET_MAX_BYTES],
                   size_t *ret_len)
{
    size_t prefix_len = strlen(schemes[scheme].prefix);
    if (!secret || strncmp(secret, schemes[scheme].prefix, prefix_len) != 0)
        return false;
    const char *text = secret + prefix_len;
    const char *end = NULL;
    size_t len = 0;
    if (sodium_base642bin(ret_key, SECRET_MAX_BYTES, text, strlen(text), NULL, &len, &end, BASE64) != 0)
        return false;
    if (*end || len < schemes[scheme].min_bytes || len > schemes[scheme].max_bytes)
        return false;
    *ret_len = len;
    return true;
}

static char *sign_as(enum signature_scheme scheme, const uint8_t *key, size_t key_len,
                     const struct signed_text *text)
{
    uint8_t signature[crypto_sign_BYTES];
    schemes[scheme].sign(key, key_len, text, signature);
    char *version CLEANUP_FREE = mem_printf("%s,", signature_scheme_name(scheme));
    return secret_encode(version, signature, schemes[scheme].signature_bytes);
}

char *webhook_sign(const char *secret, const char *id, int64_t timestamp_s, const char *body, size_t body_len)
{
    uint8_t key[SECRET_MAX_BYTES];
    size_t key_len = 0;
    char *prefix CLEANUP_FREE = mem_printf("%s.%" PRId64 ".", id, timestamp_s);
    const struct signed_text text = {prefix, body, body_len};
    char *signature = NULL;
    for (int i = 0; !signature && i < SIGNATURE_SCHEME_MAX_; i++)
        if (secret_decode(secret, (enum signature_scheme)i, key, &key_len))
            signature = sign_as((enum signature_scheme)i, key, key_len, &text);
    sodium_memzero(key, sizeof(key));
    return signature;
}

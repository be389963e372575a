/*
 * Signatures of Standard Webhooks 1.0 (WH-2 to WH-6), and the keys of webhooks. A key is made here, or given
 * by its owner. A delivery gets one signature from each valid key. Pure functions except for randomness and
 * the clock of env; any thread. A key is unsealed only inside the function that uses it, which wipes it
 * after use. This file logs nothing.
 *
 * Ed25519 (v1a) follows svix-server, which introduced the scheme: "whsk_" contains the seed and the public
 * key, 64 bytes, which is libsodium's form of a secret key. The published test vector is in
 * test_webhook_sign.c. The npm packages standardwebhooks 1.1.1 and svix 1.99.1 support only v1 and ignore
 * v1a. For v1a, receivers can use any Ed25519 library.
 */
#include "webhook/webhook.h"

#include <assert.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/buffer.h"
#include "base/mem.h"

enum {
    BASE64 = sodium_base64_VARIANT_ORIGINAL,
    SECRET_MIN_BYTES = 24,
    SECRET_MAX_BYTES = 64,
    SIGNATURES_MAX_BYTES = SUBSCRIPTION_MAX_KEYS * 128, /* three signatures and the spaces between them */
};

/* ---- signatures ---- */

/* The parts of the text that is signed. */
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

static void sign_ed25519(const uint8_t *key, size_t key_len ATTR_UNUSED, const struct signed_text *text,
                         uint8_t *ret_signature)
{
    size_t prefix_len = strlen(text->prefix);
    /* Pure Ed25519 needs the whole message in one piece of memory. */
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

/* Returns `prefix` and the bytes in base64; the caller frees it. */
static char *secret_encode(const char *prefix, const uint8_t *bytes, size_t len)
{
    size_t prefix_len = strlen(prefix), text_bytes = sodium_base64_encoded_len(len, BASE64);
    char *text = mem_calloc(prefix_len + text_bytes, 1);
    memcpy(text, prefix, prefix_len);
    (void)sodium_bin2base64(text + prefix_len, text_bytes, bytes, len, BASE64);
    return text;
}

/* Decodes the bytes of a secret "whsec_..." or "whsk_..."; returns false when the text is not a secret of
 * `scheme`. The caller overwrites the bytes after use. */
static bool secret_decode(const char *secret, enum signature_scheme scheme,
                          uint8_t ret_key[static SECRET_MAX_BYTES], size_t *ret_len)
{
    assert(scheme < SIGNATURE_SCHEME_MAX_);
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

char *webhook_sign(const char *secret, const char *id, int64_t timestamp_s, const char *body, size_t body_len)
{
    uint8_t key[SECRET_MAX_BYTES], signature[crypto_sign_BYTES];
    size_t key_len = 0;
    char *prefix CLEANUP_FREE = mem_printf("%s.%" PRId64 ".", id, timestamp_s);
    const struct signed_text text = {prefix, body, body_len};
    char *signed_as = NULL;
    for (int i = 0; !signed_as && i < SIGNATURE_SCHEME_MAX_; i++) {
        enum signature_scheme scheme = (enum signature_scheme)i;
        if (!secret_decode(secret, scheme, key, &key_len))
            continue;
        schemes[scheme].sign(key, key_len, &text, signature);
        char *version CLEANUP_FREE = mem_printf("%s,", signature_scheme_name(scheme));
        signed_as = secret_encode(version, signature, schemes[scheme].signature_bytes);
    }
    sodium_memzero(key, sizeof(key));
    return signed_as;
}

/* ---- keys ---- */

static char *secret_new(const struct env *env)
{
    uint8_t bytes[SECRET_MIN_BYTES];
    env->random(env, bytes, sizeof(bytes));
    char *secret = secret_encode("whsec_", bytes, sizeof(bytes));
    sodium_memzero(bytes, sizeof(bytes));
    return secret;
}

/* Makes "whsk_..." and its public key. */
static char *key_pair_new(const struct env *env, char **ret_public)
{
    uint8_t seed[crypto_sign_SEEDBYTES], public[crypto_sign_PUBLICKEYBYTES],
        secret[crypto_sign_SECRETKEYBYTES];
    env->random(env, seed, sizeof(seed));
    (void)crypto_sign_seed_keypair(public, secret, seed);
    char *text = secret_encode("whsk_", secret, sizeof(secret));
    *ret_public = secret_encode("whpk_", public, sizeof(public));
    sodium_memzero(seed, sizeof(seed));
    sodium_memzero(secret, sizeof(secret));
    return text;
}

char *webhook_seal_context(const char *webhook_id)
{
    return mem_printf("webhook|%s", webhook_id);
}

static struct signing_key key_sealed(const struct env *env, const struct seal_key *key,
                                     const char *webhook_id, enum signature_scheme scheme, const char *secret)
{
    char *context CLEANUP_FREE = webhook_seal_context(webhook_id);
    struct signing_key made = {.scheme = scheme, .created_at = env_wall(env)};
    made.sealed = seal(key, env, context, secret, &made.sealed_len);
    return made;
}

bool webhook_key_new(const struct env *env, const struct seal_key *key, const char *webhook_id,
                     enum signature_scheme scheme, struct signing_key *ret_key, char **ret_secret)
{
    if (scheme >= SIGNATURE_SCHEME_MAX_)
        return false;
    char *public = NULL;
    char *secret CLEANUP_SECRET = scheme == SIGNATURE_V1A ? key_pair_new(env, &public) : secret_new(env);
    *ret_key = key_sealed(env, key, webhook_id, scheme, secret);
    ret_key->public_key = public;
    *ret_secret = scheme == SIGNATURE_V1A ? NULL : TAKE_PTR(secret);
    return true;
}

bool webhook_key_given(const struct env *env, const struct seal_key *key, const char *webhook_id,
                       const char *secret, struct signing_key *ret_key)
{
    uint8_t bytes[SECRET_MAX_BYTES];
    size_t len = 0;
    bool ok = secret_decode(secret, SIGNATURE_V1, bytes, &len);
    sodium_memzero(bytes, sizeof(bytes));
    if (ok)
        *ret_key = key_sealed(env, key, webhook_id, SIGNATURE_V1, secret);
    return ok;
}

char *webhook_sign_all(const struct subscription *s, const struct seal_key *key, const char *id, wall_us now,
                       const char *body, size_t body_len)
{
    char *context CLEANUP_FREE = webhook_seal_context(s->id);
    struct buffer out CLEANUP_BUFFER;
    buffer_init(&out, SIGNATURES_MAX_BYTES);
    for (unsigned i = 0; i < s->key_count; i++) {
        const struct signing_key *k = &s->keys[i];
        if (k->expires_at && k->expires_at <= now)
            continue;
        char *secret CLEANUP_SECRET = seal_open(key, context, k->sealed, k->sealed_len);
        char *signature CLEANUP_FREE = webhook_sign(secret, id, now / US_PER_S, body, body_len);
        if (signature)
            buffer_printf(&out, "%s%s", out.len ? " " : "", signature);
    }
    return out.len ? buffer_take(&out, NULL) : NULL;
}

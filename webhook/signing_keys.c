/*
 * Keys of subscriptions: made, given by their owner, opened to sign with all that live (WH-4 to WH-6). Pure
 * functions but for randomness and the clock of env; any thread. A key is in clear only within one function.
 */
#include "webhook/sign_private.h"

#include <sodium.h>
#include <stdlib.h>

#include "base/attrs.h"
#include "base/buffer.h"
#include "base/mem.h"
#include "webhook/webhook.h"

/* Three signatures and the spaces between them. */
enum { SIGNATURES_MAX_BYTES = SUBSCRIPTION_MAX_KEYS * 128 };

static char *secret_new(const struct env *env)
{
    uint8_t bytes[SECRET_MIN_BYTES];
    env->random(env, bytes, sizeof(bytes));
    char *secret = secret_encode("whsec_", bytes, sizeof(bytes));
    sodium_memzero(bytes, sizeof(bytes));
    return secret;
}

/* "whsk_..." and its public half. */
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

char *webhook_seal_context(const char *subscription_id)
{
    return mem_printf("webhook|%s", subscription_id);
}

static struct signing_key key_sealed(const struct env *env, const struct seal_key *key,
                                     const char *subscription_id, enum signature_scheme scheme,
                                     const char *secret)
{
    char *context CLEANUP_FREE = webhook_seal_context(subscription_id);
    struct signing_key made = {.scheme = scheme, .created_at = env_wall(env)};
    made.sealed = seal(key, env, context, secret, &made.sealed_len);
    return made;
}

bool webhook_key_new(const struct env *env, const struct seal_key *key, const char *subscription_id,
                     enum signature_scheme scheme, struct signing_key *ret_key, char **ret_secret)
{
    if (scheme >= SIGNATURE_SCHEME_MAX_)
        return false;
    char *public = NULL;
    char *secret CLEANUP_SECRET = scheme == SIGNATURE_V1A ? key_pair_new(env, &public) : secret_new(env);
    *ret_key = key_sealed(env, key, subscription_id, scheme, secret);
    ret_key->public_key = public;
    *ret_secret = scheme == SIGNATURE_V1A ? NULL : TAKE_PTR(secret);
    return true;
}

bool webhook_key_given(const struct env *env, const struct seal_key *key, const char *subscription_id,
                       const char *secret, struct signing_key *ret_key)
{
    uint8_t bytes[SECRET_MAX_BYTES];
    size_t len = 0;
    bool ok = secret_decode(secret, SIGNATURE_V1, bytes, &len);
    sodium_memzero(bytes, sizeof(bytes));
    if (ok)
        *ret_key = key_sealed(env, key, subscription_id, SIGNATURE_V1, secret);
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
            (void)buffer_printf(&out, "%s%s", out.len ? " " : "", signature);
    }
    return out.len ? buffer_take(&out, NULL) : NULL;
}

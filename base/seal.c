#include "base/seal.h"

#include <assert.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum {
    NONCE = crypto_aead_xchacha20poly1305_ietf_NPUBBYTES,
    TAG = crypto_aead_xchacha20poly1305_ietf_ABYTES
};

void seal_derive(const struct seal_key *key, const char *purpose, uint8_t ret_key[static SEAL_KEY_BYTES])
{
    (void)crypto_generichash(ret_key, SEAL_KEY_BYTES, (const unsigned char *)purpose, strlen(purpose),
                             key->bytes, sizeof(key->bytes));
}

void seal_key_id(const struct seal_key *key, char ret_id[static SEAL_KEY_ID_BYTES])
{
    uint8_t derived[SEAL_KEY_BYTES];
    seal_derive(key, "shootd key id", derived);
    (void)sodium_bin2hex(ret_id, SEAL_KEY_ID_BYTES, derived, SEAL_KEY_ID_BYTES / 2);
}

uint8_t *seal(const struct seal_key *key, const struct env *env, const char *context, const char *secret,
              size_t *ret_len)
{
    assert(*context); /* without a context, a sealed value would be valid in every row */
    size_t len = strlen(secret);
    uint8_t *sealed = mem_calloc(NONCE + len + TAG, 1);
    unsigned long long written;
    env->random(env, sealed, NONCE);
    (void)crypto_aead_xchacha20poly1305_ietf_encrypt(sealed + NONCE, &written, (const unsigned char *)secret,
                                                     len, (const unsigned char *)context, strlen(context),
                                                     NULL, sealed, key->bytes);
    *ret_len = NONCE + (size_t)written;
    return sealed;
}

char *seal_open(const struct seal_key *key, const char *context, const uint8_t *sealed, size_t len)
{
    if (!sealed || len < NONCE + TAG)
        return NULL;
    char *secret = mem_calloc(len - NONCE - TAG + 1, 1);
    unsigned long long written;
    if (crypto_aead_xchacha20poly1305_ietf_decrypt((unsigned char *)secret, &written, NULL, sealed + NONCE,
                                                   len - NONCE, (const unsigned char *)context,
                                                   strlen(context), sealed, key->bytes) != 0) {
        free(secret);
        return NULL;
    }
    return secret;
}

bool seal_again(const struct seal_change *change, const char *context, uint8_t **sealed, size_t *len)
{
    char *secret CLEANUP_SECRET = seal_open(change->from, context, *sealed, *len);
    if (!secret)
        return false;
    free(*sealed);
    *sealed = seal(change->to, change->env, context, secret, len);
    return true;
}

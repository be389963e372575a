#include "base/seal.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/private_file.h"

enum {
    NONCE = crypto_aead_xchacha20poly1305_ietf_NPUBBYTES,
    TAG = crypto_aead_xchacha20poly1305_ietf_ABYTES
};

/* 0, or a negative errno. Refuses a file that others may read (SD-13). */
static int seal_key_read(int directory, const char *name, enum private_mode mode, struct seal_key *key)
{
    int n = private_file_read(directory, name, mode, key->bytes, sizeof(key->bytes));
    return n < 0 ? n : n == (int)sizeof(key->bytes) ? 0 : -EINVAL;
}

/* What systemd hands over; -ENOENT when there is none. */
static int seal_key_read_credential(struct seal_key *key)
{
    const char *credentials = getenv("CREDENTIALS_DIRECTORY");
    int directory = credentials ? open(credentials, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (directory < 0)
        return -ENOENT;
    int r = seal_key_read(directory, "shootd-seal-key", PRIVATE_TO_GROUP, key);
    (void)close(directory);
    return r;
}

int seal_key_load(int state_dir, const struct env *env, struct seal_key *ret_key, char **ret_error)
{
    const char *name = "credential shootd-seal-key";
    int r = seal_key_read_credential(ret_key);
    if (r == -ENOENT) {
        name = "seal.key";
        r = seal_key_read(state_dir, name, PRIVATE_TO_OWNER, ret_key);
    }
    if (r == -ENOENT) {
        env->random(env, ret_key->bytes, sizeof(ret_key->bytes));
        r = private_file_write(state_dir, name, ret_key->bytes, sizeof(ret_key->bytes));
    }
    if (r)
        *ret_error = mem_printf("%s: %s (a key is a file of exactly 32 bytes, readable by its owner only)",
                                name, strerror(-r));
    return r;
}

void seal_derive(const struct seal_key *key, const char *purpose, uint8_t ret_key[static SEAL_KEY_BYTES])
{
    (void)crypto_generichash(ret_key, SEAL_KEY_BYTES, (const unsigned char *)purpose, strlen(purpose),
                             key->bytes, sizeof(key->bytes));
}

uint8_t *seal(const struct seal_key *key, const struct env *env, const char *context, const char *secret,
              size_t *ret_len)
{
    assert(*context); /* a value sealed for no place could be moved to any */
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

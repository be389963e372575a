#include "base/seal.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

enum {
    NONCE = crypto_aead_xchacha20poly1305_ietf_NPUBBYTES,
    TAG = crypto_aead_xchacha20poly1305_ietf_ABYTES
};

/* 0, or a negative errno. Refuses a file that others may read (SD-13). */
static int read_key(const char *path, struct seal_key *key)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    struct stat st;
    int r = fstat(fd, &st) < 0 ? -errno : 0;
    if (!r && (st.st_mode & 077) && !getenv("CREDENTIALS_DIRECTORY"))
        r = -EPERM;
    if (!r && read(fd, key->bytes, sizeof(key->bytes)) != (ssize_t)sizeof(key->bytes))
        r = -EINVAL;
    (void)close(fd);
    return r;
}

static int write_key(const char *path, const struct seal_key *key)
{
    char *draft CLEANUP_FREE = mem_printf("%s.new", path);
    int fd = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return -errno;
    int r = 0;
    if (write(fd, key->bytes, sizeof(key->bytes)) != (ssize_t)sizeof(key->bytes) || fsync(fd) < 0)
        r = errno ? -errno : -EIO;
    (void)close(fd);
    if (!r && rename(draft, path) < 0)
        r = -errno;
    return r;
}

int seal_key_load(const char *state_dir, const struct env *env, struct seal_key *ret_key, char **ret_error)
{
    const char *credentials = getenv("CREDENTIALS_DIRECTORY");
    if (credentials) {
        char *path CLEANUP_FREE = mem_printf("%s/shootd-seal-key", credentials);
        int r = read_key(path, ret_key);
        if (r != -ENOENT) {
            if (r)
                *ret_error = mem_printf("%s: %s (a key is exactly 32 bytes)", path, strerror(-r));
            return r;
        }
    }
    char *path CLEANUP_FREE = mem_printf("%s/seal.key", state_dir);
    int r = read_key(path, ret_key);
    if (r == -ENOENT) {
        env->random(env, ret_key->bytes, sizeof(ret_key->bytes));
        r = write_key(path, ret_key);
    }
    if (r)
        *ret_error =
            mem_printf("%s: %s (a key is exactly 32 bytes, readable by its owner only)", path, strerror(-r));
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

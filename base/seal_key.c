#include "base/seal_key.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/mem.h"
#include "base/private_file.h"

#define KEY_FILE  "seal.key"
#define NEXT_FILE "seal.key.next"

/* Returns 0, or a negative errno. Refuses a file that other users may read (SD-13). */
static int read_key(int directory, const char *name, enum private_mode mode, struct seal_key *key)
{
    int n = private_file_read(directory, name, mode, key->bytes, sizeof(key->bytes));
    return n < 0 ? n : n == (int)sizeof(key->bytes) ? 0 : -EINVAL;
}

/* Reads the key that systemd passes as a credential; -ENOENT when there is none. */
static int read_credential(struct seal_key *key)
{
    const char *credentials = getenv("CREDENTIALS_DIRECTORY");
    int directory = credentials ? open(credentials, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (directory < 0)
        return -ENOENT;
    int r = read_key(directory, "shootd-seal-key", PRIVATE_TO_GROUP, key);
    (void)close(directory);
    return r;
}

int seal_key_load(int state_dir, const struct env *env, struct seal_key *ret_key, char **ret_error)
{
    const char *name = "credential shootd-seal-key";
    int r = read_credential(ret_key);
    if (r == -ENOENT) {
        name = KEY_FILE;
        r = seal_key_read(state_dir, ret_key);
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

int seal_key_read(int state_dir, struct seal_key *ret_key)
{
    return read_key(state_dir, KEY_FILE, PRIVATE_TO_OWNER, ret_key);
}

bool seal_key_is_credential(void)
{
    struct seal_key key;
    int r = read_credential(&key);
    explicit_bzero(&key, sizeof(key));
    return r != -ENOENT;
}

/* ---- the next key of a rotation ---- */

int seal_key_write_next(int state_dir, const struct seal_key *key)
{
    return private_file_write(state_dir, NEXT_FILE, key->bytes, sizeof(key->bytes));
}

/* Overwrites the file as well as possible: some disks write new bytes elsewhere and keep the old ones. */
static void overwrite(int fd)
{
    const uint8_t nothing[SEAL_KEY_BYTES] = {0};
    if (pwrite(fd, nothing, sizeof(nothing), 0) == (ssize_t)sizeof(nothing))
        (void)fsync(fd);
}

static int take_place(int state_dir)
{
    /* The old file stays open during the rename, so that its bytes can be overwritten afterwards. */
    int old = openat(state_dir, KEY_FILE, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    int r = renameat(state_dir, NEXT_FILE, state_dir, KEY_FILE) < 0 ? -errno : 1;
    /* When the directory cannot be synced, a power failure may bring both old names back, and the next start
     * repeats this step. The old key must not be overwritten then, because its file may still be seal.key. */
    if (r == 1 && directory_sync(state_dir) == 0 && old >= 0)
        overwrite(old);
    if (old >= 0)
        (void)close(old);
    return r;
}

int seal_key_settle(int state_dir, const char *store_key_id)
{
    struct seal_key next;
    char id[SEAL_KEY_ID_BYTES] = "";
    private_file_remove_draft(state_dir, NEXT_FILE);
    int r = read_key(state_dir, NEXT_FILE, PRIVATE_TO_OWNER, &next);
    if (r == -ENOENT)
        return 0;
    if (r && r != -EINVAL)
        return r;
    if (!r)
        seal_key_id(&next, id);
    explicit_bzero(&next, sizeof(next));
    if (*id && !strcmp(id, store_key_id))
        return take_place(state_dir);
    if (unlinkat(state_dir, NEXT_FILE, 0) < 0)
        return -errno;
    (void)directory_sync(state_dir); /* if the name comes back, the next start removes it again */
    return 0;
}

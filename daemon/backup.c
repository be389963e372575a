#include "daemon/backup.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/private_file.h"
#include "base/seal.h"
#include "base/timefmt.h"
#include "daemon/daemon.h"
#include "daemon/daemon_private.h"
#include "daemon/rotate_key.h"
#include "storage/storage.h"

static int fail(enum store_status status, const char *error)
{
    (void)fprintf(stderr, "shootd: %s\n", error ? error : store_status_name(status));
    return status == STORE_NEWER ? EXIT_CONFIG : EXIT_DEPENDENCY;
}

static int fail_with(const char *what, const char *path, int error)
{
    (void)fprintf(stderr, "shootd: %s %s: %s\n", what, path, strerror(error));
    return EXIT_DEPENDENCY;
}

static void print_copy(const char *what, const char *path, const struct store_copy *c)
{
    (void)printf("%-10s %s\nbytes      %" PRId64 "\nid         %s\nschema     %d\nevents     up to %" PRId64
                 "\nrows      ",
                 what, path, c->bytes, c->id, c->schema, c->event_sequence);
    for (size_t i = 0; i < STORE_COUNTS; i++)
        (void)printf("%s %s %" PRId64, i ? "," : "", store_count_names[i], c->rows[i]);
    (void)printf("\nchecked    ok\n");
}

/* ---- the seal key: of another user when root reads it, so that its owner is not asked about ---- */

int backup_read_key(const char *path, struct seal_key *ret)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return -errno;
    bool whole = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == (off_t)sizeof(ret->bytes) &&
                 read(fd, ret->bytes, sizeof(ret->bytes)) == (ssize_t)sizeof(ret->bytes);
    (void)close(fd);
    return whole ? 0 : -EINVAL;
}

/* Makes the file anew; it belongs to the owner of the directory when root makes it. */
static int write_private(const char *folder, const char *name, const void *bytes, size_t len)
{
    struct stat st;
    int directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0)
        return -errno;
    int r = private_file_write(directory, name, bytes, len);
    if (!r && geteuid() == 0 &&
        (fstat(directory, &st) < 0 ||
         fchownat(directory, name, st.st_uid, st.st_gid, AT_SYMLINK_NOFOLLOW) < 0))
        r = -errno;
    (void)close(directory);
    return r;
}

static char *key_beside(const char *backup)
{
    return mem_printf("%s.seal.key", backup);
}

/* ---- backup ---- */

static int write_beside(char *path, const void *bytes, size_t len)
{
    char *slash = strrchr(path, '/');
    if (slash)
        *slash = '\0';
    int r = write_private(slash ? (*path ? path : "/") : ".", slash ? slash + 1 : path, bytes, len);
    if (slash)
        *slash = '/';
    return r;
}

static int write_key_beside(const struct seal_key *key, const char *target)
{
    char *path CLEANUP_FREE = key_beside(target);
    int r = write_beside(path, key->bytes, sizeof(key->bytes));
    if (r)
        return fail_with("cannot write the seal key to", path, -r);
    (void)printf("seal.key   %s\n", path);
    return EXIT_OK;
}

static int describe(const struct store_copy *copy, const char *target, wall_us made_at)
{
    const char *slash = strrchr(target, '/');
    char *path CLEANUP_FREE = mem_printf("%s.json", target);
    json_t *doc CLEANUP_JSON = store_copy_document(copy, slash ? slash + 1 : target, made_at);
    char *text CLEANUP_FREE = json_text(doc);
    int r = write_beside(path, text, strlen(text));
    return r ? fail_with("cannot write the description to", path, -r) : EXIT_OK;
}

int backup_write(const struct config *config, const char *to, bool with_seal_key)
{
    struct seal_key key;
    struct stat st;
    char now[TIME_TEXT_BYTES];
    const wall_us made_at = env_wall(env_real());
    char *location CLEANUP_FREE = mem_printf("%s/shootd.db", config->state_dir);
    char *key_path CLEANUP_FREE = mem_printf("%s/seal.key", config->state_dir);
    char *next CLEANUP_FREE = mem_printf("%s.next", key_path);
    if (with_seal_key && access(next, F_OK) == 0)
        return fail(STORE_BROKEN, "the rotation of the seal key was interrupted: start shootd, or run shootd "
                                  "rotate-seal-key again");
    int r = with_seal_key ? backup_read_key(key_path, &key) : 0;
    if (r)
        return fail_with(
            "the seal key is not in the state directory (a credential is kept by you):", key_path, -r);
    bool in_directory = stat(to, &st) == 0 && S_ISDIR(st.st_mode);
    const char *slash = in_directory && to[strlen(to) - 1] == '/' ? "" : "/";
    char *target CLEANUP_FREE = in_directory
                                    ? mem_printf("%s%sshootd-%s.db", to, slash, time_for_name(made_at, now))
                                    : mem_strdup(to);
    char *description CLEANUP_FREE = mem_printf("%s.json", target);
    if (access(description, F_OK) == 0)
        return fail_with("cannot write the description to", description, EEXIST);
    struct store_copy copy;
    char *error CLEANUP_FREE = NULL;
    enum store_status status = sqlite_backup(location, target, NULL, &copy, &error);
    if (status != STORE_OK)
        return fail(status, error);
    print_copy("backup", target, &copy);
    int told = with_seal_key ? write_key_beside(&key, target) : EXIT_OK;
    if (told == EXIT_OK)
        told = describe(&copy, target, made_at);
    explicit_bzero(&key, sizeof(key));
    return told;
}

/* ---- restore ---- */

/* The key that is beside the backup waits under another name until the store is in place. */
#define KEY_DRAFT "seal.key.restored"

/* 1: there is a draft; 0: no key is beside the backup; else a negative errno, which was reported. */
static int prepare_key(const struct config *config, const char *from)
{
    struct seal_key key;
    char *beside CLEANUP_FREE = key_beside(from);
    int r = backup_read_key(beside, &key);
    if (r == -ENOENT)
        return 0;
    if (r) {
        (void)fail_with("cannot read the seal key", beside, -r);
        return r;
    }
    r = write_private(config->state_dir, KEY_DRAFT, key.bytes, sizeof(key.bytes));
    explicit_bzero(&key, sizeof(key));
    if (r)
        (void)fail_with("cannot write the seal key to", config->state_dir, -r);
    return r ? r : 1;
}

static void drop_key(const struct config *config)
{
    char *draft CLEANUP_FREE = mem_printf("%s/" KEY_DRAFT, config->state_dir);
    (void)unlink(draft);
}

static bool same_key(const char *one, const char *other)
{
    struct seal_key a, b;
    bool same = !backup_read_key(one, &a) && !backup_read_key(other, &b) && memcmp(&a, &b, sizeof(a)) == 0;
    explicit_bzero(&a, sizeof(a));
    explicit_bzero(&b, sizeof(b));
    return same;
}

/* The old name stays until another file takes it, but for a directory, which has no second name. */
static int keep_by_link(const char *from, const char *to)
{
    return link(from, to) == 0 ? 0 : rename(from, to);
}

/* Keeps the file of this name. *ret_kept: there was one. */
static int put_away(const struct config *config, const char *name, const char *now,
                    int (*keep)(const char *from, const char *to), bool *ret_kept)
{
    char *path CLEANUP_FREE = mem_printf("%s/%s", config->state_dir, name);
    char *kept CLEANUP_FREE = mem_printf("%s/before-restore-%s-%s", config->state_dir, now, name);
    *ret_kept = keep(path, kept) == 0;
    return *ret_kept || errno == ENOENT ? EXIT_OK : fail_with("cannot put away", path, errno);
}

/* The file that was there is kept when it is not the same key, whether or not it is one. */
static int place_key(const struct config *config, const char *now)
{
    char *draft CLEANUP_FREE = mem_printf("%s/" KEY_DRAFT, config->state_dir);
    char *place CLEANUP_FREE = mem_printf("%s/seal.key", config->state_dir);
    bool kept = false;
    /* There is a key at any moment. */
    int told = same_key(draft, place) ? EXIT_OK : put_away(config, "seal.key", now, keep_by_link, &kept);
    if (told != EXIT_OK)
        return told;
    int directory = open(config->state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool placed = directory >= 0 && rename(draft, place) == 0 && fsync(directory) == 0;
    if (!placed)
        told = fail_with("cannot write the seal key", place, errno);
    if (directory >= 0)
        (void)close(directory);
    if (placed && kept)
        (void)printf("seal.key   that of the backup; the one before is kept as before-restore-%s-seal.key\n",
                     now);
    else if (placed)
        (void)printf("seal.key   that of the backup\n");
    return told;
}

static int restore_key(const struct config *config, bool has_key, const char *now)
{
    bool kept = false;
    /* The key of a rotation that was interrupted may be that of the store which was put away. */
    int told = put_away(config, "seal.key.next", now, rename, &kept);
    if (told != EXIT_OK || has_key)
        return told == EXIT_OK ? place_key(config, now) : told;
    (void)printf("seal.key   none beside the backup: it stays as it is; with another one than the backup's, "
                 "log in to Cleura anew and rotate the secrets of webhooks\n");
    return EXIT_OK;
}

/* The key that would be there after the restore is not the one of the backup: reports what would be lost. */
static bool key_is_refused(const struct config *config, const char *from, bool has_key)
{
    struct seal_key key;
    size_t webhooks = 0;
    char *path CLEANUP_FREE = mem_printf("%s/%s", config->state_dir, has_key ? KEY_DRAFT : "seal.key");
    const int unread = backup_read_key(path, &key);
    const bool is_there = !unread;
    const enum key_fit fit = rotate_key_fit(from, is_there ? &key : NULL, false, &webhooks);
    explicit_bzero(&key, sizeof(key));
    if (fit != KEY_FITS_NOT)
        return false;
    (void)fprintf(stderr, "shootd: %s: the secrets of %zu webhooks and Cleura's tokens would be lost\n",
                  is_there            ? "seal.key is not the key of the backup"
                  : unread == -ENOENT ? "there is no seal.key"
                                      : "seal.key cannot be read as a key",
                  webhooks);
    (void)fprintf(stderr,
                  "to do      put that key beside the backup as %s.seal.key, or add --without-secrets:\n",
                  from);
    (void)fputs(
        "           shootd logs in to Cleura anew, and you rotate the secrets of webhooks. A key that is\n"
        "           a credential of systemd is not looked at here: where it is the right one, nothing is\n"
        "           lost\n",
        stderr);
    return true;
}

int backup_restore(const struct config *config, const char *from, bool without_secrets)
{
    char now[TIME_TEXT_BYTES];
    char *location CLEANUP_FREE = mem_printf("%s/shootd.db", config->state_dir);
    char *kept CLEANUP_FREE = mem_printf("%s/before-restore-%s-shootd.db", config->state_dir,
                                         time_for_name(env_wall(env_real()), now));
    struct store_copy copy;
    char *error CLEANUP_FREE = NULL;
    int directory = access(config->state_dir, F_OK) < 0 ? state_dir_open(config->state_dir, &error) : -1;
    if (error)
        return fail(STORE_BROKEN, error);
    if (directory >= 0)
        (void)close(directory);
    /* Before the store: what may fail here leaves the old store and its key. */
    int has_key = prepare_key(config, from);
    if (has_key < 0)
        return EXIT_DEPENDENCY;
    if (!without_secrets && key_is_refused(config, from, has_key)) {
        drop_key(config);
        return EXIT_DEPENDENCY;
    }
    enum store_status status = sqlite_restore(from, location, kept, &copy, &error);
    if (status != STORE_OK) {
        drop_key(config);
        return fail(status, error);
    }
    print_copy("restored", location, &copy);
    if (access(kept, F_OK) == 0)
        (void)printf("before     kept as %s\n", kept);
    return restore_key(config, has_key, now);
}

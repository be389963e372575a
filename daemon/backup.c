#include "daemon/backup.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/private_file.h"
#include "base/seal.h"
#include "base/timefmt.h"
#include "daemon/daemon.h"
#include "daemon/daemon_private.h"
#include "daemon/key_fit.h"
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

/* ---- files beside a backup ---- */

/* Writes a new file. A file that root makes gets the owner of the directory. After a failure there is no file
 * with this name. */
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
    if (r)
        (void)unlinkat(directory, name, 0);
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
    int r = with_seal_key ? key_fit_read(key_path, &key) : 0;
    if (r)
        return fail_with(
            "the seal key is not in the state directory (shootd cannot copy a systemd credential):", key_path,
            -r);
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
    int end = with_seal_key ? write_key_beside(&key, target) : EXIT_OK;
    if (end == EXIT_OK)
        end = describe(&copy, target, made_at);
    explicit_bzero(&key, sizeof(key));
    return end;
}

/* ---- restore ---- */

/* Until the store is restored, the key of the backup is in a file with this name. */
#define KEY_DRAFT "seal.key.restored"

/* One restore, and the result of the check of the key that will be used after it. */
struct restore {
    const struct config *config;
    const char *from;
    char now[TIME_TEXT_BYTES];
    bool has_key; /* whether a key is beside the backup */
    int unread;   /* 0, or a negative errno when the key cannot be read */
    struct key_fit_result look;
    char *loss; /* a text about the data that the key does not open; NULL: the key opens all data */
};

/* Writes the key of the backup as KEY_DRAFT. Returns 1 when the draft exists, and 0 when the backup has no
 * key. Otherwise it reports the failure and returns a negative errno. */
static int prepare_key(const struct config *config, const char *from)
{
    struct seal_key key;
    char *beside CLEANUP_FREE = key_beside(from);
    int r = key_fit_read(beside, &key);
    if (r == -ENOENT)
        return 0;
    if (r) {
        (void)fail_with("cannot read the seal key", beside, -r);
        (void)fputs("to do      put the key of the backup there, a file of 32 bytes, or remove that file\n",
                    stderr);
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
    bool same = !key_fit_read(one, &a) && !key_fit_read(other, &b) && memcmp(&a, &b, sizeof(a)) == 0;
    explicit_bzero(&a, sizeof(a));
    explicit_bzero(&b, sizeof(b));
    return same;
}

/* Gives the file a second name. The old name remains until another file replaces it. A directory cannot have
 * a second name, so it is renamed. */
static int keep_by_link(const char *from, const char *to)
{
    return link(from, to) == 0 ? 0 : rename(from, to);
}

/* Keeps the file under another name. *ret_kept: whether the file existed. */
static int put_away(const struct config *config, const char *name, const char *now,
                    int (*keep)(const char *from, const char *to), bool *ret_kept)
{
    char *path CLEANUP_FREE = mem_printf("%s/%s", config->state_dir, name);
    char *kept CLEANUP_FREE = mem_printf("%s/before-restore-%s-%s", config->state_dir, now, name);
    *ret_kept = keep(path, kept) == 0;
    return *ret_kept || errno == ENOENT ? EXIT_OK : fail_with("cannot put away", path, errno);
}

/* Returns a text about the actions that are necessary when sealed data was lost. */
static const char *after_loss(const struct key_fit_result *look)
{
    static const char *const words[2][2] = {
        {"nothing more", "nothing: shootd logs in to Cleura again by itself"},
        {"rotate the secrets of webhooks, and set their header fields again",
         "rotate the secrets of webhooks, and set their header fields again; "
         "shootd logs in to Cleura again by itself"}};
    return words[look->webhooks > 0][look->tokens > 0];
}

static void print_loss(const struct restore *x)
{
    if (x->loss)
        (void)printf("lost       %s\nto do      %s\n", x->loss, after_loss(&x->look));
}

/* Gives the key its final name. An existing file with different content gets another name, even when it is
 * not a key. */
static int place_key(const struct restore *x)
{
    char *draft CLEANUP_FREE = mem_printf("%s/" KEY_DRAFT, x->config->state_dir);
    char *place CLEANUP_FREE = mem_printf("%s/seal.key", x->config->state_dir);
    bool kept = false;
    /* Between these steps a key exists at every moment. */
    int end = same_key(draft, place) ? EXIT_OK : put_away(x->config, "seal.key", x->now, keep_by_link, &kept);
    if (end == EXIT_OK && rename(draft, place) != 0)
        end = fail_with("cannot write the seal key", place, errno);
    if (end != EXIT_OK) {
        (void)fprintf(stderr,
                      "to do      the store is that of the backup, but seal.key is the old key: rename\n"
                      "           %s to seal.key before you start shootd\n",
                      draft);
        return end;
    }
    (void)printf("seal.key   %s", x->loss ? "the key beside the backup, which is not the key of the backup"
                                          : "the key of the backup");
    if (kept)
        (void)printf("; the old key is kept as before-restore-%s-seal.key", x->now);
    (void)printf("\n");
    print_loss(x);
    return EXIT_OK;
}

/* Prints which key will be used; called when there is no key beside the backup. */
static void print_key_that_stays(const struct restore *x)
{
    const bool is_missing = x->unread == -ENOENT;
    const char *one = is_missing  ? "missing; shootd makes a key at its next start"
                      : x->unread ? "not changed: it is no valid key"
                      : x->loss   ? "not changed: it is not the key of the backup"
                                  : "not changed: it fits the backup";
    (void)printf("seal.key   %s\n", one);
    print_loss(x);
}

static int restore_key(const struct restore *x)
{
    bool kept = false;
    /* The key of an interrupted rotation may belong to the old store, so it is kept under another name. The
     * store is already replaced, so a failure of one step does not prevent the others. */
    int end = put_away(x->config, "seal.key.next", x->now, rename, &kept);
    if (!x->has_key) {
        print_key_that_stays(x);
        return end;
    }
    const int placed = place_key(x);
    return placed != EXIT_OK ? placed : end;
}

/* Writes the names of the restored files to the disk. `unsynced`: the reason why the name of the store is
 * perhaps not on the disk; NULL: it is. */
static int sync_restored(const struct restore *x, const char *unsynced)
{
    const int directory = open(x->config->state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const int r = directory < 0 ? -errno : directory_sync(directory);
    if (directory >= 0)
        (void)close(directory);
    if (!r && !unsynced)
        return EXIT_OK;
    (void)fprintf(stderr,
                  "shootd: the backup is restored, but a power failure may undo it: %s\n"
                  "to do      check the disk, then run this again\n",
                  unsynced ? unsynced : strerror(-r));
    return EXIT_DEPENDENCY;
}

/* Examines the key that will be used after the restore. */
static void look_at_key(struct restore *x)
{
    struct seal_key key;
    char *path CLEANUP_FREE = mem_printf("%s/%s", x->config->state_dir, x->has_key ? KEY_DRAFT : "seal.key");
    x->unread = key_fit_read(path, &key);
    x->look = key_fit_examine(x->from, x->unread ? NULL : &key, false);
    x->loss = key_fit_loss(&x->look);
    explicit_bzero(&key, sizeof(key));
}

/* Reports the data that a restore would lose, and how to keep it. */
static int refuse_key(const struct restore *x)
{
    const char *why = x->has_key             ? "the key beside the backup is not the key of the backup"
                      : x->unread == -ENOENT ? "there is no seal.key"
                      : x->unread            ? "seal.key is no valid key"
                                             : "seal.key is not the key of the backup";
    (void)fprintf(stderr,
                  "shootd: %s: a restore would lose %s\n"
                  "to do      put the key of the backup beside it, as %s.seal.key\n"
                  "           or add --without-secrets, and do after it: %s\n",
                  why, x->loss, x->from, after_loss(&x->look));
    if (!x->has_key)
        (void)fputs(
            "           This command does not read a key that is a credential of systemd. When that key\n"
            "           is the right one, --without-secrets loses nothing\n",
            stderr);
    return EXIT_DEPENDENCY;
}

/* Reports that the restore failed. `copy` is the value that sqlite_restore set. */
static int fail_restore(const struct restore *x, enum store_status status, const char *error,
                        const struct store_copy *copy)
{
    const char *directory = x->config->backups.directory;
    const int exit_code = fail(status, error);
    if (status == STORE_LOCKED)
        (void)fputs(
            "to do      stop shootd (systemctl stop shootd.socket shootd.service), then run this again\n",
            stderr);
    else if (status == STORE_NEWER)
        (void)fputs("to do      install that version, or a newer one, or take a backup of this version\n",
                    stderr);
    else if (!copy->schema)
        (void)fprintf(
            stderr,
            "to do      nothing was changed: take the newest backup that `shootd check-store BACKUP` "
            "finds sound%s%s\n",
            directory ? "; the backups that shootd makes are in " : "", directory ? directory : "");
    else
        (void)fputs(
            "to do      the backup is sound: check the free space and the permissions of state_dir, then run "
            "this again\n",
            stderr);
    return exit_code;
}

static int restore_store(struct restore *x)
{
    struct store_copy copy;
    char *error CLEANUP_FREE = NULL;
    char *location CLEANUP_FREE = mem_printf("%s/shootd.db", x->config->state_dir);
    char *kept CLEANUP_FREE = mem_printf("%s/before-restore-%s-shootd.db", x->config->state_dir, x->now);
    enum store_status status = sqlite_restore(x->from, location, kept, &copy, &error);
    if (status != STORE_OK) {
        drop_key(x->config);
        return fail_restore(x, status, error, &copy);
    }
    print_copy("restored", location, &copy);
    if (access(kept, F_OK) == 0)
        (void)printf("before     kept as %s\n", kept);
    const int end = restore_key(x);
    const int synced = sync_restored(x, error);
    return end != EXIT_OK ? end : synced;
}

int backup_restore(const struct config *config, const char *from, bool without_secrets)
{
    struct restore x = {.config = config, .from = from};
    char *error CLEANUP_FREE = NULL;
    (void)time_for_name(env_wall(env_real()), x.now);
    int directory = access(config->state_dir, F_OK) < 0 ? state_dir_open(config->state_dir, &error) : -1;
    if (error)
        return fail(STORE_BROKEN, error);
    if (directory >= 0)
        (void)close(directory);
    /* The key of the backup is first written as KEY_DRAFT, and gets its final name after the store was
     * restored. After a failure the old store and its key are therefore still there. */
    const int has_key = prepare_key(config, from);
    if (has_key < 0)
        return EXIT_DEPENDENCY;
    x.has_key = has_key;
    look_at_key(&x);
    int exit_code;
    if (x.loss && !without_secrets) {
        drop_key(config);
        exit_code = refuse_key(&x);
    } else {
        exit_code = restore_store(&x);
    }
    free(x.loss);
    return exit_code;
}

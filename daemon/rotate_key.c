#include "daemon/rotate_key.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/seal_key.h"
#include "daemon/daemon.h"
#include "daemon/daemon_private.h"
#include "reconcile/answers/replay.h"
#include "storage/storage.h"
#include "upstream/upstream.h"
#include "webhook/webhook.h"

/* The sealed data, and the change of the key. */
struct rotation {
    const struct config *config;
    void *conn;
    struct seal_change change;
    struct change_set *set; /* changes of webhooks, accounts and the key; stored answers are changed one by
                             * one */
    size_t webhooks, accounts, replays;
    char *obstacle; /* the reason why the rotation is impossible */
};

static const struct store_backend *const store = &store_sqlite;

static int fail(const char *what, const char *reason)
{
    (void)fprintf(stderr, "shootd: %s: %s\n", what, reason);
    return EXIT_DEPENDENCY;
}

/* ---- sealing again ---- */

static void seal_webhook(void *ctx, struct subscription *s)
{
    struct rotation *x = ctx;
    if (!webhook_seal_again(s, &x->change)) {
        if (!x->obstacle)
            x->obstacle = mem_printf("seal.key does not open the secrets of webhook %s: put the right key in "
                                     "its place, or start shootd, rotate the secret of the webhook and set "
                                     "its header fields again",
                                     s->id);
        subscription_free(s);
        return;
    }
    x->webhooks++;
    change_put_subscription(x->set, s);
}

/* Drops a token that is useless because its account was removed or has another URL or login. */
static void seal_account(void *ctx, struct account_state *a)
{
    struct rotation *x = ctx;
    const struct config_account *config = NULL;
    for (size_t i = 0; i < x->config->account_count; i++)
        if (!strcmp(x->config->accounts[i].name, a->name))
            config = &x->config->accounts[i];
    char *context CLEANUP_FREE = config ? upstream_token_context(config) : NULL;
    if (context && a->sealed_token &&
        seal_again(&x->change, context, &a->sealed_token, &a->sealed_token_len)) {
        x->accounts++;
    } else if (a->sealed_token) {
        free(TAKE_PTR(a->sealed_token));
        a->sealed_token_len = 0;
        (void)printf("account    %s: its token is dropped, and it logs in again\n", a->name);
    }
    change_put_account(x->set, a);
}

/* Seals the stored answers again. Answers that the old key does not open cannot be used; they remain until
 * they expire. */
static enum store_status seal_replays(struct rotation *x, char **ret_error)
{
    char key[REPLAY_DIGEST_BYTES] = "";
    struct replay *p = NULL;
    enum store_status status;
    while ((status = store->replay_behind(x->conn, key, &p)) == STORE_OK) {
        char *context CLEANUP_FREE = replay_context(key);
        struct change change = {.kind = CHANGE_REPLAY_PUT, .replay = p};
        if (p && seal_again(&x->change, context, &p->sealed_body, &p->sealed_body_len)) {
            status = store->apply(x->conn, &change, ret_error);
            x->replays++;
        }
        replay_free(p);
        if (status != STORE_OK)
            return status;
    }
    return status == STORE_NONE ? STORE_OK : status;
}

static enum store_status apply_all(struct rotation *x, char **ret_error)
{
    enum store_status status = store->begin(x->conn, ret_error);
    for (size_t i = 0; status == STORE_OK && i < x->set->count; i++)
        status = store->apply(x->conn, &x->set->changes[i], ret_error);
    if (status == STORE_OK)
        status = seal_replays(x, ret_error);
    return status;
}

/* ---- the order of the steps ---- */

/* Replaces the key. The new key is on disk before any data is sealed with it. The new key replaces the old
 * one after all data is sealed. */
static int replace(struct rotation *x, int directory)
{
    char id[SEAL_KEY_ID_BYTES];
    char *error CLEANUP_FREE = NULL;
    seal_key_id(x->change.to, id);
    change_put_seal_key(x->set, id);
    int r = seal_key_write_next(directory, x->change.to);
    if (r) {
        (void)seal_key_settle(directory,
                              ""); /* the key has its name when only the directory was not synced */
        return fail("nothing was changed, because the new key cannot be written", strerror(-r));
    }
    enum store_status status = apply_all(x, &error);
    if (status != STORE_OK) {
        store->rollback(x->conn);
        (void)seal_key_settle(directory, "");
        return fail("nothing was changed", error ? error : store_status_name(status));
    }
    if (store->commit(x->conn, &error) != STORE_OK) /* a commit that failed may have had an effect */
        return fail("the rotation was interrupted: run it again, or start shootd", error ? error : "commit");
    r = seal_key_settle(directory, id);
    if (r < 0)
        return fail("the new key is in use, but is not yet seal.key: run this again, or start shootd",
                    strerror(-r));
    (void)printf("seal.key   new\nsealed     %zu webhooks, %zu tokens of accounts, %zu stored answers\n"
                 "backups    earlier ones need the old key, which is only beside them (.seal.key)\n",
                 x->webhooks, x->accounts, x->replays);
    return EXIT_OK;
}

static const char credential_words[] =
    "shootd cannot replace a seal key that is a systemd credential. Stop shootd. Write the key as seal.key "
    "to the state directory (32 bytes, mode 0600, owned by the user of shootd; systemd-creds decrypt prints "
    "it). Run shootd rotate-seal-key outside of the unit. Make the new seal.key the credential "
    "(systemd-creds encrypt). Start shootd";

static int rotate(struct rotation *x, int directory)
{
    struct seal_key old, new_key;
    char *error CLEANUP_FREE = NULL;
    const struct store_visitor visitor = {.subscription = seal_webhook, .account = seal_account, .ctx = x};
    int r = seal_key_read(directory, &old);
    if (r == -ENOENT)
        return fail("there is no seal.key in the state directory", credential_words);
    if (r)
        return fail("seal.key", strerror(-r));
    env_real()->random(env_real(), new_key.bytes, sizeof(new_key.bytes));
    x->change = (struct seal_change){.from = &old, .to = &new_key, .env = env_real()};
    x->set = change_set_new();
    enum store_status status = store->load(x->conn, &visitor, &error);
    if (status != STORE_OK)
        r = fail("the store cannot be read", error ? error : store_status_name(status));
    else if (x->obstacle)
        r = fail("nothing was changed", x->obstacle);
    else
        r = replace(x, directory);
    explicit_bzero(&old, sizeof(old));
    explicit_bzero(&new_key, sizeof(new_key));
    change_set_free(x->set);
    free(x->obstacle);
    return r;
}

/* Called while the store is open. Because of the lock of the store, the daemon cannot run now. */
static int settle_or_rotate(struct rotation *x, int directory)
{
    char id[SEAL_KEY_ID_BYTES] = "";
    if (store->seal_key(x->conn, id) != STORE_OK)
        return fail("the store cannot be read", "the id of its key");
    int r = seal_key_settle(directory, id);
    if (r < 0)
        return fail("the interrupted rotation cannot be settled", strerror(-r));
    if (r == 0)
        return rotate(x, directory);
    (void)printf("seal.key   new: the rotation that was interrupted is finished\n");
    return EXIT_OK;
}

int rotate_key(const struct config *config)
{
    struct rotation x = {.config = config};
    char *location CLEANUP_FREE = mem_printf("%s/shootd.db", config->state_dir);
    char *error CLEANUP_FREE = NULL;
    if (seal_key_is_credential())
        return fail("nothing was changed", credential_words);
    int directory = open(config->state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0 || !state_dir_become_owner(directory))
        return fail(config->state_dir, strerror(errno));
    int exit_code;
    enum store_status status = STORE_NONE;
    if (access(location, F_OK) < 0)
        exit_code = fail(location, strerror(errno));
    else if ((status = store->open(location, true, &x.conn, &error)) != STORE_OK)
        exit_code = fail("the store cannot be opened", error ? error : store_status_name(status));
    else
        exit_code = settle_or_rotate(&x, directory);
    if (status == STORE_OK)
        store->close(x.conn);
    (void)close(directory);
    return status == STORE_NEWER ? EXIT_CONFIG : exit_code;
}

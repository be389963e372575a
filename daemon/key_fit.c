#include "daemon/key_fit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/attrs.h"
#include "base/mem.h"
#include "storage/storage.h"
#include "webhook/webhook.h"

struct key_look {
    const struct seal_key *key; /* NULL: there is no key */
    bool prints;
    size_t unreadable;
};

static void look_at_webhook(void *ctx, struct subscription *s)
{
    struct key_look *l = ctx;
    if (!l->key || !webhook_secrets_open(s, l->key)) {
        l->unreadable++;
        if (l->prints)
            (void)printf("           does not open the secrets of webhook %s: rotate its secret\n", s->id);
    }
    subscription_free(s);
}

/* Whether the key opens the sealed data. Without a key no sealed data can be opened. With a key, the secrets
 * of each webhook are opened for a test; for all other data the key id in the store decides. */
static bool fits(const struct key_look *l, const struct store_sealed *sealed)
{
    char id[SEAL_KEY_ID_BYTES];
    if (!l->key)
        return !l->unreadable && !sealed->tokens && !sealed->answers;
    seal_key_id(l->key, id);
    return !l->unreadable && (!*sealed->key_id || !strcmp(id, sealed->key_id));
}

struct key_fit_result key_fit_examine(const char *database, const struct seal_key *key, bool prints)
{
    char *error CLEANUP_FREE = NULL;
    struct key_look look = {.key = key, .prints = prints};
    struct store_sealed sealed;
    if (sqlite_sealed(database, look_at_webhook, &look, &sealed, &error) != STORE_OK)
        return (struct key_fit_result){.fit = KEY_NOT_LOOKED_AT};
    return (struct key_fit_result){.fit = fits(&look, &sealed) ? KEY_FITS : KEY_FITS_NOT,
                                   .webhooks = look.unreadable,
                                   .tokens = sealed.tokens,
                                   .answers = sealed.answers};
}

char *key_fit_loss(const struct key_fit_result *look)
{
    const struct {
        size_t count;
        const char *one, *before, *many;
    } parts[] = {
        {look->webhooks, "the secrets of 1 webhook", "the secrets of ", " webhooks"},
        {look->tokens, "the token of 1 account at Cleura", "the tokens of ", " accounts at Cleura"},
        {look->answers, "1 stored answer to a keyed request", "", " stored answers to keyed requests"},
    };
    char *text = NULL;
    size_t left = 0;
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        left += parts[i].count > 0;
    for (size_t i = 0; look->fit == KEY_FITS_NOT && i < ARRAY_LEN(parts); i++) {
        if (!parts[i].count)
            continue;
        left--;
        char *part CLEANUP_FREE = parts[i].count == 1
                                      ? mem_strdup(parts[i].one)
                                      : mem_printf("%s%zu%s", parts[i].before, parts[i].count, parts[i].many);
        char *before CLEANUP_FREE = text;
        text = mem_printf("%s%s%s", before ? before : "", !before ? "" : left ? ", " : " and ", part);
    }
    return text;
}

bool key_fit_check(const char *database, const char *key_path)
{
    static const char *const words[] = {
        [KEY_FITS] = "fits",
        [KEY_FITS_NOT] = "is not the key of the store: put the right key in its place, or start "
                         "shootd, whose log says what to do",
        [KEY_NOT_LOOKED_AT] = "not checked: the store cannot be read",
    };
    struct seal_key key;
    int r = key_fit_read(key_path, &key);
    if (r) {
        (void)printf("seal key   not checked: %s: %s%s\n", key_path, strerror(-r),
                     r == -ENOENT ? " (a systemd credential is not checked)" : "");
        return r == -ENOENT;
    }
    const struct key_fit_result look = key_fit_examine(database, &key, true);
    explicit_bzero(&key, sizeof(key));
    (void)printf("seal key   %s\n", words[look.fit]);
    return look.fit == KEY_FITS;
}

int key_fit_read(const char *path, struct seal_key *ret)
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

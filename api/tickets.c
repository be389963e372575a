#include "api/tickets.h"

#include <assert.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/lock.h"
#include "base/mem.h"
#include "view/view.h"

#define TICKET_PREFIX "ticket_"

enum { TICKET_RANDOM_BYTES = 24 };

struct ticket {
    uint8_t digest[TOKEN_DIGEST_BYTES];
    uint8_t token[TOKEN_DIGEST_BYTES];
    struct view_blob *caller; /* or NULL */
    mono_us ends_at;
};

void tickets_init(struct tickets *t)
{
    *t = (struct tickets){.count = 0};
    mutex_init(&t->lock);
}

void tickets_done(struct tickets *t)
{
    for (size_t i = 0; i < t->count; i++)
        view_blob_unref(t->items[i].caller);
    free(t->items);
    mutex_done(&t->lock);
}

/* The caller holds the lock. Tickets expire in the order of their creation. */
static void drop_expired(struct tickets *t, mono_us now)
{
    size_t gone = 0;
    while (gone < t->count && t->items[gone].ends_at <= now)
        view_blob_unref(t->items[gone++].caller);
    t->count -= gone;
    if (gone)
        memmove(t->items, t->items + gone, t->count * sizeof(*t->items));
}

/* The caller holds the lock. */
static bool tickets_are_full(const struct tickets *t, const uint8_t token[static TOKEN_DIGEST_BYTES])
{
    size_t of_token = 0;
    for (size_t i = 0; i < t->count; i++)
        of_token += !memcmp(t->items[i].token, token, TOKEN_DIGEST_BYTES);
    return t->count >= TICKETS_MAX || of_token >= TICKETS_PER_TOKEN_MAX;
}

static void make_ticket(const struct env *env, char ticket[static TICKET_BYTES])
{
    unsigned char bytes[TICKET_RANDOM_BYTES];
    env->random(env, bytes, sizeof(bytes));
    memcpy(ticket, TICKET_PREFIX, sizeof(TICKET_PREFIX));
    (void)sodium_bin2base64(ticket + strlen(TICKET_PREFIX), TICKET_BYTES - strlen(TICKET_PREFIX), bytes,
                            sizeof(bytes), sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    sodium_memzero(bytes, sizeof(bytes));
}

bool tickets_issue(struct tickets *t, const struct env *env, const uint8_t token[static TOKEN_DIGEST_BYTES],
                   struct view_blob *caller, char ticket[static TICKET_BYTES])
{
    struct ticket item = {.ends_at = env_mono(env) + TICKET_LIFETIME_S * US_PER_S};
    make_ticket(env, ticket);
    token_digest(ticket, item.digest);
    memcpy(item.token, token, sizeof(item.token));
    mutex_lock(&t->lock);
    drop_expired(t, env_mono(env));
    bool ok = !tickets_are_full(t, token);
    if (ok && t->count == t->capacity) {
        t->capacity = t->capacity ? t->capacity * 2 : 16;
        t->items = mem_realloc_array(t->items, t->capacity, sizeof(*t->items));
    }
    assert(!ok || t->count < t->capacity);
    if (ok) {
        item.caller = caller ? view_blob_ref(caller) : NULL;
        t->items[t->count++] = item;
    }
    mutex_unlock(&t->lock);
    return ok;
}

bool tickets_use(struct tickets *t, const struct env *env, const char *ticket,
                 uint8_t token[static TOKEN_DIGEST_BYTES], struct view_blob **ret_caller)
{
    uint8_t digest[TOKEN_DIGEST_BYTES];
    *ret_caller = NULL;
    token_digest(ticket, digest);
    mutex_lock(&t->lock);
    drop_expired(t, env_mono(env));
    size_t i = 0;
    while (i < t->count && memcmp(t->items[i].digest, digest, sizeof(digest)) != 0)
        i++;
    bool found = i < t->count;
    if (found) {
        memcpy(token, t->items[i].token, TOKEN_DIGEST_BYTES);
        *ret_caller = t->items[i].caller;
        t->count--;
        memmove(&t->items[i], &t->items[i + 1], (t->count - i) * sizeof(*t->items));
    }
    mutex_unlock(&t->lock);
    return found;
}

#include "api/tickets.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define PREFIX "ticket_"

enum { RANDOM_BYTES = 24 };

struct ticket {
    uint8_t digest[TOKEN_DIGEST_BYTES];
    uint8_t token[TOKEN_DIGEST_BYTES];
    mono_us ends_at;
};

void tickets_init(struct tickets *t)
{
    *t = (struct tickets){.count = 0};
    (void)pthread_mutex_init(&t->lock, NULL);
}

void tickets_done(struct tickets *t)
{
    free(t->items);
    (void)pthread_mutex_destroy(&t->lock);
}

/* Under the lock. They end in the order in which they were made. */
static void drop_expired(struct tickets *t, mono_us now)
{
    size_t gone = 0;
    while (gone < t->count && t->items[gone].ends_at <= now)
        gone++;
    t->count -= gone;
    if (gone)
        memmove(t->items, t->items + gone, t->count * sizeof(*t->items));
}

/* Under the lock. */
static bool is_full(const struct tickets *t, const uint8_t token[static TOKEN_DIGEST_BYTES])
{
    size_t of_token = 0;
    for (size_t i = 0; i < t->count; i++)
        of_token += !memcmp(t->items[i].token, token, TOKEN_DIGEST_BYTES);
    return t->count >= TICKETS_MAX || of_token >= TICKETS_PER_TOKEN_MAX;
}

static void make(const struct env *env, char ticket[static TICKET_BYTES])
{
    unsigned char bytes[RANDOM_BYTES];
    env->random(env, bytes, sizeof(bytes));
    memcpy(ticket, PREFIX, sizeof(PREFIX));
    (void)sodium_bin2base64(ticket + strlen(PREFIX), TICKET_BYTES - strlen(PREFIX), bytes, sizeof(bytes),
                            sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    sodium_memzero(bytes, sizeof(bytes));
}

bool tickets_issue(struct tickets *t, const struct env *env, const uint8_t token[static TOKEN_DIGEST_BYTES],
                   char ticket[static TICKET_BYTES])
{
    struct ticket item = {.ends_at = env_mono(env) + TICKET_LIFETIME_S * US_PER_S};
    make(env, ticket);
    token_digest(ticket, item.digest);
    memcpy(item.token, token, sizeof(item.token));
    (void)pthread_mutex_lock(&t->lock);
    drop_expired(t, env_mono(env));
    bool ok = !is_full(t, token);
    if (ok && t->count == t->capacity) {
        t->capacity = t->capacity ? t->capacity * 2 : 16;
        t->items = mem_realloc_array(t->items, t->capacity, sizeof(*t->items));
    }
    if (ok)
        t->items[t->count++] = item;
    (void)pthread_mutex_unlock(&t->lock);
    return ok;
}

bool tickets_use(struct tickets *t, const struct env *env, const char *ticket,
                 uint8_t token[static TOKEN_DIGEST_BYTES])
{
    uint8_t digest[TOKEN_DIGEST_BYTES];
    token_digest(ticket, digest);
    (void)pthread_mutex_lock(&t->lock);
    drop_expired(t, env_mono(env));
    size_t i = 0;
    while (i < t->count && memcmp(t->items[i].digest, digest, sizeof(digest)) != 0)
        i++;
    bool found = i < t->count;
    if (found) {
        memcpy(token, t->items[i].token, TOKEN_DIGEST_BYTES);
        t->count--;
        memmove(&t->items[i], &t->items[i + 1], (t->count - i) * sizeof(*t->items));
    }
    (void)pthread_mutex_unlock(&t->lock);
    return found;
}

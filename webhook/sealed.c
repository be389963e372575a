/* All sealed values of a webhook: checks whether a key opens them, and seals them again with another key.
 * Any thread. */
#include "webhook/webhook.h"

#include <stdlib.h>

#include "base/mem.h"

static bool opens(const struct seal_key *key, const char *context, const uint8_t *sealed, size_t len)
{
    char *secret CLEANUP_SECRET = seal_open(key, context, sealed, len);
    return secret != NULL;
}

bool webhook_secrets_open(const struct subscription *s, const struct seal_key *key)
{
    char *context CLEANUP_FREE = webhook_seal_context(s->id);
    bool ok = s->key_count && opens(key, context, s->keys[0].sealed, s->keys[0].sealed_len);
    for (unsigned i = 0; ok && i < s->header_count; i++) {
        char *value CLEANUP_SECRET = webhook_header_open(key, s->id, &s->headers[i]);
        ok = value != NULL;
    }
    return ok;
}

bool webhook_seal_again(struct subscription *s, const struct seal_change *change)
{
    if (!webhook_secrets_open(s, change->from))
        return false;
    char *context CLEANUP_FREE = webhook_seal_context(s->id);
    unsigned kept = 0;
    for (unsigned i = 0; i < s->key_count; i++) {
        struct signing_key key = s->keys[i];
        s->keys[i] = (struct signing_key){0};
        if (seal_again(change, context, &key.sealed, &key.sealed_len))
            s->keys[kept++] = key;
        else
            signing_key_done(&key);
    }
    s->key_count = kept;
    for (unsigned i = 0; i < s->header_count; i++) {
        struct webhook_header *h = &s->headers[i];
        char *of_header CLEANUP_FREE = webhook_header_context(s->id, h->name);
        (void)seal_again(change, of_header, &h->sealed, &h->sealed_len);
    }
    return true;
}

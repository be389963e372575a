#include "reconcile/world/token_registry.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/mem.h"
#include "reconcile/world/world.h"
#include "view/render.h"

/* Shows the token under this digest; NULL: no token has this digest any more. */
static void show_digest(struct reconcile *r, const uint8_t *digest, const struct api_token *t)
{
    char hex[TOKEN_HEX_BYTES];
    token_hex(digest, hex);
    view_set(r->o.view, VIEW_TOKENS, hex, t ? render_api_token_blob(t) : NULL);
}

/* The old secret of a rotated token is shown with the same token until that secret expires. */
static void show_old_secret(struct reconcile *r, const struct api_token *t)
{
    struct api_token *old = api_token_copy(t);
    old->is_old = true;
    /* streams and tickets that began with the old secret end when this secret expires */
    memcpy(old->digest, t->old_digest, sizeof(old->digest));
    if (!old->expires_at || old->expires_at > old->old_ends_at)
        old->expires_at = old->old_ends_at;
    show_digest(r, t->old_digest, old);
    api_token_free(old);
}

static struct token_entry *token_entry(struct reconcile *r, const char *id)
{
    struct token_entry *entry;
    HASH_FIND_STR(r->tokens, id, entry);
    assert(entry);
    return entry;
}

void token_add(struct reconcile *r, struct api_token *t)
{
    struct token_entry *entry = MEM_NEW(struct token_entry);
    memcpy(entry->id, t->id, sizeof(entry->id));
    entry->token = t;
    entry->r = r;
    HASH_ADD_STR(r->tokens, id, entry);
}

void token_entry_free(struct reconcile *r, struct token_entry *entry)
{
    HASH_DEL(r->tokens, entry);
    loop_timer_clear(r->o.loop, &entry->overlap.timer);
    api_token_free(entry->token);
    free(entry);
}

/* Removes the token's digests from the view, except the digests that `t` still has. `t` is NULL when the
 * token was removed. */
static void hide_digests(struct reconcile *r, struct token_entry *entry, const struct api_token *t)
{
    static const uint8_t none[sizeof(entry->shown[0])];
    for (size_t i = 0; i < ARRAY_LEN(entry->shown); i++) {
        char hex[TOKEN_HEX_BYTES];
        if (!memcmp(entry->shown[i], none, sizeof(none)))
            continue;
        show_digest(r, entry->shown[i], NULL);
        token_hex(entry->shown[i], hex);
        if (!t || (memcmp(entry->shown[i], t->digest, sizeof(none)) != 0 &&
                   (!t->old_ends_at || memcmp(entry->shown[i], t->old_digest, sizeof(none)) != 0)))
            view_note_former_token(r->o.view, hex);
    }
    memset(entry->shown, 0, sizeof(entry->shown));
}

void token_show(struct reconcile *r, const struct api_token *t)
{
    struct token_entry *entry = token_entry(r, t->id);
    hide_digests(r, entry, t->revoked_at ? NULL : t);
    if (t->revoked_at)
        return;
    show_digest(r, t->digest, t);
    memcpy(entry->shown[0], t->digest, sizeof(t->digest));
    if (!t->old_ends_at)
        return;
    show_old_secret(r, t);
    memcpy(entry->shown[1], t->old_digest, sizeof(t->old_digest));
}

void token_stored(struct reconcile *r, const struct api_token *t)
{
    struct token_entry *entry;
    HASH_FIND_STR(r->tokens, t->id, entry);
    if (!entry) /* a new token, which no command could use before this commit */
        token_add(r, api_token_copy(t));
    token_show(r, t);
}

void token_removed(struct reconcile *r, const char *id)
{
    struct token_entry *entry = token_entry(r, id);
    assert(entry->is_leaving);
    hide_digests(r, entry, NULL);
    token_entry_free(r, entry);
}

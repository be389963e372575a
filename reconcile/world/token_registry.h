/* The API tokens in memory, and what the view shows of them. Loop thread. */
#ifndef RECONCILE_WORLD_TOKEN_REGISTRY_H
#define RECONCILE_WORLD_TOKEN_REGISTRY_H

#include "model/api_token.h"

struct reconcile;
struct token_entry;

/* Shows the stored token under its digest, and also under the old digest while the old secret is valid. Hides
 * a revoked token. */
void token_show(struct reconcile *r, const struct api_token *t);
/* Adds a stored token to memory, and takes it over. */
void token_add(struct reconcile *r, struct api_token *t);
/* Removes the entry from memory. */
void token_entry_free(struct reconcile *r, struct token_entry *entry);
/* Called when the token was committed: adds a new token to memory, and shows the token. */
void token_stored(struct reconcile *r, const struct api_token *t);
/* Called when the removal of the token was committed: hides it, and removes it from memory. */
void token_removed(struct reconcile *r, const char *id);

#endif

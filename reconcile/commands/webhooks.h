/* Declarations shared by the files about webhooks. Loop thread. */
#ifndef RECONCILE_COMMANDS_WEBHOOKS_H
#define RECONCILE_COMMANDS_WEBHOOKS_H

#include "model/command.h"
#include "model/webhook.h"
#include "reconcile/world/save.h"

struct token_entry;

/* The save revokes the token `maker`: shows this fact in the webhooks that the token created, and disables
 * them if the revocation requests that. */
void webhooks_token_revoked(struct save *save, const struct token_entry *maker);
/* Finds the webhook of the command. Returns a problem when the webhook is absent, or not visible to the
 * caller, or has another version. */
struct problem *webhook_of(struct reconcile *r, const struct command *cmd, struct subscription_entry **ret);

/* ---- webhook_body.c: bodies of webhooks ---- */

/*
 * Applies the body of a create or a patch to `s`, whose id is set, and adds every fault. Absent members do
 * not change; null means the default.
 */
void webhook_apply(struct reconcile *r, const struct command *cmd, struct subscription *s,
                   struct problem **faults);
/*
 * Makes the key that a create or a rotation requests; `scheme` is used when the request names no scheme.
 * *ret_secret (the caller frees it with mem_free_secret) is the secret with which the receiver verifies, NULL
 * when it verifies with the public key. Returns false when a fault was added.
 */
bool webhook_make_key(struct reconcile *r, const struct command *cmd, const char *id,
                      enum signature_scheme scheme, struct signing_key *ret_key, char **ret_secret,
                      struct problem **faults);

#endif

/* Declarations that the files about webhooks share. Loop thread. */
#ifndef RECONCILE_COMMANDS_WEBHOOKS_H
#define RECONCILE_COMMANDS_WEBHOOKS_H

#include "model/command.h"
#include "model/webhook.h"
#include "reconcile/world/save.h"

struct token_entry;

/* Marks the webhooks that were made with a token which the save revokes, and switches them off if so asked.
 */
void webhooks_token_revoked(struct save *save, const struct token_entry *maker);
/* The webhook of the command; NULL after an answer: it is not there, not seen, or another version. */
struct subscription_entry *webhook_of(struct reconcile *r, struct command *cmd);

/* ---- webhook_body.c: what callers say about a webhook ---- */

/*
 * Applies the body of a create or a patch to `s`, whose id is set, and adds every fault. Members that the
 * body does not name stay as they are, null stands for the default.
 */
void webhook_apply(struct reconcile *r, const struct command *cmd, struct subscription *s,
                   struct problem **faults);
/*
 * The key that a create or a rotation asks for; `scheme` is used when it asks for none. *ret_secret (the
 * caller frees it with mem_free_secret) is what the receiver verifies with, NULL when that is the public key.
 * False after a fault.
 */
bool webhook_make_key(struct reconcile *r, const struct command *cmd, const char *id,
                      enum signature_scheme scheme, struct signing_key *ret_key, char **ret_secret,
                      struct problem **faults);

#endif

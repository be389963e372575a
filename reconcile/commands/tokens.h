/* API tokens. Loop thread. */
#ifndef RECONCILE_COMMANDS_TOKENS_H
#define RECONCILE_COMMANDS_TOKENS_H

#include "model/cluster.h"
#include "reconcile/world/world.h"

/* Makes a token row; *ret_secret is the token itself. */
struct api_token *token_new(struct reconcile *r, const char *name, enum role role, char **projects,
                            const char *created_by, char **ret_secret);

#endif

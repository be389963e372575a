/* The state of an account. This is a stored struct, see model/cluster.h. */
#ifndef MODEL_ACCOUNT_STATE_H
#define MODEL_ACCOUNT_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/env.h"
#include "base/json.h"

/* The state of a Cleura account that survives a restart. */
struct account_state {
    char *name;
    uint8_t *sealed_token; /* the token, or NULL; it is sealed with a context that contains the base URL and
                            * the login */
    size_t sealed_token_len;
    wall_us token_at;
    char *token_source; /* a word that says how shootd got the token (upstream/); or NULL */
    int login_failures; /* consecutive failures; stored, so that the limit on logins is kept across
                         * restarts */
    wall_us next_login_at;
    char *credentials_mark; /* a keyed digest of the refused credentials; when the configured credentials have
                             * a different digest, they are tried at once */
    bool two_factor;        /* Cleura's last refusal required a second factor */
    bool failure_announced; /* account.login_failed was emitted, and no later account.recovered */
};

void account_state_free(struct account_state *a);
json_t *account_state_to_json(const struct account_state *a);
struct account_state *account_state_from_json(const json_t *doc);

#endif

/* The state of accounts. A stored struct, see model/cluster.h. */
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
    uint8_t *sealed_token; /* or NULL; the seal's context binds it to base URL and login */
    size_t sealed_token_len;
    wall_us token_at;
    char *token_source; /* how shootd got the token, a word of upstream/; or NULL */
    int login_failures; /* failures in a row; stored so that the limit on logins survives restarts */
    wall_us next_login_at;
    char *credentials_mark; /* keyed digest of refused credentials: a corrected password is tried at once */
    bool two_factor;        /* the last refusal demanded a second factor */
    bool failure_announced; /* account.login_failed was emitted, and account.recovered not yet */
};

void account_state_free(struct account_state *a);
json_t *account_state_to_json(const struct account_state *a);
struct account_state *account_state_from_json(const json_t *doc);

#endif

/* Tokens, and a login that waits for its code. */
#ifndef SIMULATOR_CLOUD_SIM_TOKENS_H
#define SIMULATOR_CLOUD_SIM_TOKENS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TOKEN_SIZE        33
#define VERIFICATION_SIZE 11

struct sim;

struct token {
    char text[TOKEN_SIZE];
    int64_t expires_us;
};

struct auth {
    struct token *tokens;
    size_t token_count;
    size_t token_capacity;
    char verification[VERIFICATION_SIZE]; /* the verification of the login that waits for its code; "": no
                                           * login waits */
    bool code_requested;
};

void tokens_done(struct auth *auth);
/* Whether the token is valid for the login. */
bool tokens_is_live(struct sim *sim, const char *login, const char *token);
void tokens_expire_all(struct sim *sim);
size_t tokens_live_count(struct sim *sim);
/* Makes a token, and counts that as a login. The result is borrowed until the next call. */
const char *tokens_new(struct sim *sim);
/* Revokes a token. Does nothing when the token is not valid; `text` may be NULL. */
void tokens_revoke(struct sim *sim, const char *text);
/* Makes a new verification for the login that waits for its code. */
void tokens_new_verification(struct sim *sim);

#endif

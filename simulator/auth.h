/* Tokens and the two-factor login. */
#ifndef SIMULATOR_AUTH_H
#define SIMULATOR_AUTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TOKEN_SIZE        33
#define VERIFICATION_SIZE 11

struct exchange;
struct sim;

struct token {
    char text[TOKEN_SIZE];
    int64_t expires_us;
};

struct auth {
    struct token *tokens;
    size_t token_count;
    size_t token_capacity;
    char verification[VERIFICATION_SIZE]; /* the login waiting for its code; empty: none */
    bool code_requested;
};

void auth_done(struct auth *auth);
/* Login and token must be a live pair. */
bool auth_is_valid(struct sim *sim, const char *login, const char *token);
void auth_expire_all(struct sim *sim);
size_t auth_live_count(struct sim *sim);

void auth_create_token(struct exchange *x);
void auth_create_by_hash(struct exchange *x);
void auth_request_code(struct exchange *x);
void auth_verify_code(struct exchange *x);
void auth_validate(struct exchange *x);
void auth_revoke(struct exchange *x);

#endif

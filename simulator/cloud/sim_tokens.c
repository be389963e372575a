#include "simulator/cloud/sim_tokens.h"

#include "base/mem.h"
#include "simulator/cloud/sim.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define TOKENS_MAX 100000

static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";

void tokens_done(struct auth *auth)
{
    free(auth->tokens);
}

static void remove_token(struct auth *auth, size_t index)
{
    assert(index < auth->token_count);
    auth->tokens[index] = auth->tokens[--auth->token_count];
}

static void drop_expired(struct sim *sim)
{
    int64_t now_us = clock_now_us(&sim->clock);
    for (size_t i = sim->auth.token_count; i-- > 0;)
        if (sim->auth.tokens[i].expires_us <= now_us)
            remove_token(&sim->auth, i);
}

static struct token *find_token(struct sim *sim, const char *text)
{
    for (size_t i = 0; i < sim->auth.token_count; i++)
        if (!strcmp(sim->auth.tokens[i].text, text))
            return &sim->auth.tokens[i];
    return NULL;
}

bool tokens_is_live(struct sim *sim, const char *login, const char *token)
{
    if (!login || !token || strcmp(login, sim->options->login) != 0)
        return false;
    drop_expired(sim);
    return find_token(sim, token);
}

void tokens_expire_all(struct sim *sim)
{
    sim->auth.token_count = 0;
}

size_t tokens_live_count(struct sim *sim)
{
    drop_expired(sim);
    return sim->auth.token_count;
}

const char *tokens_new(struct sim *sim)
{
    struct auth *auth = &sim->auth;
    struct token *token;
    drop_expired(sim);
    if (auth->token_count == TOKENS_MAX)
        remove_token(auth, 0);
    if (auth->token_count == auth->token_capacity) {
        size_t capacity = auth->token_capacity == 0 ? 16 : auth->token_capacity * 2;
        struct token *grown = mem_calloc(capacity, sizeof(*grown));
        if (auth->token_count > 0)
            memcpy(grown, auth->tokens, auth->token_count * sizeof(*grown));
        free(auth->tokens);
        auth->tokens = grown;
        auth->token_capacity = capacity;
    }
    assert(auth->token_count < auth->token_capacity);
    token = &auth->tokens[auth->token_count++];
    random_text(&sim->random, letters, token->text, sizeof(token->text));
    token->expires_us = clock_now_us(&sim->clock) + clock_from_seconds(sim->options->token_ttl_seconds);
    sim->log.logins++;
    return token->text;
}

void tokens_revoke(struct sim *sim, const char *text)
{
    const struct token *token = text ? find_token(sim, text) : NULL;
    if (token)
        remove_token(&sim->auth, (size_t)(token - sim->auth.tokens));
}

void tokens_new_verification(struct sim *sim)
{
    random_text(&sim->random, letters, sim->auth.verification, sizeof(sim->auth.verification));
}

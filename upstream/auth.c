/*
 * Tokens of one account (cleura-api.md 3): remembered sealed over restarts, validated before first use,
 * renewed by one login when Cleura rejects them. A refused login closes the guard: attempts at 0, 5, 15, 35
 * s, ... are at most 4 in the first minute and 12 in the first hour. Loop thread; secrets never leave this
 * file but as headers.
 */
#include <sodium.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/log.h"
#include "base/mem.h"
#include "upstream/account_private.h"

enum { GUARD_LONGEST_S = 660 };

static const char *const login_states[] = {
    [LOGIN_UNKNOWN] = "unknown",         [LOGIN_OK] = "ok",
    [LOGIN_REJECTED] = "rejected",       [LOGIN_TWO_FACTOR] = "two_factor_required",
    [LOGIN_UNREACHABLE] = "unreachable", [LOGIN_NO_PASSWORD] = "no_password",
};

static _Atomic uint64_t logins[2];

const char *login_state_name(enum login_state state)
{
    return login_states[state];
}

uint64_t upstream_logins_total(bool ok)
{
    return atomic_load(&logins[ok]);
}

static char *seal_context(const struct upstream_account *a)
{
    return mem_printf("cleura-token|%s|%s|%s", a->config->name, a->config->url, a->config->login);
}

/* Tells changed credentials from the refused ones without storing anything that could be tried offline. */
static char *credentials_mark(const struct upstream_account *a)
{
    unsigned char digest[crypto_generichash_BYTES];
    char *text CLEANUP_SECRET = mem_printf("%s\n%s\n%s", a->config->url, a->config->login,
                                           a->config->password ? a->config->password : "");
    (void)crypto_generichash(digest, sizeof(digest), (const unsigned char *)text, strlen(text), a->key->bytes,
                             sizeof(a->key->bytes));
    char hex[sizeof(digest) * 2 + 1];
    return mem_strdup(sodium_bin2hex(hex, sizeof(hex), digest, sizeof(digest)));
}

static void set_login(struct upstream_account *a, enum login_state state, const char *message)
{
    bool changed = a->login != state;
    a->login = state;
    char *copy = mem_strdup(message);
    free(a->login_message);
    a->login_message = copy;
    if (changed && a->events.login_changed)
        a->events.login_changed(a->events.ctx, a, state, message);
}

static void remember(struct upstream_account *a)
{
    if (a->events.remember)
        a->events.remember(a->events.ctx, a->remembered);
}

static void drop_token(struct upstream_account *a)
{
    mem_free_secret(a->token);
    a->token = NULL;
    free(a->remembered->sealed_token);
    a->remembered->sealed_token = NULL;
    a->remembered->sealed_token_len = 0;
}

void auth_init(struct upstream_account *a, const struct account_state *remembered)
{
    a->remembered = MEM_NEW(struct account_state);
    a->remembered->name = mem_strdup(a->config->name);
    if (!remembered)
        return;
    char *context CLEANUP_FREE = seal_context(a);
    char *mark CLEANUP_FREE = credentials_mark(a);
    a->token = seal_open(a->key, context, remembered->sealed_token, remembered->sealed_token_len);
    if (a->token) {
        a->token_generation++;
        a->remembered->sealed_token = mem_dup(remembered->sealed_token, remembered->sealed_token_len);
        a->remembered->sealed_token_len = remembered->sealed_token_len;
        a->remembered->token_at = remembered->token_at;
    }
    /* A guard further ahead than the longest delay was set by a clock that was wrong. */
    bool plausible = remembered->next_login_at - env_wall(a->env) <= GUARD_LONGEST_S * US_PER_S;
    if (plausible && remembered->credentials_mark && !strcmp(remembered->credentials_mark, mark)) {
        a->remembered->login_failures = remembered->login_failures;
        a->remembered->next_login_at = remembered->next_login_at;
        a->remembered->credentials_mark = mem_strdup(mark);
    }
}

void auth_done(struct upstream_account *a)
{
    if (a->auth_call)
        a->transport->cancel(a->transport, a->auth_call);
    mem_free_secret(a->token);
    free(a->login_message);
    account_state_free(a->remembered);
}

void auth_token_rejected(struct upstream_account *a, uint64_t generation)
{
    if (generation != a->token_generation || !a->token)
        return;
    log_info("token rejected by Cleura", "account", a->config->name);
    drop_token(a);
}

static void accept_token(struct upstream_account *a, char *token)
{
    char *context CLEANUP_FREE = seal_context(a);
    drop_token(a);
    a->token = token;
    a->token_checked = true;
    a->token_generation++;
    struct account_state *r = a->remembered;
    r->sealed_token = seal(a->key, a->env, context, token, &r->sealed_token_len);
    r->token_at = env_wall(a->env);
    r->login_failures = 0;
    r->next_login_at = 0;
    atomic_fetch_add(&logins[1], 1);
    log_info("logged in to Cleura", "account", a->config->name, "generation", a->generation->name);
    remember(a);
    set_login(a, LOGIN_OK, NULL);
}

/* Seconds to wait after the n-th refusal in a row. */
static int64_t guard_delay_s(int failures)
{
    static const int64_t delays[] = {5, 10, 20, 40, 80, 160, 320, 600};
    size_t i = failures > 0 ? (size_t)failures - 1 : 0;
    return delays[i < ARRAY_LEN(delays) ? i : ARRAY_LEN(delays) - 1];
}

static void refuse_login(struct upstream_account *a, enum login_state state, const char *message)
{
    struct account_state *r = a->remembered;
    r->login_failures++;
    int64_t delay_s = guard_delay_s(r->login_failures);
    /* Jitter only lengthens, so that the counts above stay upper bounds. */
    int64_t extra_us = (int64_t)env_random_below(a->env, (uint64_t)(delay_s * US_PER_S / 20));
    r->next_login_at = env_wall(a->env) + delay_s * US_PER_S + extra_us;
    free(r->credentials_mark);
    r->credentials_mark = credentials_mark(a);
    atomic_fetch_add(&logins[0], 1);
    log_warning("login to Cleura refused", "account", a->config->name, "state", login_states[state],
                "message", message, "next_attempt_s", LOG_INT(delay_s));
    remember(a);
    set_login(a, state, message);
}

static void fill_refusal(const struct upstream_account *a, struct upstream_result *result)
{
    wall_us wait = a->remembered->next_login_at - env_wall(a->env);
    *result = (struct upstream_result){
        .class = UPSTREAM_LOGIN_FAILED,
        .message = mem_printf("account %s: %s%s%s", a->config->name, login_states[a->login],
                              a->login_message ? ": " : "", a->login_message ? a->login_message : ""),
        .retry_after_s = wait > 0 ? (int)(wait / US_PER_S) + 1 : 1,
    };
}

static void fail_all(struct upstream_account *a)
{
    struct upstream_result refusal;
    fill_refusal(a, &refusal);
    lane_fail_waiting(a, &refusal);
    upstream_result_done(&refusal);
}

static void on_login(void *ctx, const struct http_answer *answer)
{
    struct upstream_account *a = ctx;
    char *message CLEANUP_FREE = NULL;
    char *token = NULL;
    bool rejected;
    a->auth = AUTH_IDLE;
    a->auth_call = NULL;
    enum upstream_class class = classify_answer(false, answer, &message, &rejected);
    if (class == UPSTREAM_OK) {
        enum login_result result = a->generation->decode_login(answer->body, answer->body_len, &token);
        if (result == LOGIN_RESULT_TOKEN)
            accept_token(a, token);
        else if (result == LOGIN_RESULT_TWO_FACTOR)
            refuse_login(a, LOGIN_TWO_FACTOR,
                         "the account wants a second factor: use an account without one for unattended work");
        else
            class = UPSTREAM_UNREACHABLE;
        if (result != LOGIN_RESULT_TOKEN)
            mem_free_secret(token);
    } else if (class == UPSTREAM_REFUSED || class == UPSTREAM_FORBIDDEN || class == UPSTREAM_ABSENT) {
        /* Never quote Cleura here: a validation error may echo the password (cleura-api.md 2.3). */
        refuse_login(a, LOGIN_REJECTED, "Cleura refused the login and password");
    } else {
        class = class == UPSTREAM_THROTTLED ? class : UPSTREAM_UNREACHABLE;
    }
    if (class == UPSTREAM_UNREACHABLE || class == UPSTREAM_THROTTLED)
        set_login(a, LOGIN_UNREACHABLE, "Cleura could not be reached to log in");
    health_note(a, answer, class);
    if (a->login == LOGIN_REJECTED || a->login == LOGIN_TWO_FACTOR)
        fail_all(a);
    lane_kick(a);
}

static void on_validated(void *ctx, const struct http_answer *answer)
{
    struct upstream_account *a = ctx;
    char *message CLEANUP_FREE = NULL;
    bool rejected;
    a->auth = AUTH_IDLE;
    a->auth_call = NULL;
    enum upstream_class class = classify_answer(false, answer, &message, &rejected);
    health_note(a, answer, class);
    if (class == UPSTREAM_OK) {
        a->token_checked = true;
        set_login(a, LOGIN_OK, NULL);
    } else if (rejected) {
        auth_token_rejected(a, a->token_generation);
    } else if (class != UPSTREAM_UNREACHABLE && class != UPSTREAM_THROTTLED) {
        /* No such check here: the first real call tells. */
        a->token_checked = true;
    }
    lane_kick(a);
}

static void send_auth(struct upstream_account *a, enum auth_phase phase)
{
    struct request_draft draft;
    if (phase == AUTH_LOGGING_IN)
        a->generation->build_login(a->config, &draft);
    else
        draft = (struct request_draft){"POST", mem_strdup(a->generation->validate_path), NULL};
    const struct sending how = {
        .with_token = phase == AUTH_VALIDATING, .is_write = true, .timeout_us = a->config->call_timeout_us};
    a->auth = phase;
    a->auth_call = account_send(a, &draft, &how, phase == AUTH_LOGGING_IN ? on_login : on_validated, a);
    request_draft_done(&draft);
}

enum auth_answer auth_prepare(struct upstream_account *a, struct upstream_result *ret_refusal)
{
    if (a->token && a->token_checked)
        return AUTH_READY;
    if (a->auth != AUTH_IDLE)
        return AUTH_STARTED;
    if (a->token) {
        send_auth(a, AUTH_VALIDATING);
        return AUTH_STARTED;
    }
    if (!a->config->password)
        set_login(a, LOGIN_NO_PASSWORD, "no password is configured");
    else if (env_wall(a->env) >= a->remembered->next_login_at) {
        send_auth(a, AUTH_LOGGING_IN);
        return AUTH_STARTED;
    } else if (a->login == LOGIN_UNKNOWN) {
        set_login(a, LOGIN_REJECTED, "refused before the restart; the login guard is still closed");
    }
    fill_refusal(a, ret_refusal);
    return AUTH_REFUSED;
}

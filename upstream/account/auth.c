/*
 * The tokens of one account (CL-4). A token is stored sealed, so that it can be used after a restart. A
 * token that was stored or came from a file is validated before its first use, and a token that Cleura
 * rejects is renewed. A new token comes from the token file, or otherwise from a login. The automatic login
 * never causes an SMS. It is not made again after Cleura has required a second factor. After a refused
 * login, the login guard is closed for some time, and no login is made in this time. Attempts are possible
 * after 0, 5, 15, 35 s, ...: at most 4 in the first minute and 12 in the first hour. Loop thread. Secrets
 * leave this folder only in requests to Cleura.
 */
#include <assert.h>
#include <sodium.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "upstream/account/account_private.h"

enum { GUARD_LONGEST_S = 660, PERSON_NEEDED_S = 30 };

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

char *upstream_token_context(const struct config_account *account)
{
    return mem_printf("cleura-token|%s|%s|%s", account->name, account->url, account->login);
}

/* Returns the digest of the credentials. The digest shows whether the credentials were changed after Cleura
 * refused them. */
static char *credentials_mark(const struct upstream_account *a)
{
    char mark[CREDENTIAL_MARK_BYTES];
    char *text CLEANUP_SECRET = mem_printf("%s\n%s\n%s", a->config->url, a->config->login,
                                           a->config->password ? a->config->password : "");
    credential_mark(a, text, mark);
    return mem_strdup(mark);
}

static void set_login(struct upstream_account *a, enum login_state state, const char *message)
{
    bool changed = a->session.login != state;
    a->session.login = state;
    mem_set_str(&a->session.login_message, message);
    if (changed && a->events.login_changed)
        a->events.login_changed(a->events.ctx, a, state, message);
}

void auth_report(struct upstream_account *a, enum login_state state, const char *message)
{
    if (!a->session.token)
        set_login(a, state, message);
}

static void remember(struct upstream_account *a)
{
    if (a->events.remember)
        a->events.remember(a->events.ctx, a->session.remembered);
}

static void drop_token(struct upstream_account *a)
{
    mem_free_secret(a->session.token);
    a->session.token = NULL;
    free(a->session.remembered->sealed_token);
    a->session.remembered->sealed_token = NULL;
    a->session.remembered->sealed_token_len = 0;
}

void auth_init(struct upstream_account *a, const struct account_state *remembered)
{
    a->session.remembered = MEM_NEW(struct account_state);
    a->session.remembered->name = mem_strdup(a->config->name);
    if (!remembered)
        return;
    char *context CLEANUP_FREE = upstream_token_context(a->config);
    char *mark CLEANUP_FREE = credentials_mark(a);
    a->session.token = seal_open(a->key, context, remembered->sealed_token, remembered->sealed_token_len);
    if (a->session.token) {
        a->session.token_generation++;
        a->session.remembered->sealed_token = mem_dup(remembered->sealed_token, remembered->sealed_token_len);
        a->session.remembered->sealed_token_len = remembered->sealed_token_len;
        a->session.remembered->token_at = remembered->token_at;
        a->session.remembered->token_source =
            mem_strdup(remembered->token_source ? remembered->token_source : "password");
    }
    /* A time that is further away than the longest delay was stored while the clock was wrong. */
    bool plausible = remembered->next_login_at - env_wall(a->env) <= GUARD_LONGEST_S * US_PER_S;
    if (plausible && remembered->credentials_mark && !strcmp(remembered->credentials_mark, mark)) {
        a->session.remembered->login_failures = remembered->login_failures;
        a->session.remembered->next_login_at = remembered->next_login_at;
        a->session.guard_until = env_mono(a->env) + (remembered->next_login_at - env_wall(a->env));
        a->session.remembered->credentials_mark = mem_strdup(mark);
        a->session.remembered->two_factor = remembered->two_factor;
    }
}

static bool texts_equal(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

/* Called when the credentials have changed. An earlier refusal does not concern the new credentials. A token
 * is discarded when the login has changed, because a token belongs to one login. */
static void begin_afresh(struct upstream_account *a, bool other_login)
{
    struct account_state *r = a->session.remembered;
    if (a->session.call) {
        exchange_cancel(a->session.call);
        a->session.call = NULL;
        a->session.phase = AUTH_IDLE;
        health_abandoned(a);
    }
    if (other_login) {
        a->session.token_generation++;
        drop_token(a);
    }
    r->login_failures = 0;
    r->next_login_at = 0;
    a->session.guard_until = 0;
    r->two_factor = false;
    mem_set_str(&r->credentials_mark, NULL);
    a->session.needs_person = false;
    a->session.useless_logins = 0;
    a->session.no_relogin_until = a->session.next_file_check = 0;
    a->session.file_error = NULL;
    memset(a->session.file_mark, 0, sizeof(a->session.file_mark));
    by_hand_interrupt(a);
    if (!a->session.token)
        set_login(a, LOGIN_UNKNOWN, NULL);
    remember(a);
}

bool auth_configure(struct upstream_account *a, const struct config_account *config)
{
    const struct config_account *before = a->config;
    const bool other_login = strcmp(before->login, config->login) != 0;
    const bool same = !other_login && texts_equal(before->password, config->password) &&
                      texts_equal(before->token_file, config->token_file);
    a->config = config;
    if (!same)
        begin_afresh(a, other_login);
    return !same;
}

void auth_done(struct upstream_account *a)
{
    if (a->session.call)
        exchange_cancel(a->session.call);
    mem_free_secret(a->session.token);
    by_hand_done(a);
    free(a->session.login_message);
    account_state_free(a->session.remembered);
}

void auth_token_rejected(struct upstream_account *a, uint64_t generation)
{
    if (generation != a->session.token_generation || !a->session.token)
        return;
    log_info("token rejected by Cleura", "account", a->config->name, "source",
             a->session.remembered->token_source);
    credential_mark(a, a->session.token, a->session.rejected_mark);
    drop_token(a);
}

static void token_confirmed(struct upstream_account *a)
{
    struct account_state *r = a->session.remembered;
    a->session.token_checked = true;
    a->session.needs_person = false;
    r->login_failures = 0;
    r->next_login_at = 0;
    a->session.guard_until = 0;
    r->two_factor = false;
    remember(a);
    set_login(a, LOGIN_OK, NULL);
}

void auth_accept_token(struct upstream_account *a, char *token, const char *source, bool checked)
{
    assert(token && token != a->session.token);
    char *context CLEANUP_FREE = upstream_token_context(a->config);
    drop_token(a);
    a->session.token = token;
    a->session.token_checked = checked;
    a->session.token_generation++;
    struct account_state *r = a->session.remembered;
    r->sealed_token = seal(a->key, a->env, context, token, &r->sealed_token_len);
    r->token_at = env_wall(a->env);
    mem_set_str(&r->token_source, source);
    if (!checked)
        return;
    atomic_fetch_add(&logins[1], 1);
    log_info("logged in to Cleura", "account", a->config->name, "generation", a->driver->abilities.api, "by",
             source);
    token_confirmed(a);
}

void auth_close_guard(struct upstream_account *a)
{
    /* The delays in seconds: the first after one refusal, the second after two consecutive refusals, and so
     * on. */
    static const int64_t delays_s[] = {5, 10, 20, 40, 80, 160, 320, 600};
    struct account_state *r = a->session.remembered;
    r->login_failures++;
    size_t i = r->login_failures > 0 ? (size_t)r->login_failures - 1 : 0;
    int64_t delay_s = delays_s[i < ARRAY_LEN(delays_s) ? i : ARRAY_LEN(delays_s) - 1];
    /* The jitter only lengthens delays, so the numbers of attempts at the head of this file are never
     * exceeded. */
    int64_t extra_us = (int64_t)env_random_below(a->env, (uint64_t)(delay_s * US_PER_S / 20));
    const int64_t wait_us = delay_s * US_PER_S + extra_us;
    r->next_login_at = env_wall(a->env) + wait_us;
    a->session.guard_until = env_mono(a->env) + wait_us;
    free(r->credentials_mark);
    r->credentials_mark = credentials_mark(a);
    remember(a);
}

void auth_refuse(struct upstream_account *a, enum login_state state, const char *message)
{
    a->session.remembered->two_factor = state == LOGIN_TWO_FACTOR;
    auth_close_guard(a);
    atomic_fetch_add(&logins[0], 1);
    log_warning("login to Cleura refused", "account", a->config->name, "state", login_states[state], "reason",
                message, "next_attempt_s", LOG_INT((a->session.guard_until - env_mono(a->env)) / US_PER_S));
    auth_report(a, state, message);
}

/* Fills the result for calls that wait for a token, when no token is expected soon. */
static void fill_refusal(const struct upstream_account *a, struct upstream_result *result)
{
    int64_t wait = a->session.guard_until - env_mono(a->env);
    /* A person must act first, so frequent retries are useless. */
    if ((a->session.needs_person || !a->config->password) && wait < PERSON_NEEDED_S * US_PER_S)
        wait = PERSON_NEEDED_S * US_PER_S;
    *result = (struct upstream_result){
        .class = UPSTREAM_LOGIN_FAILED,
        .message = mem_printf("account %s: %s%s%s", a->config->name, login_states[a->session.login],
                              a->session.login_message ? ": " : "",
                              a->session.login_message ? a->session.login_message : ""),
        .retry_after_s = wait > 0 ? (int)(wait / US_PER_S) + 1 : 1,
    };
}

enum upstream_class auth_answered(struct upstream_account *a, const struct exchange_end *end)
{
    enum auth_phase phase = a->session.phase;
    assert(phase != AUTH_IDLE && a->session.call);
    a->session.phase = AUTH_IDLE;
    a->session.call = NULL;
    /* The message is never shown, because it may contain the password (CL-1). */
    enum upstream_class class = end->result.class;
    bool unexplained = end->token_rejected && class == UPSTREAM_THROTTLED;
    /* Cleura may have refused the login, although the answer does not say so */
    if (unexplained && phase == AUTH_LOGGING_IN)
        auth_close_guard(a);
    else if (class == UPSTREAM_FORBIDDEN || class == UPSTREAM_ABSENT)
        class = UPSTREAM_REFUSED;
    if (class == UPSTREAM_OK)
        return class;
    if (class != UPSTREAM_REFUSED && class != UPSTREAM_THROTTLED)
        class = UPSTREAM_UNREACHABLE;
    health_note(a, &end->http, class);
    return class;
}

void auth_note_login(struct upstream_account *a, const struct exchange_end *end)
{
    bool garbled = end->login.result == LOGIN_RESULT_GARBLED;
    health_note(a, &end->http, garbled ? UPSTREAM_UNREACHABLE : UPSTREAM_OK);
}

/* Called when the password was right, but Cleura requires a second factor. */
static void want_second_factor(struct upstream_account *a, struct login_answer *answer)
{
    a->session.sms = answer->sms;
    a->session.webauthn = answer->webauthn;
    if (by_hand_is_login(a) && answer->result != LOGIN_RESULT_OTHER_FACTOR) {
        by_hand_second_factor(a, answer);
        return;
    }
    char *message CLEANUP_FREE =
        answer->sms ? mem_printf("the account needs a second factor: POST /v1/accounts/%s/login sends a code "
                                 "by SMS; unattended work needs an account without one",
                                 a->config->name)
                    : mem_strdup("the account has no second factor by SMS, and WebAuthn cannot be used over "
                                 "the API: create an API token in Cleura's control panel and put it into "
                                 "token_file, or use an account with SMS or without a second factor");
    a->session.needs_person = true;
    auth_refuse(a, LOGIN_TWO_FACTOR, message);
    by_hand_end_login(a, LOGIN_OUTCOME_NO_SMS, message);
}

static void login_unreachable(struct upstream_account *a)
{
    char *why CLEANUP_FREE = health_why_away(a);
    char *message CLEANUP_FREE = mem_printf("the login failed: %s", why);
    /* When a manual attempt failed, the automatic login is not started again. */
    if (!a->session.needs_person)
        auth_report(a, LOGIN_UNREACHABLE, message);
    by_hand_end_login(a, LOGIN_OUTCOME_UNREACHABLE, message);
}

static void on_login(void *ctx, struct exchange_end *end)
{
    struct upstream_account *a = ctx;
    struct login_answer *answer = &end->login;
    enum upstream_class class = auth_answered(a, end);
    if (class == UPSTREAM_OK)
        auth_note_login(a, end);
    if (class == UPSTREAM_REFUSED) {
        static const char message[] = "Cleura refused the login and password";
        auth_refuse(a, LOGIN_REJECTED, message);
        by_hand_end_login(a, LOGIN_OUTCOME_REFUSED, message);
    } else if (answer->result == LOGIN_RESULT_TOKEN) {
        auth_accept_token(a, TAKE_PTR(answer->token), "password", true);
        by_hand_end_login(a, LOGIN_OUTCOME_OK, NULL);
    } else if (answer->result == LOGIN_RESULT_GARBLED) {
        login_unreachable(a);
    } else {
        want_second_factor(a, answer);
    }
    if ((a->session.login == LOGIN_REJECTED || a->session.login == LOGIN_TWO_FACTOR) &&
        !by_hand_is_login(a)) {
        struct upstream_result refusal;
        fill_refusal(a, &refusal);
        lane_fail_waiting(a, &refusal);
        upstream_result_done(&refusal);
    }
    lane_kick(a);
}

static void on_validated(void *ctx, struct exchange_end *end)
{
    struct upstream_account *a = ctx;
    enum upstream_class class = auth_answered(a, end);
    if (class == UPSTREAM_OK) {
        health_note(a, &end->http, class);
        token_confirmed(a);
    } else if (end->token_rejected && end->result.class != UPSTREAM_THROTTLED) {
        auth_token_rejected(a, a->session.token_generation);
    } else if (class == UPSTREAM_REFUSED) {
        /* Cleura does not have the call that checks a token. The first real call shows whether the token is
         * valid. */
        a->session.token_checked = true;
    } else {
        by_hand_end_login(a, LOGIN_OUTCOME_UNREACHABLE, "Cleura could not be reached to check the token");
    }
    lane_kick(a);
}

void auth_log_in(struct upstream_account *a, bool by_sms)
{
    struct request_draft draft;
    assert(a->session.phase == AUTH_IDLE && !a->session.call);
    a->driver->build_auth(a->config, AUTH_STEP_PASSWORD, &(struct auth_words){.by_sms = by_sms}, &draft);
    a->session.phase = AUTH_LOGGING_IN;
    const struct sending how = {.fresh_connection = true, .timeout_us = a->config->call_timeout_us};
    a->session.call = exchange_send(a, &draft, &how, &(struct exchange_handlers){.done = on_login}, a);
    request_draft_done(&draft);
}

void auth_validate(struct upstream_account *a)
{
    struct request_draft draft;
    assert(a->session.phase == AUTH_IDLE && !a->session.call && a->session.token);
    a->driver->build_auth(a->config, AUTH_STEP_VALIDATE, &(struct auth_words){0}, &draft);
    a->session.phase = AUTH_VALIDATING;
    const struct sending how = {
        .with_token = true, .fresh_connection = true, .timeout_us = a->config->call_timeout_us};
    a->session.call = exchange_send(a, &draft, &how, &(struct exchange_handlers){.done = on_validated}, a);
    request_draft_done(&draft);
}

static const char *no_token_reason(const struct upstream_account *a)
{
    if (!a->config->token_file)
        return "no password is configured";
    return a->session.file_error
               ? a->session.file_error
               : "Cleura rejected the token of token_file: write a new one there (there is no "
                 "password to log in with)";
}

bool auth_take_file_token(struct upstream_account *a)
{
    char *token = token_file_take(a);
    if (token)
        auth_accept_token(a, token, "token_file", false);
    return token != NULL;
}

enum auth_answer auth_prepare(struct upstream_account *a, struct upstream_result *ret_refusal)
{
    if (a->session.token && a->session.token_checked)
        return AUTH_READY;
    if (a->session.phase != AUTH_IDLE)
        return AUTH_STARTED;
    if (a->session.token || auth_take_file_token(a)) {
        auth_validate(a);
        return AUTH_STARTED;
    }
    if (!a->config->password)
        set_login(a, LOGIN_NO_PASSWORD, no_token_reason(a));
    else if (!a->session.needs_person && env_mono(a->env) >= a->session.guard_until) {
        auth_log_in(a, false);
        return AUTH_STARTED;
    } else if (a->session.login == LOGIN_UNKNOWN) {
        set_login(a, a->session.remembered->two_factor ? LOGIN_TWO_FACTOR : LOGIN_REJECTED,
                  "refused before the restart; the login guard is still closed");
    }
    fill_refusal(a, ret_refusal);
    return AUTH_REFUSED;
}

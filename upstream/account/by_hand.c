/*
 * Manual logins (CL-5, CL-6). Login and password cause an SMS, a person enters the code from it, and Cleura
 * returns a token. The lane sends one step at a time, with its usual spacing, and before all waiting calls.
 * Each requested SMS and each wrong code closes the login guard, like a refused password. This limits the
 * number of SMS and of guessed codes. Loop thread. Codes and verifications are only in memory.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/attrs.h"
#include "base/log.h"
#include "base/mem.h"
#include "upstream/account/account_private.h"

enum { FRESH_TOKEN_S = 60 };

bool by_hand_is_login(const struct upstream_account *a)
{
    return a->session.by_hand.step != BY_HAND_NONE && a->session.by_hand.step != BY_HAND_CHECK_CODE;
}

bool by_hand_is_pending(const struct upstream_account *a)
{
    const struct by_hand *h = &a->session.by_hand;
    return h->verification && h->verification_until && env_mono(a->env) < h->verification_until;
}

static void forget_verification(struct upstream_account *a)
{
    mem_free_secret(a->session.by_hand.verification);
    a->session.by_hand.verification = NULL;
    a->session.by_hand.verification_until = 0;
}

void by_hand_done(struct upstream_account *a)
{
    forget_verification(a);
}

static void by_hand_end(struct upstream_account *a, enum login_outcome outcome, const char *message)
{
    struct by_hand *h = &a->session.by_hand;
    assert(h->step != BY_HAND_NONE && h->on_done);
    mono_us until = h->step == BY_HAND_CHECK_CODE ? h->next_check_at : a->session.guard_until;
    int64_t wait = until - env_mono(a->env);
    const struct upstream_login_end result = {
        .outcome = outcome, .message = message, .retry_after_s = wait > 0 ? (int)(wait / US_PER_S) + 1 : 0};
    upstream_login_done on_done = TAKE_PTR(h->on_done);
    h->step = BY_HAND_NONE;
    h->code = 0;
    on_done(h->ctx, &result);
}

void by_hand_interrupt(struct upstream_account *a)
{
    forget_verification(a);
    if (a->session.by_hand.step != BY_HAND_NONE)
        by_hand_end(a, LOGIN_OUTCOME_UNREACHABLE, "the configuration of the account was changed meanwhile");
}

void by_hand_end_login(struct upstream_account *a, enum login_outcome outcome, const char *message)
{
    if (by_hand_is_login(a))
        by_hand_end(a, outcome, message);
}

void by_hand_second_factor(struct upstream_account *a, struct login_answer *answer)
{
    struct by_hand *h = &a->session.by_hand;
    assert(by_hand_is_login(a));
    if (answer->result == LOGIN_RESULT_CODE) {
        forget_verification(a);
        h->verification = TAKE_PTR(answer->verification);
        h->step = BY_HAND_ASK_CODE;
    } else if (h->step == BY_HAND_LOGIN) {
        h->step = BY_HAND_LOGIN_BY_SMS;
    } else {
        auth_refuse(a, LOGIN_TWO_FACTOR, "Cleura asks again which second factor to use");
        by_hand_end(a, LOGIN_OUTCOME_REFUSED, "Cleura asks again which second factor to use");
    }
}

/* ---- the code ---- */

static void send_code_step(struct upstream_account *a, enum auth_phase phase, enum auth_step step,
                           void (*on_done)(void *ctx, struct exchange_end *end))
{
    struct request_draft draft;
    assert(a->session.phase == AUTH_IDLE && !a->session.call && a->session.by_hand.verification);
    const struct auth_words words = {.verification = a->session.by_hand.verification,
                                     .code = a->session.by_hand.code};
    a->driver->build_auth(a->config, step, &words, &draft);
    a->session.phase = phase;
    const struct sending how = {.fresh_connection = true, .timeout_us = a->config->call_timeout_us};
    a->session.call = exchange_send(a, &draft, &how, &(struct exchange_handlers){.done = on_done}, a);
    request_draft_done(&draft);
}

/* Called when Cleura has sent the SMS, or may have sent it. */
static void expect_code(struct upstream_account *a)
{
    struct by_hand *h = &a->session.by_hand;
    h->verification_until = env_mono(a->env) + UPSTREAM_CODE_GOOD_S * US_PER_S;
    h->next_check_at = 0;
    /* An automatic login would end this login at Cleura, so no automatic login is made after this point. */
    a->session.needs_person = true;
    a->session.remembered->two_factor = true;
    auth_close_guard(a);
    char *message CLEANUP_FREE = mem_printf(
        "a code was sent by SMS: POST /v1/accounts/%s/verify accepts it for 10 minutes", a->config->name);
    auth_report(a, LOGIN_TWO_FACTOR, message);
}

static void on_asked(void *ctx, struct exchange_end *answer)
{
    struct upstream_account *a = ctx;
    switch (auth_answered(a, answer)) {
    case UPSTREAM_OK:
        health_note(a, &answer->http, UPSTREAM_OK);
        log_info("Cleura sent a code by SMS", "account", a->config->name);
        expect_code(a);
        by_hand_end(a, LOGIN_OUTCOME_CODE_SENT, "Cleura sent a code by SMS");
        break;
    case UPSTREAM_REFUSED:
        forget_verification(a);
        a->session.needs_person = true;
        auth_refuse(a, LOGIN_TWO_FACTOR, "Cleura refused to send a code by SMS");
        by_hand_end(a, LOGIN_OUTCOME_REFUSED, "Cleura refused to send a code by SMS");
        break;
    case UPSTREAM_THROTTLED:
        forget_verification(a);
        by_hand_end(a, LOGIN_OUTCOME_UNREACHABLE, "Cleura accepts no requests now; no code was sent");
        break;
    default:
        expect_code(a);
        by_hand_end(
            a, LOGIN_OUTCOME_UNREACHABLE,
            "Cleura was asked for a code by SMS and its answer was lost; a code that arrives can be used");
        break;
    }
    lane_kick(a);
}

static void on_checked(void *ctx, struct exchange_end *answer)
{
    struct upstream_account *a = ctx;
    enum upstream_class class = auth_answered(a, answer);
    if (class == UPSTREAM_OK)
        auth_note_login(a, answer);
    if (class == UPSTREAM_REFUSED) {
        auth_refuse(a, LOGIN_TWO_FACTOR, "Cleura refused the code");
        a->session.by_hand.next_check_at = a->session.guard_until;
        by_hand_end(a, LOGIN_OUTCOME_WRONG_CODE, "Cleura refused the code");
    } else if (answer->login.result == LOGIN_RESULT_TOKEN) {
        forget_verification(a);
        auth_accept_token(a, TAKE_PTR(answer->login.token), "sms_code", true);
        by_hand_end(a, LOGIN_OUTCOME_OK, NULL);
    } else {
        by_hand_end(a, LOGIN_OUTCOME_UNREACHABLE,
                    "the code was sent to Cleura and its answer was lost or cannot be "
                    "understood; when the code is used up, begin again");
    }
    lane_kick(a);
}

/* ---- steps ---- */

/* Ends a manual login that needs no call, or for which no call is allowed. Returns whether it has ended. */
static bool login_ends_here(struct upstream_account *a)
{
    wall_us age = env_wall(a->env) - a->session.remembered->token_at;
    if (a->session.token && !a->session.token_checked)
        return false;
    if (a->session.token && (!a->config->password || (age >= 0 && age < FRESH_TOKEN_S * US_PER_S)))
        by_hand_end(a, LOGIN_OUTCOME_OK, NULL);
    else if (!a->config->password)
        by_hand_end(a, LOGIN_OUTCOME_NOTHING,
                    a->session.file_error ? a->session.file_error
                                          : "there is no password, and no new token in token_file");
    else if (env_mono(a->env) < a->session.guard_until)
        by_hand_end(a, LOGIN_OUTCOME_GUARDED, "too many logins were refused or not completed");
    else
        return false;
    return true;
}

static bool check_ends_here(struct upstream_account *a)
{
    if (!by_hand_is_pending(a))
        by_hand_end(a, LOGIN_OUTCOME_NO_CODE,
                    "no code is awaited: none was sent, or longer than 10 minutes ago");
    else if (env_mono(a->env) < a->session.by_hand.next_check_at)
        by_hand_end(a, LOGIN_OUTCOME_GUARDED, "too many wrong codes");
    else
        return false;
    return true;
}

static bool ends_here(struct upstream_account *a)
{
    if (a->session.by_hand.step == BY_HAND_LOGIN)
        return login_ends_here(a);
    return a->session.by_hand.step == BY_HAND_CHECK_CODE && check_ends_here(a);
}

void by_hand_start(struct upstream_account *a)
{
    if (env_mono(a->env) > a->session.by_hand.deadline) {
        by_hand_end(a, LOGIN_OUTCOME_UNREACHABLE,
                    "the request reached its time limit before Cleura could be asked");
        return;
    }
    if (ends_here(a))
        return;
    switch (a->session.by_hand.step) {
    case BY_HAND_LOGIN:
        if (a->session.token && !a->session.token_checked)
            auth_validate(a);
        else
            auth_log_in(a, a->driver->names_method);
        break;
    case BY_HAND_LOGIN_BY_SMS:
        auth_log_in(a, true);
        break;
    case BY_HAND_ASK_CODE:
        send_code_step(a, AUTH_ASKING_CODE, AUTH_STEP_ASK_CODE, on_asked);
        break;
    case BY_HAND_CHECK_CODE:
        send_code_step(a, AUTH_CHECKING_CODE, AUTH_STEP_CHECK_CODE, on_checked);
        break;
    case BY_HAND_NONE:
        break;
    }
}

static void by_hand_begin(struct upstream_account *a, enum by_hand_step step, int64_t code, mono_us deadline,
                          upstream_login_done on_done, void *ctx)
{
    struct by_hand *h = &a->session.by_hand;
    loop_assert_owner(a->loop);
    if (h->step != BY_HAND_NONE) {
        on_done(ctx, &(struct upstream_login_end){.outcome = LOGIN_OUTCOME_BUSY,
                                                  .message = "another login of this account is under way",
                                                  .retry_after_s = 2});
        return;
    }
    h->step = step;
    h->code = code;
    h->deadline = deadline;
    h->on_done = on_done;
    h->ctx = ctx;
    if (!ends_here(a))
        loop_timer_set(a->loop, &a->lane.kick, env_mono(a->env));
}

void upstream_login(struct upstream_account *a, mono_us deadline, upstream_login_done on_done, void *ctx)
{
    if (!a->session.token && a->session.phase == AUTH_IDLE) {
        a->session.next_file_check = 0;
        (void)auth_take_file_token(a);
    }
    by_hand_begin(a, BY_HAND_LOGIN, 0, deadline, on_done, ctx);
}

void upstream_verify(struct upstream_account *a, int64_t code, mono_us deadline, upstream_login_done on_done,
                     void *ctx)
{
    by_hand_begin(a, BY_HAND_CHECK_CODE, code, deadline, on_done, ctx);
}

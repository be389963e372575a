#include "cli/device.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/env.h"
#include "base/mem.h"
#include "cli/problem.h"
#include "cli/when.h"

#define GRANT "urn:ietf:params:oauth:grant-type:device_code"

enum {
    DEFAULT_INTERVAL_S = 5,
    SLOWER_S = 5,
    LONGEST_INTERVAL_S = 300,
    LONGEST_CODE_S = 3600,
    LONGEST_BACKOFF_MS = 60000
};

/* Sets the pause before the next request and returns DEVICE_AGAIN; returns DEVICE_EXPIRED when the code
 * expires during the pause. */
static enum device_step again(const struct device_poll *poll, const struct cli_answer *answer, int64_t now_ms,
                              int64_t *ret_pause_ms)
{
    assert(poll->interval_ms > 0);
    int64_t pause = poll->interval_ms << (poll->failures < 6 ? poll->failures : 6);
    int64_t most = poll->interval_ms > LONGEST_BACKOFF_MS ? poll->interval_ms : LONGEST_BACKOFF_MS;
    pause = pause < most ? pause : most;
    *ret_pause_ms = pause > problem_pause_ms(answer) ? pause : problem_pause_ms(answer);
    return now_ms + *ret_pause_ms < poll->ends_ms ? DEVICE_AGAIN : DEVICE_EXPIRED;
}

/* Whether the answer does not come from the issuer: there was no answer, or another machine answered, for
 * example a proxy. */
static bool is_none(const struct cli_answer *answer)
{
    bool foreign = answer->end == HTTP_FOREIGN && (answer->status < 300 || answer->status >= 400);
    return foreign || problem_may_pass(answer);
}

enum device_step device_judge(struct device_poll *poll, const struct cli_answer *answer, int64_t now_ms,
                              int64_t *ret_pause_ms)
{
    const char *error = json_str_or(answer->json, "error", "");
    bool slow = strcmp(error, "slow_down") == 0, pending = strcmp(error, "authorization_pending") == 0;
    *ret_pause_ms = 0;
    if (slow || pending) {
        poll->failures = 0;
        poll->interval_ms += slow ? SLOWER_S * 1000 : 0;
        return again(poll, answer, now_ms, ret_pause_ms);
    }
    if (strcmp(error, "access_denied") == 0)
        return DEVICE_DENIED;
    if (strcmp(error, "expired_token") == 0)
        return DEVICE_EXPIRED;
    if (is_none(answer)) {
        poll->failures++;
        return again(poll, answer, now_ms, ret_pause_ms);
    }
    return answer->end == HTTP_ANSWERED && answer->status == 200 ? DEVICE_DONE : DEVICE_FAILED;
}

/* ---- the flow ---- */

static int64_t now_ms(void)
{
    return env_mono(env_real()) / US_PER_MS;
}

static int64_t bounded(int64_t value, int64_t least, int64_t most)
{
    return value < least ? least : value > most ? most : value;
}

/* Shows the address and the code. Both are always shown, because the user may open the page on another
 * machine. */
static void show_code(const json_t *code, int64_t good_for_s)
{
    char *lasting CLEANUP_FREE = when_lasting(good_for_s);
    const char *whole = json_str(code, "verification_uri_complete");
    cli_note("To log in, open  %s", json_str(code, "verification_uri"));
    cli_note("and enter the code  %s", json_str(code, "user_code"));
    if (whole)
        cli_note("or open  %s", whole);
    cli_note("The code is valid for %s.", lasting);
}

static int begin(const struct cli_issuer *issuer, struct cli_answer *answer)
{
    const struct form_field fields[] = {{"client_id", issuer->client_id},
                                        {"scope", *issuer->scope ? issuer->scope : NULL}};
    issuer_post(issuer->device_endpoint, issuer->ca_file, fields, ARRAY_LEN(fields), answer);
    const json_t *code = answer->json;
    bool good = answer->end == HTTP_ANSWERED && answer->status == 200 && json_str(code, "device_code") &&
                json_str(code, "user_code") && json_str(code, "verification_uri");
    if (good)
        return END_OK;
    char *reason CLEANUP_FREE = issuer_reason(answer);
    return cli_fail(answer->end == HTTP_ANSWERED ? END_REFUSED : END_UNREACHABLE, "the issuer %s: %s",
                    issuer->url, reason);
}

static int say_end(const struct cli_issuer *issuer, enum device_step step, const struct cli_answer *answer)
{
    char *reason CLEANUP_FREE = issuer_reason(answer);
    if (step == DEVICE_DENIED)
        return cli_fail(END_NOT_ALLOWED, "the login was refused at %s", issuer->url);
    if (step == DEVICE_EXPIRED)
        return cli_fail(END_TIMED_OUT, "nobody entered the code in time: log in again for a new one");
    return cli_fail(answer->end == HTTP_ANSWERED ? END_REFUSED : END_UNREACHABLE, "the issuer %s: %s",
                    issuer->url, reason);
}

static void sleep_ms(int64_t ms)
{
    struct timespec left = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    while (nanosleep(&left, &left) < 0)
        continue;
}

int device_login(const struct cli_issuer *issuer, struct issued *ret)
{
    struct cli_answer start CLEANUP_ANSWER = {0};
    assert(issuer->client_id && issuer->scope && issuer->device_endpoint && issuer->token_endpoint);
    *ret = (struct issued){0};
    int code = begin(issuer, &start);
    if (code != END_OK)
        return code;
    int64_t good_for_s = bounded(json_int(start.json, "expires_in", LONGEST_CODE_S), 1, LONGEST_CODE_S);
    int64_t interval_s = bounded(json_int(start.json, "interval", DEFAULT_INTERVAL_S), 1, LONGEST_INTERVAL_S);
    struct device_poll poll = {.interval_ms = interval_s * 1000, .ends_ms = now_ms() + good_for_s * 1000};
    const struct form_field fields[] = {{"grant_type", GRANT},
                                        {"device_code", json_str(start.json, "device_code")},
                                        {"client_id", issuer->client_id}};
    show_code(start.json, good_for_s);
    for (int64_t pause = poll.interval_ms;;) {
        struct cli_answer answer CLEANUP_ANSWER = {0};
        sleep_ms(pause);
        issuer_post(issuer->token_endpoint, issuer->ca_file, fields, ARRAY_LEN(fields), &answer);
        enum device_step step = device_judge(&poll, &answer, now_ms(), &pause);
        if (step == DEVICE_DONE && issued_read(answer.json, ret))
            return END_OK;
        if (step != DEVICE_AGAIN)
            return say_end(issuer, step, &answer);
    }
}

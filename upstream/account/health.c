/*
 * Only this file decides whether Cleura may be called now. It applies spacing, back-off, Retry-After and the
 * breaker. While the breaker is closed, each bad answer is followed by a full-jitter pause. When the breaker
 * is open, only the pauses of the breaker apply, which are longer. Logins and validations are treated like
 * calls, because they are requests to the same peer. Loop thread, except for the counters.
 */
#include <assert.h>
#include <stdatomic.h>
#include <string.h>

#include "base/attrs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "upstream/account/account_private.h"

enum {
    BACK_OFF_BASE_MS = 250,
    BACK_OFF_CAP_MS = 30000,
    RETRY_AFTER_CAP_S = 300,
};

static _Atomic uint64_t opened_total;
static atomic_int breakers_open;

uint64_t upstream_breaker_opened_total(void)
{
    return atomic_load(&opened_total);
}

int upstream_breakers_open(void)
{
    return atomic_load(&breakers_open);
}

/* A date in Retry-After is a time of the peer's clock, which may differ from shootd's clock. The Date of the
 * same answer shows the time of the peer's clock. */
int answer_retry_after_s(const struct upstream_account *a, const struct http_answer *answer)
{
    wall_us now;
    if (!answer->retry_after)
        return 0;
    if (!answer->date || !time_parse_http(answer->date, &now))
        now = env_wall(a->env);
    int64_t wait = time_parse_retry_after(answer->retry_after, now, RETRY_AFTER_CAP_S);
    return wait > 0 ? (int)wait : 0;
}

mono_us health_next_start(const struct upstream_account *a)
{
    mono_us at =
        a->health.next_start > a->health.paused_until ? a->health.next_start : a->health.paused_until;
    return a->health.breaker.state != BREAKER_CLOSED && a->health.breaker.until > at ? a->health.breaker.until
                                                                                     : at;
}

unsigned health_max_in_flight(const struct upstream_account *a)
{
    /* A probe is sent alone, so that its result cannot be confused with that of an earlier call. */
    return a->health.breaker.state == BREAKER_CLOSED ? (unsigned)a->config->max_in_flight : 1;
}

bool health_breaker_is_open(const struct upstream_account *a)
{
    return breaker_state(&a->health.breaker, env_mono(a->env)) == BREAKER_OPEN;
}

int health_retry_after_s(const struct upstream_account *a)
{
    mono_us wait = health_next_start(a) - env_mono(a->env);
    return wait > US_PER_S ? (int)((wait + US_PER_S - 1) / US_PER_S) : 1;
}

wall_us health_breaker_until(const struct upstream_account *a)
{
    return a->health.breaker.state == BREAKER_CLOSED
               ? 0
               : env_wall(a->env) + (health_next_start(a) - env_mono(a->env));
}

void health_started(struct upstream_account *a)
{
    assert(breaker_admits(&a->health.breaker, env_mono(a->env)));
    a->health.next_start = env_mono(a->env) + a->config->min_spacing_us;
    breaker_started(&a->health.breaker);
}

/* Counts and logs a change of the state; `before` is the previous state. */
static void follow_breaker(struct upstream_account *a, enum breaker_state before)
{
    enum breaker_state now = a->health.breaker.state;
    if (now == before)
        return;
    if (before == BREAKER_CLOSED || now == BREAKER_CLOSED)
        atomic_fetch_add(&breakers_open, before == BREAKER_CLOSED ? 1 : -1);
    if (now == BREAKER_OPEN) {
        atomic_fetch_add(&opened_total, 1);
        char *why CLEANUP_FREE = health_why_away(a);
        log_warning("Cleura does not answer: breaker open", "account", a->config->name, "reason", why,
                    "probe_in_s", LOG_INT(health_retry_after_s(a)));
        lane_breaker_opened(a);
    } else if (now == BREAKER_CLOSED) {
        log_info("Cleura answers again: breaker closed", "account", a->config->name);
    }
}

/* Pauses the whole account for the time that Cleura requested, plus a back-off with full jitter. */
static void back_off(struct upstream_account *a, int64_t retry_after_us)
{
    int64_t ceiling_ms = BACK_OFF_BASE_MS << (a->health.unwell < 7 ? a->health.unwell : 7);
    if (ceiling_ms > BACK_OFF_CAP_MS)
        ceiling_ms = BACK_OFF_CAP_MS;
    a->health.unwell++;
    int64_t jitter_us = (int64_t)env_random_below(a->env, (uint64_t)(ceiling_ms * US_PER_MS));
    mono_us until = env_mono(a->env) + retry_after_us + jitter_us;
    if (until > a->health.paused_until)
        a->health.paused_until = until;
}

/* Whether the answer is a failure for the breaker. Any answer that is no 5xx, even a 429, shows that Cleura
 * is reachable. */
static bool is_failure(const struct http_answer *answer)
{
    static const bool unanswered[HTTP_OUTCOME_MAX_] = {
        [HTTP_NOT_SENT] = true, [HTTP_TIMEOUT] = true, [HTTP_BROKEN] = true};
    return unanswered[answer->outcome] || answer->status >= 500;
}

static const char *reason_of(const struct http_answer *answer)
{
    static const char *const reasons[][2] = {
        {"resolve", "its name cannot be resolved"},
        {"connect", "no connection can be made"},
        {"proxy", "the proxy cannot be reached, or makes no connection to it"},
        {"tls", "TLS fails"},
        {"certificate", "its certificate is not accepted"},
        {"timeout", "it does not answer in time"},
        {"reset", "the connection is interrupted"},
        {"empty_answer", "it closes the connection without an answer"},
        {"partial_answer", "its answers are incomplete"},
        {"address_refused", "its address is not allowed"},
        {"protocol_error", "its answer is not HTTP"},
    };
    for (size_t i = 0; answer->error && i < ARRAY_LEN(reasons); i++)
        if (!strcmp(answer->error, reasons[i][0]))
            return reasons[i][1];
    return answer->error ? answer->error : "it answers with server errors (5xx)";
}

char *health_why_away(const struct upstream_account *a)
{
    char since[TIME_TEXT_BYTES];
    const char *scheme_end = strstr(a->config->url, "://");
    const char *host = scheme_end ? scheme_end + 3 : a->config->url;
    if (!a->health.away_since)
        return mem_printf("Cleura (%s) cannot be asked now", host);
    return mem_printf("Cleura (%s) cannot be reached since %s: %s", host,
                      time_rfc3339(a->health.away_since, false, since), a->health.away_reason);
}

void health_note(struct upstream_account *a, const struct http_answer *answer, enum upstream_class class)
{
    mono_us now = env_mono(a->env);
    int64_t retry_after_us = answer_retry_after_s(a, answer) * US_PER_S;
    enum breaker_state before = a->health.breaker.state;
    bool well = answer->outcome == HTTP_ANSWERED && answer->status < 500 && class != UPSTREAM_THROTTLED &&
                class != UPSTREAM_UNREACHABLE;
    if (answer->outcome == HTTP_ANSWERED) {
        a->health.last_contact_at = env_wall(a->env);
        a->health.heard_at = now;
    }
    if (is_failure(answer)) {
        if (!a->health.away_since)
            a->health.away_since = env_wall(a->env);
        a->health.away_reason = reason_of(answer);
        breaker_failure(&a->health.breaker, a->env, now);
    } else {
        a->health.away_since = 0;
        breaker_success(&a->health.breaker, now);
    }
    if (well) {
        a->health.unwell = 0;
        budget_earn(&a->lane.budget);
    } else if (a->health.breaker.state == BREAKER_OPEN) {
        breaker_hold(&a->health.breaker, now + retry_after_us);
    } else {
        back_off(a, retry_after_us);
    }
    follow_breaker(a, before);
}

void health_abandoned(struct upstream_account *a)
{
    enum breaker_state before = a->health.breaker.state;
    breaker_abandoned(&a->health.breaker, a->env, env_mono(a->env));
    if (a->health.breaker.state != before)
        lane_breaker_opened(a);
}

void health_done(struct upstream_account *a)
{
    if (a->health.breaker.state != BREAKER_CLOSED)
        atomic_fetch_sub(&breakers_open, 1);
}

/* The table of outcomes and the schedule of docs/webhooks.md. */
#include "webhook/outcome.h"

#include <assert.h>
#include <string.h>

#include "base/attrs.h"

static enum attempt_result result_of_status(int status)
{
    static const struct {
        int from;
        int to;
        enum attempt_result result;
    } rows[] = {
        /* the first matching row is used */
        {200, 299, ATTEMPT_DELIVERED}, {300, 399, ATTEMPT_REDIRECT},     {410, 410, ATTEMPT_GONE},
        {429, 429, ATTEMPT_THROTTLED}, {400, 499, ATTEMPT_CLIENT_ERROR}, {500, 599, ATTEMPT_SERVER_ERROR},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (status >= rows[i].from && status <= rows[i].to)
            return rows[i].result;
    return ATTEMPT_ODD_STATUS;
}

/* Finds the result for a request that was never sent; `error` is the transport's name of the error. */
static enum attempt_result result_of_error(const char *error)
{
    static const struct {
        const char *error;
        enum attempt_result result;
    } rows[] = {
        {"resolve", ATTEMPT_RESOLVE}, {"connect", ATTEMPT_CONNECT},
        {"tls", ATTEMPT_TLS},         {"certificate", ATTEMPT_CERTIFICATE},
        {"timeout", ATTEMPT_TIMEOUT}, {"address_refused", ATTEMPT_ADDRESS_REFUSED},
    };
    for (size_t i = 0; error && i < ARRAY_LEN(rows); i++)
        if (!strcmp(rows[i].error, error))
            return rows[i].result;
    return ATTEMPT_NOT_SENT;
}

enum attempt_result attempt_result_of(const struct http_answer *answer)
{
    switch (answer->outcome) {
    case HTTP_ANSWERED:
        return result_of_status(answer->status);
    case HTTP_TOO_LARGE:
        /* If the transport reports a status, the status decides. Without a status, shootd knows only that the
         * answer was too large. */
        return answer->status ? result_of_status(answer->status) : ATTEMPT_ANSWER_TOO_LARGE;
    case HTTP_TIMEOUT:
        return ATTEMPT_TIMEOUT;
    case HTTP_BROKEN:
        return ATTEMPT_CONNECTION_LOST;
    case HTTP_NOT_SENT:
    case HTTP_CANCELLED:
    case HTTP_OUTCOME_MAX_:
        break;
    }
    return result_of_error(answer->error);
}

bool attempt_asks_for_pause(enum attempt_result result, int status)
{
    return result == ATTEMPT_THROTTLED ||
           (result == ATTEMPT_SERVER_ERROR && (status == 502 || status == 504));
}

/* ---- the schedule of attempts ---- */

enum { MINUTE = 60, HOUR = 3600, PAUSE_FIRST_S = 5, PAUSE_MAX_S = 5 * MINUTE };

/* The delays before attempt 1, 2, ... 10 in seconds: about 75.6 hours in total. */
static const int64_t delays_s[SCHEDULE_ATTEMPTS] = {
    0, 5, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, SCHEDULE_MAX_DELAY_S,
};

bool schedule_goes_on(int made)
{
    return made < SCHEDULE_ATTEMPTS;
}

int64_t schedule_delay_us(const struct env *env, int made, int64_t retry_after_s)
{
    assert(made >= 0 && made < SCHEDULE_ATTEMPTS);
    int64_t delay = env_jitter(env, delays_s[made] * US_PER_S, SCHEDULE_JITTER_PERCENT);
    int64_t asked = retry_after_s * US_PER_S;
    return asked > delay ? asked : delay;
}

int64_t schedule_until_us(wall_us at, wall_us planned_at, wall_us now)
{
    const int64_t longest = SCHEDULE_MAX_DELAY_S * US_PER_S / 100 * (100 + SCHEDULE_JITTER_PERCENT);
    const int64_t own = at - planned_at;
    const int64_t left = at - now < own ? at - now : own;
    return left < 0 ? 0 : left > longest ? longest : left;
}

int64_t schedule_pause_us(int throttled_in_a_row)
{
    assert(throttled_in_a_row > 0);
    int64_t pause_s = PAUSE_FIRST_S;
    for (int i = 1; i < throttled_in_a_row && pause_s < PAUSE_MAX_S; i++)
        pause_s *= 2;
    return (pause_s < PAUSE_MAX_S ? pause_s : PAUSE_MAX_S) * US_PER_S;
}

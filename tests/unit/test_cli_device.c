/* The device flow: the pauses between requests to the token endpoint. The test sets the clock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "cli/device.h"

static int64_t now;
static struct device_poll poll;

static int begin(void **state)
{
    now = 1000;
    poll = (struct device_poll){.interval_ms = 5000, .ends_ms = now + 600000};
    return 0;
}

/* Judges an answer, stores the pause in *ret_pause, and moves the clock forward by the pause. */
static enum device_step judge(enum http_end end, long status, const char *error, int64_t retry_after_s,
                              int64_t *ret_pause)
{
    struct cli_answer answer CLEANUP_ANSWER = {.end = end, .status = status, .retry_after_s = retry_after_s};
    if (error)
        answer.json = json_pack("{s:s}", "error", error);
    enum device_step step = device_judge(&poll, &answer, now, ret_pause);
    now += *ret_pause;
    return step;
}

static int64_t pause_after(enum http_end end, long status, const char *error)
{
    int64_t pause = 0;
    assert_int_equal(judge(end, status, error, -1, &pause), DEVICE_AGAIN);
    return pause;
}

static void slow_down_counts_for_good(void **state)
{
    assert_int_equal(pause_after(HTTP_ANSWERED, 400, "authorization_pending"), 5000);
    assert_int_equal(pause_after(HTTP_ANSWERED, 400, "slow_down"), 10000);
    assert_int_equal(pause_after(HTTP_ANSWERED, 400, "authorization_pending"), 10000);
    assert_int_equal(pause_after(HTTP_ANSWERED, 429, "slow_down"), 15000);
    assert_int_equal(pause_after(HTTP_ANSWERED, 428, "authorization_pending"), 15000);
}

/* The pause also grows when a proxy answers in place of the issuer. The first answer of the issuer resets the
 * pause. */
static void an_issuer_that_is_away_is_asked_less_often(void **state)
{
    assert_int_equal(pause_after(HTTP_FOREIGN, 502, NULL), 10000);
    assert_int_equal(pause_after(HTTP_FOREIGN, 200, NULL), 20000);
    assert_int_equal(pause_after(HTTP_SLOW, 0, NULL), 40000);
    assert_int_equal(pause_after(HTTP_UNREACHABLE, 0, NULL), 60000);
    assert_int_equal(pause_after(HTTP_ANSWERED, 503, NULL), 60000);
    assert_int_equal(pause_after(HTTP_ANSWERED, 400, "authorization_pending"), 5000);
    int64_t pause = 0;
    assert_int_equal(judge(HTTP_ANSWERED, 503, NULL, 90, &pause), DEVICE_AGAIN);
    assert_int_equal(pause, 90000);
}

static void it_ends(void **state)
{
    static const struct {
        enum http_end end;
        long status;
        const char *error;
        enum device_step step;
    } rows[] = {
        {HTTP_ANSWERED, 200, NULL, DEVICE_DONE},
        {HTTP_ANSWERED, 400, "access_denied", DEVICE_DENIED},
        {HTTP_ANSWERED, 400, "expired_token", DEVICE_EXPIRED},
        {HTTP_ANSWERED, 401, "invalid_client", DEVICE_FAILED},
        {HTTP_ANSWERED, 400, "a word of next year", DEVICE_FAILED},
        {HTTP_ANSWERED, 404, NULL, DEVICE_FAILED},
        {HTTP_MISTAKEN, 0, NULL, DEVICE_FAILED},
        {HTTP_TOO_LARGE, 200, NULL, DEVICE_FAILED},
        {HTTP_FOREIGN, 302, NULL, DEVICE_FAILED},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int64_t pause = 0;
        assert_int_equal(judge(rows[i].end, rows[i].status, rows[i].error, -1, &pause), rows[i].step);
        assert_int_equal(pause, 0);
    }
}

static void the_code_is_good_for_its_time(void **state)
{
    unsigned questions = 0;
    int64_t pause = 0;
    while (judge(HTTP_ANSWERED, 400, "authorization_pending", -1, &pause) == DEVICE_AGAIN)
        questions++;
    assert_int_equal(questions, 119);
    assert_int_equal(judge(HTTP_FOREIGN, 500, NULL, -1, &pause), DEVICE_EXPIRED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(slow_down_counts_for_good, begin),
        cmocka_unit_test_setup(an_issuer_that_is_away_is_asked_less_often, begin),
        cmocka_unit_test_setup(it_ends, begin),
        cmocka_unit_test_setup(the_code_is_good_for_its_time, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

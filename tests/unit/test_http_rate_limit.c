/* Rate limits (HT-45). */
#include "tests/support/check.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/env.h"
#include "http/rate_limit.h"

static void ht45_a_bucket_holds_a_minute_and_fills_evenly(void **state)
{
    const int64_t begin = 5 * US_PER_S;
    struct rate_limit q;
    rate_limit_init(&q, "requests", 60);
    for (int left = 59; left >= 0; left--) {
        struct rate_limit_state s = rate_limit_take(&q, 7, begin);
        assert_false(s.is_refused);
        assert_int_equal(s.remaining, left);
        assert_int_equal(s.seconds, left ? 60 - left : 1);
    }
    assert_true(rate_limit_take(&q, 7, begin).is_refused);
    assert_int_equal(rate_limit_take(&q, 7, begin).seconds, 1);
    assert_true(rate_limit_take(&q, 7, begin + US_PER_S - 1).is_refused);
    assert_false(rate_limit_take(&q, 7, begin + US_PER_S).is_refused);
    assert_true(rate_limit_take(&q, 7, begin + US_PER_S).is_refused);
    assert_int_equal(rate_limit_take(&q, 8, begin).remaining, 59); /* each key has its own bucket */
    assert_int_equal(rate_limit_take(&q, 7, begin + 61 * US_PER_S).remaining, 59);
    assert_int_equal(q.refused, 4);
    assert_int_equal(rate_limit_left(&q, 9, begin), 60); /* looking takes nothing */
    assert_int_equal(rate_limit_left(&q, 7, begin + 61 * US_PER_S), 59);
    while (!rate_limit_take(&q, 7, begin + 61 * US_PER_S).is_refused)
        ;
    assert_int_equal(rate_limit_left(&q, 7, begin + 61 * US_PER_S), 0);
    assert_int_equal(rate_limit_left(&q, 7, begin + 64 * US_PER_S), 3);
    rate_limit_done(&q);
}

static void ht45_no_bound_and_the_extremes(void **state)
{
    struct rate_limit q;
    rate_limit_init(&q, "requests", 0);
    for (int i = 0; i < 1000; i++)
        assert_null(rate_limit_take(&q, 1, 1).limit);
    assert_true(rate_limit_left(&q, 1, 1) == INT64_MAX);
    rate_limit_done(&q);
    rate_limit_init(&q, "requests", 1);
    assert_false(rate_limit_take(&q, 1, 1).is_refused);
    assert_int_equal(rate_limit_take(&q, 1, 1).seconds, 60);
    assert_false(rate_limit_take(&q, 1, 1 + 60 * US_PER_S).is_refused);
    rate_limit_done(&q);
    rate_limit_init(&q, "requests", 1000000000);
    assert_int_equal(rate_limit_take(&q, 1, 1).remaining, 999999999);
    rate_limit_done(&q);
}

/* There are more keys than cells in their set. The key that has no requests left stays in the table. */
static void ht45_the_table_forgets_who_has_most_left(void **state)
{
    struct rate_limit q;
    rate_limit_init(&q, "requests", 60);
    while (!rate_limit_take(&q, 4096, US_PER_S).is_refused)
        ;
    for (uint64_t i = 2; i < 100; i++) /* all keys are in the same set */
        assert_int_equal(rate_limit_take(&q, i * 4096, US_PER_S).remaining, 59);
    assert_true(rate_limit_take(&q, 4096, US_PER_S).is_refused);
    rate_limit_done(&q);
}

struct spender {
    struct rate_limit *limit;
    int granted;
};

static void *spend(void *arg)
{
    struct spender *s = arg;
    for (int i = 0; i < 1000; i++)
        s->granted += !rate_limit_take(s->limit, 3, US_PER_S).is_refused;
    return NULL;
}

static void ht45_threads_share_a_bucket(void **state)
{
    struct rate_limit q;
    struct spender spenders[4];
    pthread_t threads[4];
    int granted = 0;
    rate_limit_init(&q, "requests", 1500);
    (void)rate_limit_take(&q, 3, US_PER_S);
    for (size_t i = 0; i < ARRAY_LEN(threads); i++) {
        spenders[i] = (struct spender){.limit = &q};
        assert_int_equal(pthread_create(&threads[i], NULL, spend, &spenders[i]), 0);
    }
    for (size_t i = 0; i < ARRAY_LEN(threads); i++) {
        (void)pthread_join(threads[i], NULL);
        granted += spenders[i].granted;
    }
    assert_int_equal(granted, 1499);
    rate_limit_done(&q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ht45_a_bucket_holds_a_minute_and_fills_evenly),
        cmocka_unit_test(ht45_no_bound_and_the_extremes),
        cmocka_unit_test(ht45_the_table_forgets_who_has_most_left),
        cmocka_unit_test(ht45_threads_share_a_bucket),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* How long operations usually take: percentiles, limits, and the operations that count. */
#include "tests/support/check.h"

#include "base/json.h"
#include "model/expectation.h"

static void add(struct expectation *x, enum operation_type type, int64_t begun_s, int64_t took_s)
{
    struct operation *op = operation_new();
    (void)operation_add_step(op, STEP_CREATE_SHOOT, "");
    (void)operation_add_step(op, STEP_WAIT_READY, "");
    operation_add_step(op, STEP_UPDATE_POOL, "a")->status = STEP_SKIPPED;
    struct operation_step *first = &op->steps[0], *second = &op->steps[1];
    op->type = type;
    op->status = OPERATION_SUCCEEDED;
    op->created_at = begun_s * US_PER_S;
    op->finished_at = op->updated_at = op->created_at + took_s * US_PER_S;
    first->status = STEP_DONE;
    first->sent_at = first->finished_at = op->created_at + US_PER_S;
    second->status = STEP_DONE;
    second->started_at = first->finished_at;
    second->finished_at = op->finished_at;
    expectation_add(x, op);
    operation_free(op);
}

static void check(const json_t *doc, const char *type, int64_t count, int64_t p50, int64_t p90)
{
    assert_string_equal(json_str(doc, "type"), type);
    assert_int_equal(json_int(doc, "count", -1), count);
    assert_int_equal(json_int(doc, "p50_ms", -1), p50);
    assert_int_equal(json_int(doc, "p90_ms", -1), p90);
}

static void nothing_is_known_of_what_never_happened(void **state)
{
    struct expectation *x = expectation_new();
    json_t *doc CLEANUP_JSON = expectation_to_json(x);
    assert_int_equal(json_int(doc, "window_days", -1), 30);
    assert_int_equal(json_array_size(json_arr(doc, "items")), 0);
    expectation_free(x);
    expectation_free(NULL);
}

static void percentiles_are_of_the_nearest_rank(void **state)
{
    struct expectation *x = expectation_new();
    for (int i = 10; i > 0; i--) /* 10 s to 100 s */
        add(x, OPERATION_CREATE, 1000 + i, 10 * i);
    add(x, OPERATION_DELETE, 5000, 7);
    json_t *doc CLEANUP_JSON = expectation_to_json(x);
    const json_t *items = json_arr(doc, "items"), *create = json_array_get(items, 0);
    const json_t *steps = json_arr(create, "steps");
    assert_int_equal(json_array_size(items), 2);
    check(create, "create", 10, 50000, 90000);
    assert_int_equal(json_array_size(steps), 2);
    check(json_array_get(steps, 0), "create_shoot", 10, 0, 0);
    check(json_array_get(steps, 1), "wait_ready", 10, 49000, 89000);
    check(json_array_get(items, 1), "delete", 1, 7000, 7000);
    assert_int_equal(expectation_count(x), 11);
    expectation_free(x);
}

static void the_newest_count_and_clocks_may_be_set_back(void **state)
{
    struct expectation *x = expectation_new();
    for (int i = 0; i < EXPECTATION_OF_A_TYPE; i++)
        add(x, OPERATION_UPDATE, 9000 - i, i % 2 ? 20 : -20);
    for (int i = 0; i < 100; i++)
        add(x, OPERATION_UPDATE, 100, 100000);
    json_t *doc CLEANUP_JSON = expectation_to_json(x);
    const json_t *update = json_array_get(json_arr(doc, "items"), 0);
    check(update, "update", EXPECTATION_OF_A_TYPE, 0, 20000);
    assert_int_equal(expectation_count(x), EXPECTATION_OF_A_TYPE + 100);
    expectation_free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_known_of_what_never_happened),
        cmocka_unit_test(percentiles_are_of_the_nearest_rank),
        cmocka_unit_test(the_newest_count_and_clocks_may_be_set_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

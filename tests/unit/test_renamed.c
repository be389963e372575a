/* Names and units that were changed: requests with the old names, and rows that earlier builds stored. */
#include "tests/support/check.h"

#include "base/mem.h"
#include "base/quantity.h"
#include "model/former_names.h"
#include "model/operation.h"
#include "model/problem.h"
#include "model/project_state.h"

static json_t *parse(const char *text)
{
    json_t *doc = json_loads(text, 0, NULL);
    assert_non_null(doc);
    return doc;
}

static void a_former_name_is_told_where_the_new_one_is_known(void **state)
{
    static const struct {
        enum former_kind kind;
        const char *typed, *valid, *text;
    } rows[] = {
        {FORMER_PARAMETER, "version", "[\"limit\",\"kubernetes_version\"]",
         "the parameter version is called kubernetes_version"},
        {FORMER_PARAMETER, "version", "[\"limit\",\"api_version\"]", NULL},
        {FORMER_PARAMETER, "versions", "[\"kubernetes_version\"]", NULL},
        {FORMER_PARAMETER, "kubernetes_version", "[\"kubernetes_version\"]", NULL},
        {FORMER_SORT_KEY, "version", "[\"kubernetes_version\"]",
         "the sort key version is called kubernetes_version"},
        {FORMER_MEMBER, "version", "[\"revision\"]", "the member version is called revision"},
        {FORMER_MEMBER, "version", "[1,\"name\"]", NULL},
        {FORMER_FLAG, "version", "[\"kubernetes-version\"]",
         "the flag --version is called --kubernetes-version"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        json_t *valid CLEANUP_JSON = parse(rows[i].valid);
        char *text CLEANUP_FREE = former_name_fault(rows[i].kind, rows[i].typed, valid);
        assert_int_equal(text != NULL, rows[i].text != NULL);
        if (text)
            assert_string_equal(text, rows[i].text);
    }
}

static void amounts_of_memory_are_read(void **state)
{
    static const struct {
        const char *text;
        int64_t mib;
    } rows[] = {
        {"4Gi", 4096}, {"512Mi", 512},    {"1Ti", 1048576},
        {"0Gi", 0},    {NULL, -1},        {"", -1},
        {"Gi", -1},    {"4", -1},         {"4G", -1},
        {"4gi", -1},   {"-4Gi", -1},      {" 4Gi", -1},
        {"4.5Gi", -1}, {"4Gi ", -1},      {"9223372036854775807Gi", -1},
        {"4GiB", -1},  {"2000000Ti", -1}, {"99999999999999999999Mi", -1},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(quantity_mib(rows[i].text), rows[i].mib);
}

static void a_catalog_of_an_earlier_build_gets_the_unit_of_today(void **state)
{
    json_t *doc CLEANUP_JSON = parse(
        "{\"name\":\"p\",\"catalog\":{\"machine_types\":[{\"name\":\"a\",\"memory\":\"4Gi\"},"
        "{\"name\":\"b\",\"memory\":\"much\"},{\"name\":\"c\",\"memory_mib\":8192}]},\"catalog_at\":1}");
    json_t *wanted CLEANUP_JSON = parse("[{\"name\":\"a\",\"memory_mib\":4096},{\"name\":\"b\","
                                        "\"memory_mib\":null},{\"name\":\"c\",\"memory_mib\":8192}]");
    struct project_state *p = project_state_from_json(doc);
    assert_true(json_equal(json_arr(p->catalog, "machine_types"), wanted));
    project_state_free(p);
}

static void an_error_of_an_earlier_build_gets_the_word_of_today(void **state)
{
    static const char *const rows[][2] = {
        {"{\"code\":\"validation_failed\",\"fault\":\"caller\"}",
         "{\"code\":\"validation_failed\",\"responsible\":\"user\"}"},
        {"{\"code\":\"upstream_login_failed\",\"fault\":\"upstream\",\"detail\":\"d\"}",
         "{\"code\":\"upstream_login_failed\",\"responsible\":\"operator\",\"detail\":\"d\"}"},
        {"{\"code\":\"cluster_failed\",\"fault\":\"upstream\"}",
         "{\"code\":\"cluster_failed\",\"responsible\":\"cleura\"}"},
        {"{\"code\":\"gone\",\"fault\":\"service\"}", "{\"code\":\"gone\",\"responsible\":\"operator\"}"},
        {"{\"code\":\"cluster_failed\",\"responsible\":\"cleura\"}",
         "{\"code\":\"cluster_failed\",\"responsible\":\"cleura\"}"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        json_t *error CLEANUP_JSON = parse(rows[i][0]), *wanted CLEANUP_JSON = parse(rows[i][1]);
        problem_update_error_json(error);
        assert_true(json_equal(error, wanted));
    }
    problem_update_error_json(NULL);

    struct operation *op = operation_new();
    (void)snprintf(op->id, sizeof(op->id), "op_1");
    op->project = mem_strdup("p");
    op->cluster = mem_strdup("n");
    op->status = OPERATION_FAILED;
    op->error = parse(rows[0][0]);
    json_t *stored CLEANUP_JSON = operation_to_json(op);
    struct operation *back = operation_from_json(stored);
    assert_string_equal(json_str(back->error, "responsible"), "user");
    assert_null(json_object_get(back->error, "fault"));
    operation_free(op);
    operation_free(back);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_former_name_is_told_where_the_new_one_is_known),
        cmocka_unit_test(amounts_of_memory_are_read),
        cmocka_unit_test(a_catalog_of_an_earlier_build_gets_the_unit_of_today),
        cmocka_unit_test(an_error_of_an_earlier_build_gets_the_word_of_today),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

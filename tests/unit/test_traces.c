/* Traces and web origins, with the rules that they keep. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/attrs.h"
#include "base/mem.h"
#include "base/trace.h"
#include "config/values.h"
#include "model/cluster.h"

#define ID     "4bf92f3577b34da6a3ce929d0e0e4736"
#define PARENT "00f067aa0ba902b7"

static void ht51_traceparent_is_read(void **state)
{
    (void)state;
    static const struct {
        const char *field;
        int flags; /* -1: invalid */
    } rows[] = {
        {"00-" ID "-" PARENT "-01", 1},
        {"00-" ID "-" PARENT "-00", 0},
        {"00-" ID "-" PARENT "-03", 3},
        {"00-" ID "-" PARENT "-ff", 3}, /* bits are compared, unknown ones go no further */
        {"00-" ID "-" PARENT "-fc", 0},
        {"01-" ID "-" PARENT "-01", 1},
        {"cc-" ID "-" PARENT "-01-what-comes-later", 1},
        {"cc-" ID "-" PARENT "-01.what", -1},
        {"00-" ID "-" PARENT "-01-", -1},
        {"00-" ID "-" PARENT "-01-x", -1},
        {"00-" ID "-" PARENT "-011", -1},
        {"ff-" ID "-" PARENT "-01", -1},
        {"00-00000000000000000000000000000000-" PARENT "-01", -1},
        {"00-" ID "-0000000000000000-01", -1},
        {"00-4BF92F3577B34DA6A3CE929D0E0E4736-" PARENT "-01", -1},
        {"00-" ID "-" PARENT "-0A", -1},
        {"0G-" ID "-" PARENT "-01", -1},
        {"00-" ID "-" PARENT "-0", -1},
        {"00-" ID "-" PARENT, -1},
        {"00_" ID "-" PARENT "-01", -1},
        {"00-" ID "_" PARENT "-01", -1},
        {" 00-" ID "-" PARENT "-01", -1},
        {"00-" ID "-" PARENT "-01 ", -1},
        {"", -1},
        {"00", -1},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct trace t = {.id = "untouched", .flags = 9};
        bool ok = trace_parse(rows[i].field, &t);
        if (ok != (rows[i].flags >= 0) || (ok && t.flags != rows[i].flags))
            fail_msg("%s: %d, flags %d", rows[i].field, ok, t.flags);
        assert_string_equal(t.id, ok ? ID : "untouched");
    }
}

static void ht51_outgoing_calls_have_parents_of_their_own(void **state)
{
    (void)state;
    struct trace t, read;
    char one[TRACEPARENT_BYTES], other[TRACEPARENT_BYTES];
    assert_true(trace_parse("07-" ID "-" PARENT "-03-x", &t));
    trace_parent(env_real(), &t, one);
    trace_parent(env_real(), &t, other);
    assert_int_equal(strlen(one), TRACEPARENT_BYTES - 1);
    assert_memory_equal(one, "00-" ID "-", 36); /* as version 00 */
    assert_string_equal(one + 52, "-03");       /* random and sampled as they came */
    assert_memory_not_equal(one + 36, other + 36, 16);
    assert_memory_not_equal(one + 36, PARENT, 16);
    assert_true(trace_parse(one, &read));
    trace_begin(env_real(), &t);
    assert_int_equal(t.flags, 2);
    trace_parent(env_real(), &t, one);
    assert_true(trace_parse(one, &read));
    assert_string_equal(read.id, t.id);
}

static void real_zero(const struct env *env, void *bytes, size_t len)
{
    (void)env;
    memset(bytes, 0, len);
}

static void ht51_ids_are_never_all_zero(void **state)
{
    (void)state;
    const struct env zero = {.random = real_zero};
    struct trace t;
    char field[TRACEPARENT_BYTES];
    trace_begin(&zero, &t);
    trace_parent(&zero, &t, field);
    assert_true(trace_parse(field, &t));
}

static void ht51_a_trace_is_stored_with_its_operation(void **state)
{
    (void)state;
    struct operation *op = operation_new();
    memcpy(op->id, "op_1", 5);
    op->project = mem_strdup("p");
    op->cluster = mem_strdup("c");
    (void)operation_add_step(op, STEP_CREATE_SHOOT, "");
    assert_true(trace_parse("00-" ID "-" PARENT "-03", &op->trace));
    json_t *doc = operation_to_json(op);
    assert_string_equal(json_str(doc, "trace"), ID "-03");
    struct operation *read = operation_from_json(doc);
    assert_string_equal(read->trace.id, ID);
    assert_int_equal(read->trace.flags, 3);
    operation_free(read);
    static const char *const bad[] = {"",       ID,       ID "-0",
                                      ID "-0x", ID "+03", "4BF92F3577B34DA6A3CE929D0E0E4736-03"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        json_set_str(doc, "trace", bad[i]);
        read = operation_from_json(doc);
        assert_string_equal(read->trace.id, "");
        operation_free(read);
    }
    (void)json_object_del(doc, "trace"); /* rows of earlier versions */
    read = operation_from_json(doc);
    assert_string_equal(read->trace.id, "");
    operation_free(read);
    json_decref(doc);
    operation_free(op);
}

static void ht40_origins_are_exact(void **state)
{
    (void)state;
    static const char *const good[] = {
        "https://console.example.com", "http://localhost:3000", "https://a",   "https://10.0.0.1:8443",
        "http://[::1]:8080",           "https://[2001:db8::1]", "https://a:80"};
    static const char *const bad[] = {"*",
                                      "null",
                                      "",
                                      "console.example.com",
                                      "https://",
                                      "https://*.example.com",
                                      "https://console.example.com/",
                                      "https://console.example.com/app",
                                      "https://Console.example.com",
                                      "HTTPS://console.example.com",
                                      "https://a:443",
                                      "http://a:80",
                                      "https://a:",
                                      "https://a:0",
                                      "https://a:080",
                                      "https://a:65536",
                                      "https://a:x",
                                      "https://a:1x",
                                      "https://u@a",
                                      "https://a?b",
                                      "https://[::1",
                                      "https://[::1]x",
                                      "https://[::g]",
                                      "https://[]/",
                                      "ftp://a",
                                      "https://a b"};
    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        if (origin_fault(good[i]))
            fail_msg("%s: %s", good[i], origin_fault(good[i]));
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        if (!origin_fault(bad[i]))
            fail_msg("%s is taken", bad[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ht51_traceparent_is_read),
        cmocka_unit_test(ht51_outgoing_calls_have_parents_of_their_own),
        cmocka_unit_test(ht51_ids_are_never_all_zero),
        cmocka_unit_test(ht51_a_trace_is_stored_with_its_operation),
        cmocka_unit_test(ht40_origins_are_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

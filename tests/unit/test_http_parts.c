/* Pure parts of HTTP with the rules that they keep: traces, codings, tags per coding, web origins. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#include "base/attrs.h"
#include "config/origin.h"
#include "http/message/content.h"
#include "http/message/conditional.h"
#include "http/quota.h"
#include "model/cluster.h"
#include "model/trace.h"

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
    (void)operation_add_step(op, "create_shoot", "");
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

static void ht53_gzip_when_it_is_wanted(void **state)
{
    (void)state;
    static const struct {
        const char *field;
        bool wanted;
    } rows[] = {
        {NULL, false},
        {"", false},
        {"gzip", true},
        {" br;q=1 ,\tGzip ; q=0.3", true},
        {"gzip;q=0", false},
        {"gzip;q=0.0, *", false},
        {"*", true},
        {"*;q=0", false},
        {"*;q=0.2, identity;q=0.3", false},
        {"identity;q=0", false},
        {"gzip;q=0.9, identity", false},
        {"gzip, identity", true},
        {"deflate, br, zstd", false},
        {"gzipped", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (compress_is_wanted(rows[i].field) != rows[i].wanted)
            fail_msg("Accept-Encoding: %s", rows[i].field ? rows[i].field : "(none)");
}

static void ht53_bytes_come_back_as_they_were(void **state)
{
    (void)state;
    enum { LEN = 100000 };
    char *text = malloc(LEN), *back = malloc(LEN);
    for (size_t i = 0; i < LEN; i++)
        text[i] = "{\"name\":\"abc\"}"[i * 7 % 14];
    for (int level = 1; level <= 9; level += 4) {
        struct http_coded *coded = compress_bytes(text, LEN, level);
        assert_non_null(coded);
        assert_in_range(coded->len, 20, LEN / 10);
        z_stream z = {.next_in = (Bytef *)coded->bytes,
                      .avail_in = (uInt)coded->len,
                      .next_out = (Bytef *)back,
                      .avail_out = LEN};
        assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
        assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
        assert_int_equal(z.total_out, LEN);
        (void)inflateEnd(&z);
        assert_memory_equal(text, back, LEN);
        free(coded);
    }
    env_real()->random(env_real(), text, LEN);
    assert_null(compress_bytes(text, LEN, 6)); /* no smaller: not worth it */
    assert_null(compress_bytes(text, 1, 6));
    free(text);
    free(back);
}

static void ht21_tags_of_both_forms(void **state)
{
    (void)state;
    char coded[16];
    assert_true(etag_of_coded("\"v1\"", coded, sizeof(coded)));
    assert_string_equal(coded, "\"v1-gz\"");
    assert_false(etag_of_coded("\"0123456789ab\"", coded, sizeof(coded)));
    assert_false(etag_of_coded("", coded, sizeof(coded)));
    assert_true(etag_list_matches("\"x\", \"v1-gz\"", "\"v1\"", false));
    assert_true(etag_list_matches("W/\"v1-gz\"", "\"v1\"", true));
    assert_false(etag_list_matches("W/\"v1-gz\"", "\"v1\"", false));
    assert_false(etag_list_matches("\"v1-gz-gz\", \"v1-g\", \"v1-\"", "\"v1\"", true));
    assert_false(etag_list_holds("*", "\"v1\"", true));
    assert_false(etag_list_holds("\"v1-gz\"", "\"v1\"", true));
}

static void ht18_conditions_of_writes(void **state)
{
    (void)state;
    assert_int_equal(condition_of_write(NULL, NULL, "\"v1\""), CONDITION_PASS);
    assert_int_equal(condition_of_write(NULL, "*", "\"v1\""), CONDITION_FAILED);
    assert_int_equal(condition_of_write(NULL, "W/\"v1\"", "\"v1\""), CONDITION_FAILED);
    assert_int_equal(condition_of_write(NULL, "\"v2\"", "\"v1\""), CONDITION_PASS);
    assert_int_equal(condition_of_write("\"v1\"", "\"v2\"", "\"v1\""), CONDITION_PASS);
    assert_int_equal(condition_of_write("*", NULL, ""), CONDITION_PASS);
    assert_int_equal(condition_of_write("\"v1\"", NULL, ""), CONDITION_FAILED);
    assert_int_equal(condition_of_write(NULL, "\"v1\"", ""), CONDITION_PASS);
    assert_int_equal(condition_of_write(NULL, "*", ""), CONDITION_FAILED);
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

static void ht45_a_bucket_holds_a_minute_and_fills_evenly(void **state)
{
    (void)state;
    const int64_t begin = 5 * US_PER_S;
    struct quota q;
    quota_init(&q, "requests", 60);
    for (int left = 59; left >= 0; left--) {
        struct quota_state s = quota_take(&q, 7, begin);
        assert_false(s.is_refused);
        assert_int_equal(s.remaining, left);
        assert_int_equal(s.seconds, left ? 60 - left : 1);
    }
    assert_true(quota_take(&q, 7, begin).is_refused);
    assert_int_equal(quota_take(&q, 7, begin).seconds, 1);
    assert_true(quota_take(&q, 7, begin + US_PER_S - 1).is_refused);
    assert_false(quota_take(&q, 7, begin + US_PER_S).is_refused);
    assert_true(quota_take(&q, 7, begin + US_PER_S).is_refused);
    assert_int_equal(quota_take(&q, 8, begin).remaining, 59); /* each key has its own */
    assert_int_equal(quota_take(&q, 7, begin + 61 * US_PER_S).remaining, 59);
    assert_int_equal(q.refused, 4);
    quota_done(&q);
}

static void ht45_no_bound_and_the_extremes(void **state)
{
    (void)state;
    struct quota q;
    quota_init(&q, "requests", 0);
    for (int i = 0; i < 1000; i++)
        assert_null(quota_take(&q, 1, 1).quota);
    quota_done(&q);
    quota_init(&q, "requests", 1);
    assert_false(quota_take(&q, 1, 1).is_refused);
    assert_int_equal(quota_take(&q, 1, 1).seconds, 60);
    assert_false(quota_take(&q, 1, 1 + 60 * US_PER_S).is_refused);
    quota_done(&q);
    quota_init(&q, "requests", 1000000000);
    assert_int_equal(quota_take(&q, 1, 1).remaining, 999999999);
    quota_done(&q);
}

/* More keys than there is room for: the one that has spent is remembered. */
static void ht45_the_table_forgets_who_has_most_left(void **state)
{
    (void)state;
    struct quota q;
    quota_init(&q, "requests", 60);
    while (!quota_take(&q, 4096, US_PER_S).is_refused)
        ;
    for (uint64_t i = 2; i < 100; i++) /* all in its set */
        assert_int_equal(quota_take(&q, i * 4096, US_PER_S).remaining, 59);
    assert_true(quota_take(&q, 4096, US_PER_S).is_refused);
    quota_done(&q);
}

struct spender {
    struct quota *quota;
    int granted;
};

static void *spend(void *arg)
{
    struct spender *s = arg;
    for (int i = 0; i < 1000; i++)
        s->granted += !quota_take(s->quota, 3, US_PER_S).is_refused;
    return NULL;
}

static void ht45_threads_share_a_bucket(void **state)
{
    (void)state;
    struct quota q;
    struct spender spenders[4];
    pthread_t threads[4];
    int granted = 0;
    quota_init(&q, "requests", 1500);
    (void)quota_take(&q, 3, US_PER_S);
    for (size_t i = 0; i < ARRAY_LEN(threads); i++) {
        spenders[i] = (struct spender){.quota = &q};
        assert_int_equal(pthread_create(&threads[i], NULL, spend, &spenders[i]), 0);
    }
    for (size_t i = 0; i < ARRAY_LEN(threads); i++) {
        (void)pthread_join(threads[i], NULL);
        granted += spenders[i].granted;
    }
    assert_int_equal(granted, 1499);
    quota_done(&q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ht45_a_bucket_holds_a_minute_and_fills_evenly),
        cmocka_unit_test(ht45_no_bound_and_the_extremes),
        cmocka_unit_test(ht45_the_table_forgets_who_has_most_left),
        cmocka_unit_test(ht45_threads_share_a_bucket),
        cmocka_unit_test(ht51_traceparent_is_read),
        cmocka_unit_test(ht51_outgoing_calls_have_parents_of_their_own),
        cmocka_unit_test(ht51_ids_are_never_all_zero),
        cmocka_unit_test(ht51_a_trace_is_stored_with_its_operation),
        cmocka_unit_test(ht53_gzip_when_it_is_wanted),
        cmocka_unit_test(ht53_bytes_come_back_as_they_were),
        cmocka_unit_test(ht21_tags_of_both_forms),
        cmocka_unit_test(ht18_conditions_of_writes),
        cmocka_unit_test(ht40_origins_are_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

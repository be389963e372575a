/* Traces and web origins, and their rules. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/attrs.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/span.h"
#include "base/trace.h"
#include "config/values.h"
#include "model/operation.h"

#define ID     "4bf92f3577b34da6a3ce929d0e0e4736"
#define PARENT "00f067aa0ba902b7"

static void ht51_traceparent_is_read(void **state)
{
    static const struct {
        const char *field;
        int flags; /* -1: invalid */
    } rows[] = {
        {"00-" ID "-" PARENT "-01", 1},
        {"00-" ID "-" PARENT "-00", 0},
        {"00-" ID "-" PARENT "-03", 3},
        {"00-" ID "-" PARENT "-ff", 3}, /* known bits are read, unknown bits are not passed on */
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
    struct trace t, read;
    char one[TRACEPARENT_BYTES], other[TRACEPARENT_BYTES];
    assert_true(trace_parse("07-" ID "-" PARENT "-03-x", &t));
    trace_new_span(env_real(), t.span);
    trace_parent(&t, t.span, one);
    trace_new_span(env_real(), t.span);
    trace_parent(&t, t.span, other);
    assert_int_equal(strlen(one), TRACEPARENT_BYTES - 1);
    assert_memory_equal(one, "00-" ID "-", 36); /* in the form of version 00 */
    assert_string_equal(one + 52, "-03");       /* the flags "random" and "sampled" are unchanged */
    assert_memory_not_equal(one + 36, other + 36, 16);
    assert_memory_not_equal(one + 36, PARENT, 16);
    assert_true(trace_parse(one, &read));
    trace_begin(env_real(), &t);
    assert_int_equal(t.flags, 2);
    assert_string_equal(t.span, "");
    trace_new_span(env_real(), t.span);
    trace_parent(&t, t.span, one);
    assert_true(trace_parse(one, &read));
    assert_string_equal(read.id, t.id);
    assert_string_equal(read.span, t.span);
}

static void real_zero(const struct env *env, void *bytes, size_t len)
{
    memset(bytes, 0, len);
}

static void ht51_ids_are_never_all_zero(void **state)
{
    const struct env zero = {.random = real_zero};
    struct trace t;
    char field[TRACEPARENT_BYTES];
    trace_begin(&zero, &t);
    trace_new_span(&zero, t.span);
    trace_parent(&t, t.span, field);
    assert_true(trace_parse(field, &t));
}

static void ht51_a_trace_is_stored_with_its_operation(void **state)
{
    struct operation *op = operation_new();
    memcpy(op->id, "op_1", 5);
    op->project = mem_strdup("p");
    op->cluster = mem_strdup("c");
    (void)operation_add_step(op, STEP_CREATE_SHOOT, "");
    assert_true(trace_parse("00-" ID "-" PARENT "-03", &op->trace));
    json_t *doc = operation_to_json(op);
    assert_string_equal(json_str(doc, "trace"), ID "-03-" PARENT);
    struct operation *read = operation_from_json(doc);
    assert_string_equal(read->trace.id, ID);
    assert_string_equal(read->trace.span, PARENT);
    assert_int_equal(read->trace.flags, 3);
    operation_free(read);
    json_set_str(doc, "trace", ID "-03"); /* in the form of earlier versions */
    read = operation_from_json(doc);
    assert_string_equal(read->trace.id, ID);
    assert_string_equal(read->trace.span, "");
    operation_free(read);
    static const char *const bad[] = {"",
                                      ID,
                                      ID "-0",
                                      ID "-0x",
                                      ID "+03",
                                      "4BF92F3577B34DA6A3CE929D0E0E4736-03",
                                      ID "-03-",
                                      ID "-03+" PARENT,
                                      ID "-03-" PARENT "0",
                                      ID "-03-00F067AA0BA902B7"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        json_set_str(doc, "trace", bad[i]);
        read = operation_from_json(doc);
        assert_string_equal(read->trace.id, "");
        operation_free(read);
    }
    (void)json_object_del(doc, "trace"); /* the form of even earlier versions */
    read = operation_from_json(doc);
    assert_string_equal(read->trace.id, "");
    operation_free(read);
    json_decref(doc);
    operation_free(op);
}

/* ---- spans ---- */

static struct trace sampled(void)
{
    struct trace t;
    assert_true(trace_parse("00-" ID "-" PARENT "-01", &t));
    return t;
}

static struct span span_of(const struct trace *t)
{
    return (struct span){
        .trace = t, .id = "1111111111111111", .name = "x", .kind = SPAN_INTERNAL, .begun = 1, .ended = 2};
}

static void ob13_nothing_is_recorded_until_it_is_wanted(void **state)
{
    struct trace t = sampled();
    span_decide(env_real(), &t, false);
    assert_int_equal(t.flags, 1); /* the caller's flag is passed on */
    assert_false(span_is_recorded(&t));
    const struct span s = span_of(&t);
    span_record(&s);
    struct buffer all CLEANUP_BUFFER;
    buffer_init(&all, 1000);
    assert_int_equal(spans_take(&all, 10), 0);
}

static void ob14_dice_and_trusted_callers(void **state)
{
    static const struct {
        int ratio;
        uint8_t flags;
        bool trusted, recorded;
    } rows[] = {{0, 1, false, false},      {0, 1, true, true},   {1000000, 0, false, true},
                {1000000, 2, true, false}, {0, 3, false, false}, {1000000, 3, false, true}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct trace t = sampled();
        t.flags = rows[i].flags;
        span_set_ratio(rows[i].ratio);
        span_decide(env_real(), &t, rows[i].trusted);
        assert_int_equal(span_is_recorded(&t), rows[i].recorded);
        assert_int_equal(t.flags & TRACE_RANDOM, rows[i].flags & TRACE_RANDOM);
    }
    struct trace none = {.flags = TRACE_SAMPLED};
    assert_false(span_is_recorded(&none));
}

static double dropped_spans(void)
{
    struct buffer out CLEANUP_BUFFER;
    buffer_init(&out, 64 * 1024);
    span_metrics(&out);
    const char *line = strstr(out.data, "\nshootd_spans_dropped_total ");
    assert_non_null(line);
    return strtod(line + strlen("\nshootd_spans_dropped_total "), NULL);
}

static void queue_is_bounded(void **state)
{
    enum { TOO_MANY = 10 };
    const struct trace t = sampled();
    const struct span s = span_of(&t);
    span_set_ratio(1000000);
    const double before = dropped_spans();
    for (unsigned i = 0; i < SPANS_MAX + TOO_MANY; i++)
        span_record(&s);
    assert_true(dropped_spans() == before + TOO_MANY);
    unsigned all = 0;
    for (unsigned count = 1; count; all += count) {
        struct buffer batch CLEANUP_BUFFER;
        buffer_init(&batch, 100 * 1024);
        count = spans_take(&batch, 100);
        assert_true(count <= 100 && batch.len <= 100 * 1024);
        assert_int_equal(count == 0, batch.len == 0);
    }
    assert_int_equal(all, SPANS_MAX);
}

static void bytes_that_wait_are_bounded(void **state)
{
    enum { LONG = 4000 };
    static char text[LONG + 1];
    struct span_note notes[SPAN_NOTES_MAX + 5];
    const struct trace t = sampled();
    struct span s = span_of(&t);
    memset(text, 'x', LONG);
    for (size_t i = 0; i < ARRAY_LEN(notes); i++)
        notes[i] = (struct span_note){.at = 1, .text = text};
    const struct span_attribute attributes[] = {SPAN_STR("long", text), SPAN_STR("none", NULL),
                                                SPAN_INT("n", -7)};
    s.attributes = attributes;
    s.attribute_count = ARRAY_LEN(attributes);
    s.notes = notes;
    s.note_count = ARRAY_LEN(notes);
    s.error = text;
    const double before = dropped_spans();
    unsigned kept = 0;
    for (span_record(&s); dropped_spans() == before; span_record(&s))
        kept++;
    assert_true(kept < SPANS_MAX);
    struct buffer small CLEANUP_BUFFER, one CLEANUP_BUFFER;
    buffer_init(&small, SPANS_BYTES / SPANS_MAX);
    assert_int_equal(spans_take(&small, 1), 0); /* the span does not fit, and stays */
    buffer_init(&one, SPANS_BYTES);
    assert_int_equal(spans_take(&one, 1), 1);
    assert_true(one.len < (SPAN_NOTES_MAX + 3) * (SPAN_TEXT_BYTES + 100));
    assert_true(kept * one.len <= SPANS_BYTES && (kept + 1) * one.len > SPANS_BYTES);
    json_t *doc = json_parse_strict(one.data, one.len, NULL);
    assert_int_equal(json_array_size(json_arr(doc, "events")), SPAN_NOTES_MAX);
    assert_int_equal(json_array_size(json_arr(doc, "attributes")), 2); /* unknown values are left out */
    assert_int_equal(strlen(json_str(json_obj(doc, "status"), "message")), SPAN_TEXT_BYTES);
    json_decref(doc);
    while (spans_take(&one, SPANS_MAX))
        buffer_done(&one);
}

static void spans_of_parts_are_the_same_each_time(void **state)
{
    char one[TRACE_SPAN_BYTES], again[TRACE_SPAN_BYTES], other[TRACE_SPAN_BYTES], field[TRACEPARENT_BYTES];
    struct trace t = sampled();
    trace_span_of("op_1", 0, one);
    trace_span_of("op_1", 0, again);
    trace_span_of("op_1", 1, other);
    assert_string_equal(one, again);
    assert_string_not_equal(one, other);
    trace_parent(&t, one, field);
    assert_true(trace_parse(field, &t));
}

static void message_of_an_operation_is_stored_once(void **state)
{
    struct operation *op = operation_new();
    operation_says(op, 1, "first");
    operation_says(op, 2, "first"); /* the same text again */
    assert_int_equal(op->note_count, 1);
    operation_says(op, 2, NULL);
    assert_int_equal(op->note_count, 1);
    op->step_index = 1;
    for (int i = 0; i < OPERATION_MAX_NOTES + 5; i++)
        operation_says(op, 3 + i, i % 2 ? "a" : "b");
    assert_int_equal(op->note_count, OPERATION_MAX_NOTES);
    assert_int_equal(op->notes_dropped, 6); /* the oldest notes were dropped */
    struct operation *copy = operation_copy(op);
    for (int i = 0; i < OPERATION_MAX_NOTES; i++) {
        assert_int_equal(copy->notes[i].at, 3 + 5 + i);
        assert_int_equal(copy->notes[i].step, 1);
        assert_string_equal(copy->notes[i].text, op->notes[i].text);
        assert_ptr_not_equal(copy->notes[i].text, op->notes[i].text);
    }
    operation_free(copy);
    operation_forget_notes(op);
    assert_null(op->notes);
    operation_free(op);
}

static void ratios_are_from_0_to_1(void **state)
{
    static const struct {
        const char *text;
        int millionths; /* -1: none */
    } rows[] = {{"0", 0},         {"1", 1000000},   {"0.5", 500000},
                {"0.000001", 1},  {"1.0", 1000000}, {"1.000000", 1000000},
                {"0.25", 250000}, {"", -1},         {".5", -1},
                {"0.", -1},       {"1.000001", -1}, {"0.0000001", -1},
                {"2", -1},        {"-0.1", -1},     {"0,5", -1},
                {"00.5", -1},     {"0.5 ", -1},     {"1e-1", -1}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int value = -1;
        const bool ok = value_ratio(rows[i].text, &value);
        if (ok != (rows[i].millionths >= 0) || (ok && value != rows[i].millionths))
            fail_msg("'%s': %d %d", rows[i].text, ok, value);
    }
}

static void ht40_origins_are_exact(void **state)
{
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
        cmocka_unit_test(ob13_nothing_is_recorded_until_it_is_wanted),
        cmocka_unit_test(ob14_dice_and_trusted_callers),
        cmocka_unit_test(queue_is_bounded),
        cmocka_unit_test(bytes_that_wait_are_bounded),
        cmocka_unit_test(spans_of_parts_are_the_same_each_time),
        cmocka_unit_test(message_of_an_operation_is_stored_once),
        cmocka_unit_test(ratios_are_from_0_to_1),
        cmocka_unit_test(ht40_origins_are_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

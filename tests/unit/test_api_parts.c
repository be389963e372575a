/* The parts of the HTTP side that need no server: entity tags, Accept, list fields, percent-decoding, pages.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "api/checks.h"
#include "api/conditional.h"
#include "api/headers.h"
#include "api/list.h"
#include "api/match.h"
#include "base/attrs.h"
#include "base/log.h"

static void ht16_ht17_entity_tags(void **state)
{
    (void)state;
    static const struct {
        const char *list;
        bool weak;
        bool matches;
    } rows[] = {
        {"\"1\"", false, true},        {"W/\"1\"", false, false}, {"W/\"1\"", true, true},
        {"\"2\", \"1\"", false, true}, {"*", false, true},        {"*, \"2\"", false, false},
        {"\"11\"", true, false},       {"", true, false},         {"\"a,b\" , \"1\"", true, true},
        {"w/\"1\"", true, false},      {"1", true, false},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(etag_list_matches(rows[i].list, "\"1\"", rows[i].weak), rows[i].matches);
    assert_int_equal(condition_of_read(NULL, NULL, "\"1\""), CONDITION_PASS);
    assert_int_equal(condition_of_read("\"2\"", "\"1\"", "\"1\""), CONDITION_FAILED);
    assert_int_equal(condition_of_read("\"1\"", "\"1\"", "\"1\""), CONDITION_NOT_MODIFIED);
}

static void ht11_accept_fields(void **state)
{
    (void)state;
    static const struct {
        const char *accept;
        unsigned quality;
    } rows[] = {
        {NULL, 1000},
        {"*/*", 1000},
        {"application/json", 1000},
        {"Application/JSON;q=0.5", 500},
        {"text/html", 0},
        {"text/html, application/*;q=0.1", 100},
        {"*/*;q=0.8, application/json;q=0", 0},
        {"*/*;q=0, application/json", 1000},
        {"application/json; charset=utf-8; q=0.25", 250},
        {"application/problem+json", 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(accept_quality(rows[i].accept, "application/json"), rows[i].quality);
}

static void list_items(void **state)
{
    (void)state;
    const char *cursor = " a , ,\"b,c\\\"d\",e ";
    const char *item;
    size_t len;
    static const char *const want[] = {"a", "\"b,c\\\"d\"", "e"};
    for (size_t i = 0; i < ARRAY_LEN(want); i++) {
        assert_true(header_next_item(&cursor, &item, &len));
        assert_int_equal(len, strlen(want[i]));
        assert_memory_equal(item, want[i], len);
    }
    assert_false(header_next_item(&cursor, &item, &len));
}

static void escapes(void **state)
{
    (void)state;
    static const struct {
        char text[24];
        bool ok;
        const char *decoded;
    } rows[] = {
        {"abc", true, "abc"},
        {"a%2Fb", true, "a/b"},
        {"%c3%a5", true, "\xc3\xa5"},
        {"%00", false, NULL},
        {"%", false, NULL},
        {"%4", false, NULL},
        {"%zz", false, NULL},
        {"%ff", false, NULL},
        {"%c0%80", false, NULL},
        {"%ed%a0%80", false, NULL},
        {"%e2%82", false, NULL},
        {"%f4%90%80%80", false, NULL},
        {"%f0%9f%98%80", true, "\xf0\x9f\x98\x80"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char text[24];
        memcpy(text, rows[i].text, sizeof(text));
        assert_int_equal(percent_decode(text), rows[i].ok);
        if (rows[i].ok)
            assert_string_equal(text, rows[i].decoded);
    }
}

static unsigned lines;

static void count_errors(enum log_level level, const char *message, const char *const *keys,
                         const char *const *values, unsigned count)
{
    lines += level == LOG_LEVEL_ERROR && strstr(message, "page") && count == 1 &&
             !strcmp(keys[0], "request_id") && !strcmp(values[0], "req_page");
}

/* What a page of two items comes to, of which `room` bytes may be held. */
static struct problem *close_page(struct request *r, size_t room)
{
    struct buffer out CLEANUP_BUFFER;
    *r = (struct request){.id = "req_page", .problem = PROBLEM_MAX_};
    list_open(&out);
    out.max = room;
    list_add(&out, "{\"name\":\"a\"}", 12);
    list_add(&out, "{\"name\":\"b\"}", 12);
    return list_close(r, &out, NULL);
}

static void pages_that_are_too_large_are_errors(void **state)
{
    (void)state;
    static const char whole[] = "{\"items\":[{\"name\":\"a\"},{\"name\":\"b\"}],\"next_cursor\":null}";
    static struct request r;
    log_set_sink(count_errors);
    for (size_t room = 10; room < sizeof(whole) - 1; room++) {
        lines = 0;
        struct problem *p CLEANUP_PROBLEM = close_page(&r, room);
        assert_int_equal(p->code, PROBLEM_INTERNAL_ERROR);
        assert_int_equal(r.answer.status, 0);
        assert_int_equal(lines, 1);
    }
    assert_null(close_page(&r, sizeof(whole) - 1));
    assert_int_equal(r.answer.status, 200);
    assert_string_equal(r.answer.bytes, whole);
    assert_int_equal(lines, 1);
    answer_done(&r.answer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ht16_ht17_entity_tags),
        cmocka_unit_test(ht11_accept_fields),
        cmocka_unit_test(list_items),
        cmocka_unit_test(escapes),
        cmocka_unit_test(pages_that_are_too_large_are_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

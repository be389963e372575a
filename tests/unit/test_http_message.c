/* The messages of HTTP, which need no server: entity tags, Accept, list fields, percent-decoding. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/attrs.h"
#include "http/message/conditional.h"
#include "http/message/content.h"
#include "http/message/headers.h"
#include "http/message/path.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ht16_ht17_entity_tags),
        cmocka_unit_test(ht11_accept_fields),
        cmocka_unit_test(list_items),
        cmocka_unit_test(escapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

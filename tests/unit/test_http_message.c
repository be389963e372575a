/* Parts of HTTP messages that need no server: entity tags, Accept, list fields, percent-decoding, codings,
 * entity tags of codings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#include "base/attrs.h"
#include "base/env.h"
#include "base/etag.h"
#include "base/mem.h"
#include "base/text.h"
#include "http/message/content.h"
#include "http/message/headers.h"
#include "http/message/target.h"

/* What the two fields say about a resource that exists and has this entity tag. */
static enum precondition checked(const char *if_match, const char *if_none_match, const char *etag)
{
    const struct preconditions p = preconditions_read(if_match, if_none_match);
    return preconditions_check(&p, &(struct etag_current){.exists = true, .tag = etag});
}

static bool list_names(const char *list, const char *etag)
{
    return checked(list, NULL, etag) == PRECONDITION_HOLDS;
}

static void ht16_ht17_entity_tags(void **state)
{
    static const struct {
        const char *list;
        bool matches;
    } rows[] = {
        {"\"1\"", true}, {"W/\"1\"", true},         {"\"2\", \"1\"", true}, {"\"2\", W/\"1\"", true},
        {"*", true},     {"*, \"2\"", false},       {"\"11\"", false},      {"W/\"11\"", false},
        {"", false},     {"\"a,b\" , \"1\"", true}, {"w/\"1\"", false},     {"1", false},
        {"W/", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(list_names(rows[i].list, "\"1\""), rows[i].matches);
    assert_false(etag_list_holds("", "")); /* an empty list contains no tag, not even an empty one */
    assert_int_equal(checked(NULL, NULL, "\"1\""), PRECONDITION_HOLDS);
    assert_int_equal(checked("\"2\"", "\"1\"", "\"1\""), PRECONDITION_OTHER);
    assert_int_equal(checked("\"1\"", "\"1\"", "\"1\""), PRECONDITION_CURRENT);
    assert_int_equal(checked("W/\"1\"", NULL, "\"1\""), PRECONDITION_HOLDS);
}

/* A version is the beginning of entity tags; the next version has more digits. */
static void ht17_versions(void **state)
{
    static const struct {
        const char *list;
        bool matches;
    } rows[] = {
        {"\"a-1\"", true},         {"\"a-1-f00\"", true},   {"\"a-1-f00-gz\"", true},
        {"W/\"a-1-f00\"", true},   {"\"a-12-f00\"", false}, {"\"a-12\"", false},
        {"\"b-1-f00\"", false},    {"\"a-1", false},        {"\"x\", \"a-1-0\"", true},
        {"\"x, \"a-1-0\"", false}, {"a-1", false},          {"\"a-\"", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(list_names(rows[i].list, "\"a-1"), rows[i].matches);
}

static void ht11_accept_fields(void **state)
{
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
    const char *cursor = " a , ,\"b,c\\\"d\",e ";
    const char *item;
    size_t len;
    static const char *const want[] = {"a", "\"b,c\\\"d\"", "e"};
    for (size_t i = 0; i < ARRAY_LEN(want); i++) {
        assert_true(text_next_item(&cursor, &item, &len));
        assert_int_equal(len, strlen(want[i]));
        assert_memory_equal(item, want[i], len);
    }
    assert_false(text_next_item(&cursor, &item, &len));
}

static void escapes(void **state)
{
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

static void ht53_gzip_when_it_is_wanted(void **state)
{
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

static void qualities_of_codings(void **state)
{
    static const struct {
        const char *field, *coding;
        int quality;
    } rows[] = {
        {NULL, "br", -1},           {"", "br", -1},
        {"gzip", "br", -1},         {"gzip, BR", "br", 1000},
        {"br;q=0.25", "br", 250},   {"br;q=0", "br", 0},
        {"*;q=0.5", "br", 500},     {"br;q=0, *", "br", 0},
        {"gzip", "identity", -1},   {"identity;q=0.1", "identity", 100},
        {"brotli, gzip", "br", -1},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (coding_quality(rows[i].field, rows[i].coding) != rows[i].quality)
            fail_msg("Accept-Encoding: %s", rows[i].field ? rows[i].field : "(none)");
}

static void segments_of_paths(void **state)
{
    static const struct {
        const char *path;
        unsigned count;
        const char *first;
    } rows[] = {
        {"/", 1, ""}, {"//", 2, ""}, {"/v1", 1, "v1"}, {"/v1/", 2, "v1"}, {"/a/b/c/d/e/f/g/h/i", 0, NULL}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct path_segments got;
        char *path = mem_strdup(rows[i].path);
        assert_null(path_split(path, &got));
        assert_int_equal(got.count, rows[i].count);
        if (rows[i].first)
            assert_string_equal(got.items[0], rows[i].first);
        free(path);
    }
}

static void ht53_bytes_come_back_as_they_were(void **state)
{
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
    assert_null(compress_bytes(text, LEN, 6)); /* the compressed form is not smaller */
    assert_null(compress_bytes(text, 1, 6));
    free(text);
    free(back);
}

static void ht21_tags_of_both_forms(void **state)
{
    char coded[16];
    assert_true(etag_of_coded("\"v1\"", coded, sizeof(coded)));
    assert_string_equal(coded, "\"v1-gz\"");
    assert_false(etag_of_coded("\"0123456789ab\"", coded, sizeof(coded)));
    assert_false(etag_of_coded("", coded, sizeof(coded)));
    assert_true(list_names("\"x\", \"v1-gz\"", "\"v1\""));
    assert_true(list_names("W/\"v1-gz\"", "\"v1\""));
    assert_false(list_names("\"v1-gz-gz\", \"v1-g\", \"v1-\"", "\"v1\""));
    assert_false(etag_list_holds("*", "\"v1\""));
    assert_false(etag_list_holds("\"v1-gz\"", "\"v1\""));
}

static void ht18_conditions_of_writes(void **state)
{
    static const struct {
        const char *match, *none_match, *etag;
        enum precondition result;
    } rows[] = {
        {NULL, NULL, "\"v1\"", PRECONDITION_HOLDS},
        {NULL, "*", "\"v1\"", PRECONDITION_EXISTS},
        {NULL, "W/\"v1\"", "\"v1\"", PRECONDITION_CURRENT},
        {NULL, "\"v2\"", "\"v1\"", PRECONDITION_HOLDS},
        {"\"v1\"", "\"v2\"", "\"v1\"", PRECONDITION_HOLDS},
        {"W/\"v1\"", NULL, "\"v1\"", PRECONDITION_HOLDS},
        {"W/\"v2\"", NULL, "\"v1\"", PRECONDITION_OTHER},
        {"*", NULL, "", PRECONDITION_HOLDS},
        {"", NULL, "", PRECONDITION_ABSENT},
        {NULL, "", "", PRECONDITION_HOLDS},
        {"\"v1\"", NULL, "", PRECONDITION_ABSENT},
        {NULL, "\"v1\"", "", PRECONDITION_HOLDS},
        {NULL, "*", "", PRECONDITION_EXISTS},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(checked(rows[i].match, rows[i].none_match, rows[i].etag), rows[i].result);
    assert_int_equal(preconditions_check(NULL, &(struct etag_current){.tag = ""}), PRECONDITION_HOLDS);
}

static void ht18_conditions_of_what_does_not_exist(void **state)
{
    const struct preconditions match = preconditions_read("*", NULL),
                               none_match = preconditions_read(NULL, "*"),
                               neither = preconditions_read(NULL, NULL);
    const struct etag_current absent = {.tag = ""},
                              in_another = {.any_holds = true, .exists = true, .tag = "\"v1"};
    assert_int_equal(preconditions_check(&match, &absent), PRECONDITION_ABSENT);
    assert_int_equal(preconditions_check(&none_match, &absent), PRECONDITION_HOLDS);
    assert_int_equal(preconditions_check(&none_match, &in_another), PRECONDITION_HOLDS);
    assert_null(preconditions_copy(&neither));
    char list[] = "\"v1-0\"";
    struct preconditions read = preconditions_read(NULL, list);
    struct preconditions *copy CLEANUP_FREE = preconditions_copy(&read);
    list[1] = 'x';
    assert_int_equal(preconditions_check(copy, &in_another), PRECONDITION_CURRENT);
    assert_int_equal(preconditions_check(&read, &in_another), PRECONDITION_HOLDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ht16_ht17_entity_tags),
        cmocka_unit_test(ht17_versions),
        cmocka_unit_test(ht11_accept_fields),
        cmocka_unit_test(list_items),
        cmocka_unit_test(escapes),
        cmocka_unit_test(ht53_gzip_when_it_is_wanted),
        cmocka_unit_test(qualities_of_codings),
        cmocka_unit_test(segments_of_paths),
        cmocka_unit_test(ht53_bytes_come_back_as_they_were),
        cmocka_unit_test(ht21_tags_of_both_forms),
        cmocka_unit_test(ht18_conditions_of_writes),
        cmocka_unit_test(ht18_conditions_of_what_does_not_exist),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

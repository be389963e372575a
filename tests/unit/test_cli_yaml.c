/* Reading and writing of YAML in shootctl. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "base/mem.h"
#include "cli/yaml_in.h"
#include "cli/yaml_out.h"

static char *as_json(const char *yaml)
{
    struct yaml_fault fault = {0};
    json_t *all CLEANUP_JSON = yaml_read(yaml, strlen(yaml), &fault);
    return all ? json_text(all) : mem_printf("%zu: %s", fault.line, fault.text);
}

static void assert_reads(const char *yaml, const char *json)
{
    char *found CLEANUP_FREE = as_json(yaml);
    assert_string_equal(found, json);
}

static void assert_refuses(const char *yaml, const char *says)
{
    char *found CLEANUP_FREE = as_json(yaml);
    if (!strstr(found, says))
        fail_msg("'%s': '%s', not '%s'", yaml, found, says);
}

static void plain_words(void **state)
{
    assert_reads("a: 1\nb: -2\nc: true\nd: null\ne: ~\nf:\n",
                 "[{\"a\":1,\"b\":-2,\"c\":true,\"d\":null,\"e\":null,\"f\":null}]");
    assert_reads("v: 1.30\nw: '1.33'\nx: 1e3\ny: yes\nz: 020000+0000\n",
                 "[{\"v\":\"1.30\",\"w\":\"1.33\",\"x\":\"1e3\",\"y\":\"yes\",\"z\":\"020000+0000\"}]");
    assert_reads("a: \"5\"\nb: |\n  x\n  y\n", "[{\"a\":\"5\",\"b\":\"x\\ny\\n\"}]");
    assert_reads("{\"name\": \"dev\", \"spec\": {\"n\": [1, true, null]}}",
                 "[{\"name\":\"dev\",\"spec\":{\"n\":[1,true,null]}}]");
}

/* JSON has escapes and numbers that YAML reads in another way. */
static void json_is_read_as_json(void **state)
{
    assert_reads("{\"a\": \"\\ud83d\\ude00\", \"n\": 3.0}", "[{\"a\":\"\xf0\x9f\x98\x80\",\"n\":3}]");
    assert_reads("\xef\xbb\xbf\n {\"a\": \"\\/\"}\n", "[{\"a\":\"/\"}]");
    assert_reads("{a: 1.30}", "[{\"a\":\"1.30\"}]"); /* this is YAML */
    assert_refuses("{\"a\": 1,\n \"a\": 2}", "2: duplicate key 'a'");
    assert_refuses("{\"a\": \"\\u0000\"}", "NUL");
    assert_refuses("{\"\\u202e\": 1}", "cannot be shown");
    char deep[2 * 6 * (YAML_MAX_DEPTH + 2) + 8] = "";
    for (int i = 0; i < YAML_MAX_DEPTH + 2; i++)
        (void)strcat(deep, "{\"a\":");
    (void)strcat(deep, "1");
    for (int i = 0; i < YAML_MAX_DEPTH + 2; i++)
        (void)strcat(deep, "}");
    assert_refuses(deep, "levels");
}

static void several_documents(void **state)
{
    assert_reads("---\nname: a\n---\n---\nname: b\n...\n", "[{\"name\":\"a\"},{\"name\":\"b\"}]");
    assert_reads("", "[]");
    assert_reads("# nothing\n", "[]");
}

static void aliases_are_copies(void **state)
{
    assert_reads("a: &x {n: 1}\nb: *x\n", "[{\"a\":{\"n\":1},\"b\":{\"n\":1}}]");
    assert_refuses("a: *x\n", "1: no value has the anchor 'x'");
    assert_refuses("---\na: &x 1\n---\nb: *x\n", "4: no value has the anchor");
    assert_refuses("a: &x [*x]\n", "no value has the anchor");
}

static void faults_have_their_line(void **state)
{
    assert_refuses("a: 1\nb: 2\na: 3\n", "3: duplicate key 'a'");
    assert_refuses("a: 1\n b: 2\n", "2: ");
    assert_refuses("a: {b: [}\n", "1: ");
    assert_refuses("? [a]\n: b\n", "1: a key has to be a word");
    assert_refuses("x: &x {a: 1}\ny:\n  <<: *x\n", "3: merge keys");
    assert_refuses("a: \"x\\0y\"\n", "1: a text holds a NUL byte");
}

static void bounds(void **state)
{
    struct buffer text CLEANUP_BUFFER;
    buffer_init(&text, 16 * 1024 * 1024);
    for (int i = 0; i < 100; i++)
        buffer_add_str(&text, "[");
    assert_refuses(text.data, "more than 60 levels");
    text.len = 0;
    buffer_add_str(&text, "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
    for (int i = 1; i < 9; i++)
        buffer_printf(&text, "a%d: &a%d [*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d]\n", i, i, i - 1,
                      i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
    assert_refuses(text.data, "aliases expand to more than");
}

static void assert_round(const char *json)
{
    struct buffer out CLEANUP_BUFFER;
    json_t *value CLEANUP_JSON = json_loads(json, JSON_DECODE_ANY, NULL);
    buffer_init(&out, 1024 * 1024);
    yaml_write(&out, value);
    struct yaml_fault fault = {0};
    json_t *all CLEANUP_JSON = yaml_read(out.data, out.len, &fault);
    if (!all)
        fail_msg("%s: %zu: %s", out.data, fault.line, fault.text);
    if (!json_equal(json_array_get(all, 0), value))
        fail_msg("%s became\n%s", json, out.data);
}

static void written_values_are_read(void **state)
{
    static const char *const rows[] = {
        "{\"a\":1}",
        "{\"a\":[],\"b\":{},\"c\":[{}],\"d\":[[]],\"e\":[[1,[2]],{\"x\":[{\"y\":1,\"z\":[1]}]}]}",
        "[{\"a\":{\"b\":[1,2,{\"c\":null}]}},[1],\"x\"]",
        "{\"1.30\":\"1.30\",\"no\":\"no\",\"x\":\"\",\"y\":\" a\",\"z\":\"a: b # "
        "c\",\"t\":\"2026-01-01\",\"n\":\"null\",\"tilde\":\"~\",\"s\":\"- x\"}",
        "{\"lines\":\"a\\nb\\n\",\"quote\":\"\\\"'\\\\\",\"unicode\":\"\u00e5\u202e\\u0007\U0001f469\","
        "\"long\":\"a-b.c/d_e\"}",
        "{\"true\":true,\"false\":\"false\",\"int\":\"12\",\"hex\":\"0x10\",\"inf\":\"inf\",\"exp\":\"1e3\","
        "\"y\":\"y\"}",
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_round(rows[i]);
}

static void the_form_that_people_see(void **state)
{
    struct buffer out CLEANUP_BUFFER;
    json_t *value CLEANUP_JSON =
        json_loads("{\"name\":\"dev\",\"spec\":{\"kubernetes_version\":\"1.30\",\"node_pools\":[{\"name\":"
                   "\"a\",\"zones\":[\"nova\"]},{\"name\":\"b\"}]},\"labels\":{}}",
                   0, NULL);
    buffer_init(&out, 4096);
    yaml_write(&out, value);
    assert_string_equal(out.data, "name: dev\n"
                                  "spec:\n"
                                  "  kubernetes_version: \"1.30\"\n"
                                  "  node_pools:\n"
                                  "  - name: a\n"
                                  "    zones:\n"
                                  "    - nova\n"
                                  "  - name: b\n"
                                  "labels: {}\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_words),
        cmocka_unit_test(json_is_read_as_json),
        cmocka_unit_test(several_documents),
        cmocka_unit_test(aliases_are_copies),
        cmocka_unit_test(faults_have_their_line),
        cmocka_unit_test(bounds),
        cmocka_unit_test(written_values_are_read),
        cmocka_unit_test(the_form_that_people_see),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

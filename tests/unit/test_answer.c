/* What Cleura sends is read within budgets, row by row, and what is kept of it can always be read back. */
#include "tests/support/check.h"

#include <openssl/ui.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/timefmt.h"
#include "upstream/wire/generation_private.h"

#define NOW (INT64_C(1790000000) * US_PER_S) /* 2026-09-21 */

/* ---- the scan ---- */

static void a_scan_agrees_with_the_parser(void **state)
{
    (void)state;
    static const struct json_limits any = {SIZE_MAX, SIZE_MAX, SIZE_MAX};
    static const char *const rows[] = {
        "{}", "[]", "5", "-0", "-0.5e+7", "1E3", "true", "false", "null", "\"\"", " [ 1 , 2 ] ",
        "{\"a\":{\"b\":[]}}", "[\"\\\"]\"]", "\"\\\\\"", "\"\\u00e9\"", "[[],[{}],{\"a\":[]}]",
        "{\"a\":1,\"a\":2}",
        /* not JSON */
        "", " ", "[", "]", "[1", "[1,]", "[,1]", "[1 2]", "{", "}", "{\"a\"}", "{\"a\":}", "{\"a\":1,}",
        "{a:1}", "{1:1}", "01", "-", "1.", ".5", "1e", "1e+", "+1", "tru", "nul", "truex", "\"", "\"\\\"",
        "[]]", "{}{}", "1 1", "[1}", "{\"a\":1]", "[1:2]", "{\"a\",1}", "{\"a\":1:2}", "NaN", "[\"a\":1]"};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        size_t len = strlen(rows[i]);
        json_t *doc CLEANUP_JSON = json_loadb(rows[i], len, JSON_DECODE_ANY, NULL);
        enum json_scan_end end = json_scan(rows[i], len, &any);
        if ((end == JSON_SCAN_OK) != (doc != NULL))
            fail_msg("'%s' %s", rows[i], json_scan_text(end));
    }
}

static void a_scan_refuses_before_anything_is_built(void **state)
{
    (void)state;
    static const struct json_limits limits = {64, 10, 5};
    static const struct {
        const char *text;
        enum json_scan_end end;
    } rows[] = {
        {"[1,2,3,4,5]", JSON_SCAN_OK},
        {"[1,2,3,4,5,6]", JSON_SCAN_TOO_MANY_MEMBERS},
        {"{\"a\":1,\"b\":2,\"c\":3,\"d\":4,\"e\":5,\"f\":6}", JSON_SCAN_TOO_MANY_MEMBERS},
        {"[[1,2,3],[1,2,3],[1,2,3]]", JSON_SCAN_TOO_MANY_VALUES},
        {"\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"", JSON_SCAN_TOO_MANY_BYTES},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(json_scan(rows[i].text, strlen(rows[i].text), &limits), rows[i].end);
    static const struct json_limits any = {SIZE_MAX, SIZE_MAX, SIZE_MAX};
    char deep[2 * (JSON_MAX_DEPTH + 1)];
    memset(deep, '[', JSON_MAX_DEPTH + 1);
    memset(deep + JSON_MAX_DEPTH + 1, ']', JSON_MAX_DEPTH + 1);
    assert_int_equal(json_scan(deep, sizeof(deep), &any), JSON_SCAN_TOO_DEEP);
    assert_int_equal(json_scan(deep + 1, sizeof(deep) - 2, &any), JSON_SCAN_OK);
}

static void the_items_of_an_array_come_one_by_one(void **state)
{
    (void)state;
    static const char text[] = " [ {\"a\":[1,2]} ,3,\n\"x,]\",[] ] ";
    static const char *const items[] = {"{\"a\":[1,2]}", "3", "\"x,]\"", "[]"};
    struct json_items it;
    const char *bytes;
    size_t len, i = 0;
    assert_true(json_items_begin(&it, text, strlen(text)));
    for (; json_items_next(&it, &bytes, &len); i++) {
        assert_int_equal(len, strlen(items[i]));
        assert_memory_equal(bytes, items[i], len);
    }
    assert_int_equal(i, ARRAY_LEN(items));
    assert_false(json_items_begin(&it, "{}", 2));
}

static void what_the_parser_does_not_take_is_malformed(void **state)
{
    (void)state;
    static const struct json_limits any = {SIZE_MAX, SIZE_MAX, SIZE_MAX};
    static const char *const rows[] = {"\"\xff\"", "\"\\u0000\"", "\"\\ud800\"", "99999999999999999999",
                                       "1e999",    "\"\x01\""};
    enum json_scan_end end;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_null(json_parse_foreign(rows[i], strlen(rows[i]), &any, &end));
        assert_int_equal(end, JSON_SCAN_MALFORMED);
    }
    assert_null(json_parse_foreign("\"a\0b\"", 5, &any, &end));
    assert_int_equal(end, JSON_SCAN_MALFORMED);
}

/* ---- texts and packed texts ---- */

static void texts_are_cut_between_characters(void **state)
{
    (void)state;
    assert_int_equal(utf8_cut("abc", 5), 3);
    assert_int_equal(utf8_cut("abc", 3), 3);
    assert_int_equal(utf8_cut("abc", 2), 2);
    assert_int_equal(utf8_cut("a\xc3\xa9", 2), 1);
    assert_int_equal(utf8_cut("a\xc3\xa9", 3), 3);
    assert_int_equal(utf8_cut("\xe2\x82\xac\xe2\x82\xac", 5), 3);
    assert_int_equal(utf8_cut("\xf0\x9f\x98\x80", 3), 0);
    assert_int_equal(utf8_cut("", 0), 0);
}

static void a_reason_of_cleura_that_is_cut_in_a_character_is_told(void **state)
{
    (void)state;
    for (size_t pad = 296; pad <= 300; pad++) {
        char *words CLEANUP_FREE = mem_calloc(pad + 10, 1);
        memset(words, 'x', pad);
        memcpy(words + pad, "\xf0\x9f\x98\x80!", 5);
        char *body CLEANUP_FREE = mem_printf("{\"error\":{\"code\":400,\"message\":\"%s\"}}", words);
        char *message CLEANUP_FREE = error_message(body, strlen(body));
        json_t *shown CLEANUP_JSON = json_string(message); /* NULL when it is no UTF-8 */
        assert_non_null(shown);
        assert_true(strlen(message) >= 296 && strlen(message) <= 300);
    }
}

/* ---- rows ---- */

static const char *const good[2] = {
    "{\"name\":\"dev\",\"uid\":\"u\",\"kubernetes\":{\"version\":\"1.33.7\"},\"shoot_provider\":{\"workers\":"
    "[{\"name\":"
    "\"wg\",\"machine\":{\"type\":\"b.2c4gb\",\"image\":{\"name\":\"gardenlinux\",\"version\":\"1.0.0\"}},"
    "\"minimum\":1,"
    "\"maximum\":3,\"max_surge\":1,\"volume\":{\"size\":\"50Gi\"},\"zones\":[\"nova\"],\"labels\":[{\"key\":"
    "\"a\",\"value\":"
    "\"b\"}],\"taints\":[{\"key\":\"k\",\"effect\":\"NoSchedule\",\"x\":{}}]}]},\"networking\":{\"type\":"
    "\"cilium\",\"nodes\":"
    "\"10.0.0.0/"
    "16\",\"cilium_provider_config\":{\"debug\":true,\"tunnel\":\"vxlan\",\"more\":{\"a\":[1]}}},\"last_"
    "operation\":"
    "{\"type\":\"Create\",\"state\":\"Processing\",\"progress\":43,\"description\":\"x\",\"last_update_"
    "time\":"
    "\"2026-03-01T12:05:00Z\"},\"status\":{\"is_hibernated\":false,\"conditions\":[{\"type\":\"T\","
    "\"status\":\"True\","
    "\"message\":\"m\",\"codes\":[],\"deep\":[[[]]]}],\"constraints\":[],\"last_errors\":[{\"description\":"
    "\"d\",\"codes\":"
    "[\"ERR\"]}]}}",
    "{\"metadata\":{\"name\":\"dev\",\"uid\":\"u\"},\"spec\":{\"kubernetes\":{\"version\":\"1.33.7\"},"
    "\"provider\":{\"workers\":"
    "[{\"name\":\"wg\",\"machine\":{\"type\":\"b.2c4gb\",\"image\":{\"name\":\"gardenlinux\",\"version\":\"1."
    "0.0\"}},\"minimum\":"
    "\"1\",\"maximum\":3,\"maxSurge\":1,\"zones\":[\"nova\"],\"labels\":{\"a\":\"b\"},\"taints\":[{\"key\":"
    "\"k\",\"effect\":"
    "\"NoSchedule\"}]}]}},\"status\":{\"hibernated\":false,\"lastOperation\":{\"type\":\"Create\",\"state\":"
    "\"Processing\","
    "\"progress\":43,\"description\":\"x\"},\"conditions\":[{\"type\":\"T\",\"status\":\"True\",\"message\":"
    "\"m\"}],"
    "\"advertisedAddresses\":[{\"name\":\"external\",\"url\":\"https://x\"}]}}"};

static decode_shoot *const decoders[2] = {decode_shoot_v2, decode_shoot_v1};

/* A good row with `path` (dots; numbers are indices) set to `value`, or deleted when that is NULL. */
static json_t *row_with(int generation, const char *path, const char *value)
{
    json_t *row = json_loads(good[generation], 0, NULL), *at = row;
    char *copy CLEANUP_FREE = mem_strdup(path);
    char *rest = copy, *name = strsep(&rest, ".");
    for (; rest; name = strsep(&rest, "."))
        at = json_is_array(at) ? json_array_get(at, strtoul(name, NULL, 10)) : json_object_get(at, name);
    if (!value)
        (void)json_object_del(at, name);
    else
        (void)json_object_set_new(at, name, json_loads(value, JSON_DECODE_ANY, NULL));
    return row;
}

static struct shoot *decode(int generation, const json_t *row, const char **ret_fault)
{
    struct decoding d = {.now = NOW};
    struct shoot *s = decoders[generation](&d, row);
    *ret_fault = d.fault;
    return s;
}

static void rows_that_cannot_be_are_refused_C2(void **state)
{
    (void)state;
    static char long_word[400] = "\"";
    memset(long_word + 1, 'a', 300);
    long_word[301] = '"';
    const struct {
        const char *paths[2], *value;
        bool refused;
    } rows[] = {
        {{"name", "metadata.name"}, NULL, true},
        {{"name", "metadata.name"}, "\"\"", true},
        {{"name", "metadata.name"}, "7", true},
        {{"name", "metadata.name"}, "\"../../etc\"", true},
        {{"name", "metadata.name"}, "\"x/y?z#\"", true},
        {{"name", "metadata.name"}, "\"Upper\"", true},
        {{"name", "metadata.name"}, long_word, true},
        {{"kubernetes", "spec.kubernetes"}, NULL, true},
        {{"kubernetes.version", "spec.kubernetes.version"}, long_word, true},
        {{"shoot_provider.workers", "spec.provider.workers"}, NULL, true},
        {{"shoot_provider.workers", "spec.provider.workers"}, "{}", true},
        {{"shoot_provider.workers", "spec.provider.workers"}, "[]", false},
        {{"shoot_provider.workers.0.name", "spec.provider.workers.0.name"}, "\"../x\"", true},
        {{"shoot_provider.workers.0.minimum", "spec.provider.workers.0.minimum"}, "-1", true},
        {{"shoot_provider.workers.0.maximum", "spec.provider.workers.0.maximum"}, "10000000007", true},
        {{"shoot_provider.workers.0.maximum", "spec.provider.workers.0.maximum"}, "\"many\"", true},
        {{"last_operation", "status.lastOperation"}, "\"Succeeded\"", true},
        {{"last_operation", "status.lastOperation"}, "[]", true},
        {{"last_operation", "status.lastOperation"}, "{}", true},
        {{"last_operation", "status.lastOperation"}, "null", false},
        {{"last_operation", "status.lastOperation"}, NULL, false},
        {{"last_operation.last_update_time", "status.lastOperation.lastUpdateTime"},
         "\"9999-12-31T23:59:59Z\"",
         true},
        {{"last_operation.last_update_time", "status.lastOperation.lastUpdateTime"},
         "\"1970-01-01T00:00:00Z\"",
         true},
        {{"last_operation.last_update_time", "status.lastOperation.lastUpdateTime"},
         "\"2026-03-01T12:05:00+25:00\"",
         true},
        {{"last_operation.last_update_time", "status.lastOperation.lastUpdateTime"}, "\"yesterday\"", true},
        {{"last_operation.last_update_time", "status.lastOperation.lastUpdateTime"},
         "\"2026-03-01T12:05:00+02:00\"",
         false},
        {{"status", "status"}, "\"x\"", true},
        {{"status.conditions", "status.conditions"}, "{}", true},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        for (int g = 0; g < 2; g++) {
            const char *fault;
            json_t *row CLEANUP_JSON = row_with(g, rows[i].paths[g], rows[i].value);
            struct shoot *s = decode(g, row, &fault);
            if ((s == NULL) != rows[i].refused || (fault != NULL) != rows[i].refused)
                fail_msg("%s = %.40s: %s", rows[i].paths[g], rows[i].value ? rows[i].value : "(absent)",
                         fault);
            shoot_free(s);
        }
    }
}

static void a_progress_that_is_no_percentage_tells_nothing(void **state)
{
    (void)state;
    static const struct {
        const char *told;
        int shown;
    } rows[] = {{"-5", 0}, {"10000000007", 0}, {"101", 0}, {"100", 100}, {"0", 0}, {"\"43\"", 43}};
    static const char *const paths[2] = {"last_operation.progress", "status.lastOperation.progress"};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        for (int g = 0; g < 2; g++) {
            const char *fault;
            json_t *row CLEANUP_JSON = row_with(g, paths[g], rows[i].told);
            struct shoot *s = decode(g, row, &fault);
            assert_non_null(s);
            assert_int_equal(s->progress, rows[i].shown);
            shoot_free(s);
        }
    }
}

/* Controls of both sets and marks that turn the direction of text become spaces, wherever words are shown. */
static void cleuras_words_hold_no_controls_D4(void **state)
{
    (void)state;
    static const char told[] = "\"a\\u001b[2J\\u009b1m \\u202eb\\u2028c \\u00fc\"",
                      shown[] = "a [2J 1m  b c \xc3\xbc";
    const char *fault;
    json_t *row CLEANUP_JSON = row_with(0, "last_operation.description", told);
    json_t *status = json_object_get(row, "status");
    json_t *text CLEANUP_JSON = json_loads(told, JSON_DECODE_ANY, NULL);
    (void)json_object_set(json_array_get(json_object_get(status, "conditions"), 0), "message", text);
    (void)json_object_set(json_array_get(json_object_get(status, "last_errors"), 0), "description", text);
    struct shoot *s = decode(0, row, &fault);
    assert_non_null(s);
    assert_string_equal(s->description, shown);
    assert_string_equal(json_str(json_array_get(json_doc_tree(s->conditions), 0), "message"), shown);
    assert_string_equal(json_str(json_array_get(json_doc_tree(s->last_errors), 0), "description"), shown);
    shoot_free(s);
    char *body CLEANUP_FREE = mem_printf("{\"error\":{\"code\":400,\"message\":%s}}", told);
    char *message CLEANUP_FREE = error_message(body, strlen(body));
    assert_string_equal(message, shown);
}

/* The oracle: decode, store, load, equal. */
static void assert_round_trip(int generation, const json_t *row)
{
    const char *fault;
    struct shoot *s = decode(generation, row, &fault);
    if (!s)
        return;
    struct cluster *c = cluster_new();
    (void)strcpy(c->id, "cl_1");
    c->project = mem_strdup("p");
    c->name = mem_strdup(s->name);
    c->shoot = s;
    json_t *stored CLEANUP_JSON = cluster_to_json(c);
    char *text CLEANUP_FREE = json_text(stored);
    struct json_fault parse_fault;
    json_t *read CLEANUP_JSON = json_parse_strict(text, strlen(text), &parse_fault);
    if (!read)
        fail_msg("what is stored cannot be read back: %s", parse_fault.text);
    struct cluster *back = cluster_from_json(read);
    assert_non_null(back);
    json_t *again CLEANUP_JSON = cluster_to_json(back);
    assert_true(json_equal(stored, again));
    assert_true(json_equal(read, stored));
    cluster_free(back);
    cluster_free(c);
}

static json_t *nested(int depth)
{
    json_t *value = json_array();
    for (int i = 0; i < depth; i++) {
        json_t *outer = json_object();
        (void)json_object_set_new(outer, "x", value);
        value = outer;
    }
    return value;
}

/* Puts `value` in the place of every member, one after the other. */
static void replace_everywhere(int generation, const json_t *row, json_t *at, json_t *value)
{
    const char *key;
    json_t *inner;
    size_t i;
    void *next;
    json_object_foreach_safe(at, next, key, inner)
    {
        json_t *kept = json_incref(inner);
        char *name CLEANUP_FREE = mem_strdup(key);
        (void)json_object_set(at, name, value);
        assert_round_trip(generation, row);
        (void)json_object_set_new(at, name, kept);
        replace_everywhere(generation, row, kept, value);
    }
    json_array_foreach (at, i, inner) {
        json_t *kept = json_incref(inner);
        (void)json_array_set(at, i, value);
        assert_round_trip(generation, row);
        (void)json_array_set_new(at, i, kept);
        replace_everywhere(generation, row, kept, value);
    }
}

static void what_is_decoded_can_be_stored_and_read_back_C1(void **state)
{
    (void)state;
    static const char *const odd[] = {
        "null",  "true",        "-5", "1e300", "9223372036854775807", "\"\"",
        "\"x\"", "\"\\u00e9\"", "{}", "[]",    "[1,\"x\",null,{}]",   "{\"a\":{\"key\":\"k\"}}"};
    for (int g = 0; g < 2; g++) {
        json_t *row CLEANUP_JSON = json_loads(good[g], 0, NULL);
        const char *fault;
        struct shoot *s = decode(g, row, &fault);
        assert_non_null(s);
        shoot_free(s);
        assert_round_trip(g, row);
        for (size_t i = 0; i < ARRAY_LEN(odd); i++) {
            json_t *value CLEANUP_JSON = json_loads(odd[i], JSON_DECODE_ANY, NULL);
            replace_everywhere(g, row, row, value);
        }
        json_t *deep CLEANUP_JSON = nested(60);
        replace_everywhere(g, row, row, deep);
    }
}

static void only_known_members_are_taken_over(void **state)
{
    (void)state;
    const char *fault;
    json_t *row CLEANUP_JSON = json_loads(good[0], 0, NULL);
    struct shoot *s = decode(0, row, &fault);
    assert_non_null(s);
    char *cilium CLEANUP_FREE = json_canonical(json_obj(json_obj(shoot_observed(s), "networking"), "cilium"));
    assert_string_equal(cilium, "{\"debug\":true,\"tunnel\":\"vxlan\"}");
    char *conditions CLEANUP_FREE = json_canonical(json_doc_tree(s->conditions));
    assert_null(strstr(conditions, "deep"));
    char *pools CLEANUP_FREE = json_canonical(json_arr(shoot_observed(s), "node_pools"));
    assert_null(strstr(pools, "\"x\""));
    shoot_free(s);
}

/* ---- lists ---- */

static void one_bad_row_does_not_take_the_others_along(void **state)
{
    (void)state;
    char *body CLEANUP_FREE =
        mem_printf("[%s,{\"name\":\"A B\"},5,{\"name\":\"\xff\"},%s]", good[0], good[0]);
    const char *why;
    struct json_items rows;
    struct list_part part;
    assert_int_equal(list_begin(&rows, body, strlen(body), &why), READ_OK);
    assert_true(list_next(&generation_v2, NOW, &rows, NULL, &part));
    assert_int_equal(part.shoot_count, 2);
    assert_int_equal(part.refused_count, 3);
    assert_string_equal(part.refused[0].name, "A B");
    list_part_done(&part);
    assert_false(list_next(&generation_v2, NOW, &rows, NULL, &part));
}

/* Of what came before, byte for byte, only that it came again. */
static void known_rows_are_not_decoded(void **state)
{
    (void)state;
    char *other CLEANUP_FREE = mem_strdup(good[0]);
    char *body CLEANUP_FREE = NULL;
    const char *why;
    struct json_items rows;
    struct list_part part;
    other[strlen(other) - 1] = ' '; /* another text of the same shoot: its end is behind */
    body = mem_printf("[%s, %s}]", good[0], other);
    assert_int_equal(list_begin(&rows, body, strlen(body), &why), READ_OK);
    assert_true(list_next(&generation_v2, NOW, &rows, NULL, &part));
    assert_int_equal(part.shoot_count, 2);
    assert_memory_not_equal(part.shoots[0]->row, part.shoots[1]->row, ROW_DIGEST_BYTES);
    struct known_rows *known = known_rows_new(3);
    uint8_t like_it[ROW_DIGEST_BYTES]; /* it would have the slot */
    memcpy(like_it, part.shoots[0]->row, sizeof(like_it));
    like_it[ROW_DIGEST_BYTES - 1] ^= 1;
    known_rows_add(known, like_it, "another");
    known_rows_add(known, part.shoots[0]->row, part.shoots[0]->name);
    known_rows_add(known, part.shoots[1]->row,
                   "a-name-that-is-longer-than-the-sixty-three-bytes-which-a-row-has-room-for");
    list_part_done(&part);
    assert_int_equal(list_begin(&rows, body, strlen(body), &why), READ_OK);
    assert_true(list_next(&generation_v2, NOW, &rows, known, &part));
    assert_int_equal(part.shoot_count, 1);
    assert_int_equal(part.known_count, 1);
    assert_string_equal(part.known[0]->name, part.shoots[0]->name);
    list_part_done(&part);
    free(known);
}

static void a_list_comes_in_parts(void **state)
{
    (void)state;
    struct buffer body CLEANUP_BUFFER;
    buffer_init(&body, 1 << 20);
    for (int i = 0; i < 2 * LIST_PART_ROWS + 1; i++)
        (void)buffer_printf(&body, "%s%s", i ? "," : "[", good[0]);
    (void)buffer_add_str(&body, "]");
    const char *why;
    struct json_items rows;
    struct list_part part;
    size_t parts = 0, found = 0;
    assert_int_equal(list_begin(&rows, body.data, body.len, &why), READ_OK);
    for (; list_next(&generation_v2, NOW, &rows, NULL, &part); parts++) {
        found += part.shoot_count;
        list_part_done(&part);
    }
    assert_int_equal(parts, 3);
    assert_int_equal(found, 2 * LIST_PART_ROWS + 1);
    /* Broken at its end: no part at all. */
    assert_int_equal(list_begin(&rows, body.data, body.len - 1, &why), READ_GARBLED);
    assert_int_equal(list_begin(&rows, "{}", 2, &why), READ_GARBLED);
}

static void each_kind_of_answer_has_its_budget(void **state)
{
    (void)state;
    for (int op = 0; op < UPSTREAM_OP_MAX_; op++) {
        assert_non_null(upstream_op_name((enum upstream_op)op));
        size_t max = answer_max_bytes((enum upstream_op)op);
        assert_true(max >= 64 * 1024);
        assert_true(max <= (op == UPSTREAM_LIST ? 64U : 8U) * 1024 * 1024);
    }
    struct buffer body CLEANUP_BUFFER;
    buffer_init(&body, 1 << 20);
    (void)buffer_add_str(&body, "[0");
    for (int i = 0; i < 40000; i++)
        (void)buffer_add_str(&body, ",[]");
    (void)buffer_add_str(&body, "]");
    for (int op = 0; op < UPSTREAM_OP_MAX_; op++) {
        const char *why = NULL;
        struct upstream_result result = {0};
        struct answer_about about = {.op = (enum upstream_op)op, .now = NOW};
        if (!generation_v2.endpoints[op].decode)
            continue;
        enum read_end end = answer_read(&generation_v2, &about, body.data, body.len, &result, &why);
        assert_true(end == READ_TOO_MUCH || (end == READ_GARBLED && op == UPSTREAM_CATALOG));
        upstream_result_done(&result);
    }
}

/* ---- kubeconfigs ---- */

static unsigned asked;

/* OpenSSL would ask a person. */
static int ask(UI *ui)
{
    (void)ui;
    asked++;
    return 0;
}

static void an_encrypted_block_in_a_kubeconfig_asks_nobody_B3(void **state)
{
    (void)state;
    static const char pem[] = "-----BEGIN CERTIFICATE-----\nProc-Type: 4,ENCRYPTED\n"
                              "DEK-Info: AES-128-CBC,0123456789ABCDEF0123456789ABCDEF\n\n"
                              "AAAAAAAAAAAAAAAAAAAAAA==\n-----END CERTIFICATE-----\n";
    char data[1024];
    (void)sodium_bin2base64(data, sizeof(data), (const unsigned char *)pem, strlen(pem),
                            sodium_base64_VARIANT_ORIGINAL);
    char *text CLEANUP_FREE = mem_printf(
        "kind: Config\nclusters: []\nusers:\n- name: u\n  user:\n    client-certificate-data: %s\n", data);
    UI_METHOD *method = UI_create_method("test");
    (void)UI_method_set_opener(method, ask);
    UI_set_default_method(method);
    struct upstream_result result = {0};
    assert_true(decode_kubeconfig(NOW, text, strlen(text), &result));
    assert_int_equal(result.expires_at, 0);
    assert_int_equal(asked, 0);
    upstream_result_done(&result);
    UI_set_default_method(UI_OpenSSL());
    UI_destroy_method(method);
}

static void a_kubeconfig_does_not_live_for_ever(void **state)
{
    (void)state;
    static const char text[] =
        "{\"kubeconfig\":\"kind: Config\\nclusters: []\\n\",\"expires_at\":\"9999-01-01T00:00:00Z\"}";
    struct upstream_result result = {0};
    assert_true(decode_kubeconfig(NOW, text, strlen(text), &result));
    assert_int_equal(result.expires_at, 0);
    upstream_result_done(&result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_scan_agrees_with_the_parser),
        cmocka_unit_test(a_scan_refuses_before_anything_is_built),
        cmocka_unit_test(the_items_of_an_array_come_one_by_one),
        cmocka_unit_test(what_the_parser_does_not_take_is_malformed),
        cmocka_unit_test(texts_are_cut_between_characters),
        cmocka_unit_test(a_reason_of_cleura_that_is_cut_in_a_character_is_told),
        cmocka_unit_test(rows_that_cannot_be_are_refused_C2),
        cmocka_unit_test(a_progress_that_is_no_percentage_tells_nothing),
        cmocka_unit_test(cleuras_words_hold_no_controls_D4),
        cmocka_unit_test(what_is_decoded_can_be_stored_and_read_back_C1),
        cmocka_unit_test(only_known_members_are_taken_over),
        cmocka_unit_test(one_bad_row_does_not_take_the_others_along),
        cmocka_unit_test(known_rows_are_not_decoded),
        cmocka_unit_test(a_list_comes_in_parts),
        cmocka_unit_test(each_kind_of_answer_has_its_budget),
        cmocka_unit_test(an_encrypted_block_in_a_kubeconfig_asks_nobody_B3),
        cmocka_unit_test(a_kubeconfig_does_not_live_for_ever),
    };
    if (sodium_init() < 0)
        return 1;
    json_object_seed(1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

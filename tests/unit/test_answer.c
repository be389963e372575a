/* Cleura's answers are read within limits, row by row. The stored part can always be read back. */
#include "tests/support/check.h"

#include <openssl/ui.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buffer.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/timefmt.h"
#include "model/cluster.h"
#include "upstream/wire/driver_private.h"

#define UID "47634427-3aab-437f-98dc-1a7f207e7969"
#define NOW (INT64_C(1790000000) * US_PER_S) /* 2026-09-21 */

/* ---- the scan ---- */

static void a_scan_agrees_with_the_parser(void **state)
{
    static const struct json_limits any = {SIZE_MAX, SIZE_MAX, SIZE_MAX};
    static const char *const rows[] = {
        "{}", "[]", "5", "-0", "-0.5e+7", "1E3", "true", "false", "null", "\"\"", " [ 1 , 2 ] ",
        "{\"a\":{\"b\":[]}}", "[\"\\\"]\"]", "\"\\\\\"", "\"\\u00e9\"", "[[],[{}],{\"a\":[]}]",
        "{\"a\":1,\"a\":2}",
        /* texts that are not JSON */
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

static void text_that_the_parser_refuses_is_malformed(void **state)
{
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

/* RFC 8259 permits numbers of any size, and strings with a single surrogate; the parser does not. */
static void one_odd_value_does_not_make_a_text_bad(void **state)
{
    static const struct json_limits any = {SIZE_MAX, SIZE_MAX, SIZE_MAX};
    static const char *const odd[] = {"18446744073709551615",
                                      "1e400",
                                      "\"\\ud83d\"",
                                      "\"\\u0000\"",
                                      "\"\xff\"",
                                      "\"\x01\"",
                                      "-1e999",
                                      "\"\\q\""};
    enum json_scan_end end;
    for (size_t i = 0; i < ARRAY_LEN(odd); i++) {
        char *text CLEANUP_FREE =
            mem_printf(" {\"a\":[1,%s,{}],\"b\":%s,\"\\ud83d\":1,\"c\":\"x\"} ", odd[i], odd[i]);
        json_t *doc CLEANUP_JSON = json_parse_tolerant(text, strlen(text), &any, &end);
        assert_non_null(doc);
        assert_int_equal(json_object_size(doc), 3);
        assert_int_equal(json_array_size(json_arr(doc, "a")), 3);
        assert_int_equal(json_integer_value(json_array_get(json_arr(doc, "a"), 0)), 1);
        assert_string_equal(json_str(doc, "c"), "x");
        assert_null(json_str(doc, "b"));
        assert_int_equal(json_int(doc, "b", -7), -7);
    }
    assert_null(json_parse_tolerant("{\"a\":1e400", 10, &any, &end));
    assert_int_equal(end, JSON_SCAN_MALFORMED);
}

/* ---- texts that are cut ---- */

static void texts_are_cut_between_characters(void **state)
{
    assert_int_equal(utf8_cut("abc", 5), 3);
    assert_int_equal(utf8_cut("abc", 3), 3);
    assert_int_equal(utf8_cut("abc", 2), 2);
    assert_int_equal(utf8_cut("a\xc3\xa9", 2), 1);
    assert_int_equal(utf8_cut("a\xc3\xa9", 3), 3);
    assert_int_equal(utf8_cut("\xe2\x82\xac\xe2\x82\xac", 5), 3);
    assert_int_equal(utf8_cut("\xf0\x9f\x98\x80", 3), 0);
    assert_int_equal(utf8_cut("", 0), 0);
}

static void a_reason_of_cleura_that_is_cut_in_a_character_is_reported(void **state)
{
    for (size_t pad = 296; pad <= 300; pad++) {
        char *words CLEANUP_FREE = mem_calloc(pad + 10, 1);
        memset(words, 'x', pad);
        memcpy(words + pad, "\xf0\x9f\x98\x80!", 5);
        char *body CLEANUP_FREE = mem_printf("{\"error\":{\"code\":400,\"message\":\"%s\"}}", words);
        char *message CLEANUP_FREE = error_message(body, strlen(body));
        json_t *shown CLEANUP_JSON = json_string(message); /* NULL when the message is no UTF-8 */
        assert_non_null(shown);
        assert_true(strlen(message) >= 296 && strlen(message) <= 300);
    }
}

/* ---- rows ---- */

static const char *const good[2] = {
    "{\"name\":\"dev\",\"uid\":\"" UID
    "\",\"kubernetes\":{\"version\":\"1.33.7\"},\"shoot_provider\":{\"workers\":"
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
    "{\"metadata\":{\"name\":\"dev\",\"uid\":\"" UID "\"},\"spec\":{\"kubernetes\":{\"version\":\"1.33.7\"},"
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

static json_t *odd_value(const char *text)
{
    static const struct json_limits any = {SIZE_MAX, SIZE_MAX, SIZE_MAX};
    enum json_scan_end end;
    json_t *value = json_parse_tolerant(text, strlen(text), &any, &end);
    assert_non_null(value);
    return value;
}

/* Makes a good row in which the member at `path` (names separated by dots; numbers are indices) has the value
 * `value`. When `value` is NULL, the member is deleted. */
static json_t *row_with(int driver, const char *path, const char *value)
{
    json_t *row = json_loads(good[driver], 0, NULL), *at = row;
    char *copy CLEANUP_FREE = mem_strdup(path);
    char *rest = copy, *name = strsep(&rest, ".");
    for (; rest; name = strsep(&rest, "."))
        at = json_is_array(at) ? json_array_get(at, strtoul(name, NULL, 10)) : json_object_get(at, name);
    if (!value)
        (void)json_object_del(at, name);
    else if (json_is_array(at))
        (void)json_array_set_new(at, strtoul(name, NULL, 10), odd_value(value));
    else
        (void)json_object_set_new(at, name, odd_value(value));
    return row;
}

static struct shoot *decode(int driver, const json_t *row, const char **ret_fault)
{
    struct decoding d = {.now = NOW};
    struct shoot *s = decoders[driver](&d, row);
    *ret_fault = d.fault;
    return s;
}

static void names_that_cannot_be_are_refused_C2(void **state)
{
    static char long_word[400] = "\"";
    memset(long_word + 1, 'a', 300);
    long_word[301] = '"';
    static const char *const paths[2] = {"name", "metadata.name"};
    const char *const values[] = {NULL,         "null",      "\"\"",    "7", "\"../../etc\"",
                                  "\"x/y?z#\"", "\"Upper\"", long_word, "{}"};
    for (size_t i = 0; i < ARRAY_LEN(values); i++) {
        for (int g = 0; g < 2; g++) {
            const char *fault;
            json_t *row CLEANUP_JSON = row_with(g, paths[g], values[i]);
            assert_null(decode(g, row, &fault));
            assert_non_null(fault);
        }
    }
}

/* A row without a readable uid may be another shoot. */
static void uids_that_cannot_be_read_are_refused(void **state)
{
    static const char *const paths[2] = {"uid", "metadata.uid"};
    static const struct {
        const char *value;
        bool refused;
    } rows[] = {{NULL, false},   {"null", false},        {"\"\"", false},
                {"7", true},     {"{}", true},           {"\"\\ud83d\"", true},
                {"\"u\"", true}, {"\"" UID "0\"", true}, {"\"" UID "\"", false}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        for (int g = 0; g < 2; g++) {
            const char *fault;
            json_t *row CLEANUP_JSON = row_with(g, paths[g], rows[i].value);
            struct shoot *s = decode(g, row, &fault);
            assert_int_equal(s == NULL, rows[i].refused);
            assert_int_equal(fault != NULL, rows[i].refused);
            shoot_free(s);
        }
    }
}

/* Reads a row with `value` in place of a member. Returns in *ret how many members cannot be read, and the
 * first of them. */
static struct shoot *decode_told(int driver, const char *path, const char *value, struct unread *ret)
{
    struct decoding d = {.now = NOW};
    json_t *row CLEANUP_JSON = row_with(driver, path, value);
    struct shoot *s = decoders[driver](&d, row);
    assert_null(d.fault);
    assert_non_null(s);
    decode_report_unread(&d, row, ret);
    return s;
}

/* Returns one text with all data on which a decision may depend, from `observed` or from the struct. */
static char *told_by(const struct shoot *s)
{
    const json_t *observed = shoot_observed(s);
    json_t *words CLEANUP_JSON = json_pack(
        "{sO sO sO sO}", "version", json_object_get(observed, "kubernetes_version"), "pools",
        json_object_get(observed, "node_pools"), "ha", json_object_get(observed, "high_availability"),
        "cidrs", json_object_get(observed, "allowed_cidrs"));
    char *text CLEANUP_FREE = json_text(words);
    return mem_printf("%s %s %s %d %lld %s%s %s", text, s->operation_type ? s->operation_type : "?",
                      s->operation_state ? s->operation_state : "?", s->progress, (long long)s->operation_at,
                      s->hibernated ? "asleep" : "awake", s->hibernated_unknown ? "?" : "",
                      s->conditions ? s->conditions->text : "?");
}

/* Each member is read separately. A member that cannot be read is unknown and named by its path. The other
 * members do not change. */
static void unreadable_members_are_unknown(void **state)
{
    static const struct {
        const char *paths[2], *value, *stated; /* stated: a part of the result that shows the unreadable
                                                * value; had: the same part for a good row */
        const char *had;
    } rows[] = {
        {{"generation", "metadata.generation"}, "18446744073709551615", NULL, NULL}, /* not read */
        {{"kubernetes.version", "spec.kubernetes.version"},
         "133",
         "\"version\":null",
         "\"version\":\"1.33.7\""},
        {{"kubernetes", "spec.kubernetes"}, "[]", "\"version\":null", "\"version\":\"1.33.7\""},
        {{"shoot_provider.workers.0.name", "spec.provider.workers.0.name"},
         "\"../x\"",
         "\"name\":null",
         "\"name\":\"wg\""},
        {{"shoot_provider.workers.0.minimum", "spec.provider.workers.0.minimum"},
         "-1",
         "\"minimum\":null",
         "\"minimum\":1"},
        {{"shoot_provider.workers.0.maximum", "spec.provider.workers.0.maximum"},
         "10000000007",
         "\"maximum\":null",
         "\"maximum\":3"},
        {{"shoot_provider.workers.0.max_surge", "spec.provider.workers.0.maxSurge"},
         "\"25%\"",
         "\"max_surge\":null",
         "\"max_surge\":1"},
        {{"shoot_provider.workers.0.zones", "spec.provider.workers.0.zones"},
         "[\"nova\",5]",
         "\"zones\":null",
         "\"zones\":[\"nova\"]"},
        {{"shoot_provider.workers.0.labels", "spec.provider.workers.0.labels"},
         "{\"a\":\"b\",\"c\":7}",
         "\"labels\":null",
         "\"labels\":{\"a\":\"b\"}"},
        {{"last_operation.state", "status.lastOperation.state"}, "5", "Create ? 43", "Create Processing 43"},
        {{"last_operation.type", "status.lastOperation.type"}, "[]", "? Processing", "Create Processing"},
        {{"last_operation.progress", "status.lastOperation.progress"},
         "101",
         "Processing -1",
         "Processing 43"},
        {{"status.is_hibernated", "status.hibernated"}, "\"no\"", "awake?", "awake"},
        {{"status.conditions", "status.conditions"}, "{}", " ?", NULL},
        {{"status.conditions.0.status", "status.conditions.0.status"},
         "true",
         "\"status\":null",
         "\"status\":\"True\""},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        for (int g = 0; g < 2; g++) {
            struct unread none, unread;
            struct shoot *before = decode_told(g, rows[i].paths[g], "null", &none), *s;
            shoot_free(before);
            assert_int_equal(none.count, 0); /* null has the same meaning as absent */
            json_t *as_it_was CLEANUP_JSON = json_loads(good[g], 0, NULL);
            const char *fault;
            before = decode(g, as_it_was, &fault);
            s = decode_told(g, rows[i].paths[g], rows[i].value, &unread);
            char *was CLEANUP_FREE = told_by(before), *is CLEANUP_FREE = told_by(s);
            assert_int_equal(unread.count, rows[i].stated ? 1 : 0);
            if (rows[i].stated && !strstr(is, rows[i].stated))
                fail_msg("%s = %s: %s", rows[i].paths[g], rows[i].value, is);
            if (rows[i].had) { /* apart from this part, both results are equal */
                const char *at = strstr(is, rows[i].stated);
                char *again CLEANUP_FREE =
                    mem_printf("%.*s%s%s", (int)(at - is), is, rows[i].had, at + strlen(rows[i].stated));
                assert_string_equal(again, was);
            }
            if (!rows[i].stated)
                assert_string_equal(is, was);
            shoot_free(before);
            shoot_free(s);
        }
    }
}

static void it_is_named_by_its_path(void **state)
{
    static const struct {
        const char *path, *value, *stated;
    } rows[] = {
        {"shoot_provider.workers.0.max_surge", "\"25%\"", "/shoot_provider/workers/0/max_surge"},
        {"shoot_provider.workers.0", "7", "/shoot_provider/workers/0"},
        {"last_operation", "\"Succeeded\"", "/last_operation"},
        {"last_operation.last_update_time", "\"0001-01-01T00:00:00Z\"", "/last_operation/last_update_time"},
        {"last_operation.last_update_time", "\"2026-03-01T12:05:00\"", "/last_operation/last_update_time"},
        {"last_operation.last_update_time", "\"9999-12-31T23:59:59Z\"", "/last_operation/last_update_time"},
        {"status", "[]", "/status"},
        {"shoot_provider", "1e300", "/shoot_provider"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct unread unread;
        struct shoot *s = decode_told(0, rows[i].path, rows[i].value, &unread);
        assert_int_equal(unread.count, 1);
        assert_string_equal(unread.paths[0], rows[i].stated);
        shoot_free(s);
    }
}

/* When a member of a pool cannot be read, a change of the pool does not send the member. Cleura then keeps
 * the present value. */
static void unknown_values_are_not_sent(void **state)
{
    static const char *const paths[2] = {"shoot_provider.workers.0", "spec.provider.workers.0"};
    json_t *(*const encoders[2])(const struct upstream_call *) = {encode_pool_v2, encode_pool_v1};
    for (int g = 0; g < 2; g++) {
        struct unread unread;
        struct shoot *s = decode_told(
            g, paths[g],
            "{\"name\":\"wg\",\"minimum\":2,\"maximum\":\"x\",\"max_surge\":\"25%\",\"maxSurge\":\"25%\","
            "\"volume\":{\"size\":\"huge\"},\"zones\":5,\"labels\":[7],\"annotations\":{},\"taints\":[7]}",
            &unread);
        const struct upstream_call call = {
            .op = UPSTREAM_POOL_UPDATE, .body = json_array_get(json_arr(shoot_observed(s), "node_pools"), 0)};
        json_t *sent CLEANUP_JSON = encoders[g](&call);
        char *text CLEANUP_FREE = json_canonical(g ? json_obj(sent, "worker") : sent);
        assert_string_equal(text, "{\"annotations\":[],\"minimum\":2,\"name\":\"wg\"}");
        shoot_free(s);
    }
}

/* Cleura adds defaults for the missing members of a machine. An existing pool would get these defaults. */
static void a_machine_is_sent_whole_or_not_at_all(void **state)
{
    static const struct {
        const char *pool;
        bool sent;
    } rows[] = {
        {"{'name':'a','machine_type':'t','image':{'name':'i','version':'1'}}", true},
        {"{'name':'a','machine_type':null,'image':{'name':'i','version':'1'}}", false},
        {"{'name':'a','machine_type':'t','image':{'name':'i','version':null}}", false},
        {"{'name':'a','machine_type':'t'}", false},
        {"{'name':'a'}", false},
    };
    json_t *(*const encoders[2])(const struct upstream_call *) = {encode_pool_v2, encode_pool_v1};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        for (int g = 0; g < 2; g++) {
            char *text CLEANUP_FREE = mem_strdup(rows[i].pool);
            for (char *c = text; *c; c++)
                *c = *c == '\'' ? '"' : *c;
            json_t *pool CLEANUP_JSON = odd_value(text);
            const struct upstream_call update = {.op = UPSTREAM_POOL_UPDATE, .body = pool},
                                       create = {.op = UPSTREAM_POOL_CREATE, .body = pool};
            json_t *changed CLEANUP_JSON = encoders[g](&update), *made CLEANUP_JSON = encoders[g](&create);
            const json_t *to = g ? json_obj(changed, "worker") : changed,
                         *of = g ? json_obj(made, "worker") : made;
            assert_int_equal(json_obj(to, "machine") != NULL, rows[i].sent);
            assert_non_null(json_obj(of, "machine"));
        }
    }
}

/* Returns the CPU time of this thread in seconds. */
static double cpu_s(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* The path of a skipped member is not written, because its name may be as long as the answer. */
static void a_path_is_found_in_linear_time(void **state)
{
    enum { LONG_NAME = 1000000, PASSED = 19000 };
    char *name CLEANUP_FREE = mem_calloc(LONG_NAME + 1, 1);
    memset(name, 'k', LONG_NAME);
    json_t *passed = json_array(), *doc CLEANUP_JSON = json_object();
    for (int i = 0; i < PASSED; i++)
        json_append_take(passed, json_object());
    json_set_take(doc, name, passed);
    json_set_take(doc, "last", json_pack("[{}{si}]", "number", 7));
    const json_t *last = json_array_get(json_arr(doc, "last"), 1);
    struct decoding d = {.now = NOW};
    struct unread unread;
    for (int i = 0; i < UNREAD_TOLD; i++)
        decode_note(&d, last, "number");
    double begin = cpu_s();
    decode_report_unread(&d, doc, &unread);
    assert_true(cpu_s() - begin < 1.0); /* this took minutes when the path of every member was written */
    for (int i = 0; i < UNREAD_TOLD; i++)
        assert_string_equal(unread.paths[i], "/last/1/number");
}

static void a_progress_that_is_no_percentage_says_nothing(void **state)
{
    static const struct {
        const char *stated;
        int shown;
    } rows[] = {{"-5", SHOOT_PROGRESS_UNKNOWN},
                {"10000000007", SHOOT_PROGRESS_UNKNOWN},
                {"101", SHOOT_PROGRESS_UNKNOWN},
                {"null", SHOOT_PROGRESS_UNKNOWN},
                {"100", 100},
                {"0", 0},
                {"\"43\"", 43}};
    static const char *const paths[2] = {"last_operation.progress", "status.lastOperation.progress"};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        for (int g = 0; g < 2; g++) {
            const char *fault;
            json_t *row CLEANUP_JSON = row_with(g, paths[g], rows[i].stated);
            struct shoot *s = decode(g, row, &fault);
            assert_non_null(s);
            assert_int_equal(s->progress, rows[i].shown);
            shoot_free(s);
        }
    }
}

/* ---- answers that are not shoots ---- */

static json_t *document_of(enum upstream_op op, const char *body, struct unread *ret_unread)
{
    const struct answer_about about = {
        .op = op, .region = (char[]){"Sto2"}, .item = (char[]){"1.34.3"}, .now = NOW};
    struct upstream_result result = {0};
    const char *why;
    enum read_end end = answer_read(&driver_v2, &about, body, strlen(body), &result, &why);
    json_t *copy = end == READ_OK ? json_deep_copy(result.catalog ? result.catalog : result.document) : NULL;
    *ret_unread = result.unread;
    upstream_result_done(&result);
    return copy;
}

/* An unknown result of a check means that the check continues. Its text is shown. */
static void outcomes_of_upgrade_checks_have_a_table(void **state)
{
    static const char *const rows[][3] = {{"\"Success\"", "\"success\"", "\"Success\""},
                                          {"\"ready\"", "\"ready\"", "\"ready\""},
                                          {"\"not_ready\"", "\"not_ready\"", "\"not_ready\""},
                                          {"\"pending\"", "\"pending\"", "\"pending\""},
                                          {"\"Postponed\"", "\"pending\"", "\"Postponed\""},
                                          {"18446744073709551615", "null", "null"},
                                          {"null", "null", "null"}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct unread unread;
        char *body CLEANUP_FREE =
            mem_printf("{\"outcome\":%s,\"details\":[\"d\"],\"upgrade_notes\":\"n\"}", rows[i][0]);
        char *expected CLEANUP_FREE = mem_printf(
            "{\"version\":\"1.34.3\",\"outcome\":%s,\"word\":%s,\"details\":[\"d\"],\"notes\":\"n\"}",
            rows[i][1], rows[i][2]);
        json_t *doc CLEANUP_JSON = document_of(UPSTREAM_UPGRADE_CHECK, body, &unread);
        char *text CLEANUP_FREE = json_text(doc);
        assert_string_equal(text, expected);
        assert_int_equal(unread.count, rows[i][0][0] == '1');
    }
}

static void a_token_with_odd_characters_is_none(void **state)
{
    static const struct {
        const char *body;
        enum login_result result;
    } rows[] = {
        {"{\"result\":\"login_ok\",\"token\":\"t\",\"user\":{\"id\":18446744073709551615,\"name\":"
         "\"\\ud83d\"}}",
         LOGIN_RESULT_TOKEN},
        {"{\"token\":\"t\",\"result\":null}", LOGIN_RESULT_TOKEN},
        {"{\"token\":\"t\\r\\nX: y\"}", LOGIN_RESULT_GARBLED},
        {"{\"token\":\"\\ud83d\"}", LOGIN_RESULT_GARBLED},
        {"{\"token\":\"\"}", LOGIN_RESULT_GARBLED},
        {"{\"token\":7}", LOGIN_RESULT_GARBLED},
        {"{\"token\":null}", LOGIN_RESULT_GARBLED},
        {"{}", LOGIN_RESULT_GARBLED},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct login_answer answer;
        decode_login(rows[i].body, strlen(rows[i].body), &answer);
        assert_int_equal(answer.result, rows[i].result);
        login_answer_done(&answer);
    }
}

/* Control characters of both sets, and marks that change the direction of text, become spaces in every shown
 * text. */
static void cleuras_words_hold_no_controls_D4(void **state)
{
    static const char stated[] = "\"a\\u001b[2J\\u009b1m \\u202eb\\u2028c \\u00fc\"",
                      shown[] = "a [2J 1m  b c \xc3\xbc";
    const char *fault;
    json_t *row CLEANUP_JSON = row_with(0, "last_operation.description", stated);
    json_t *status = json_object_get(row, "status");
    json_t *text CLEANUP_JSON = json_loads(stated, JSON_DECODE_ANY, NULL);
    (void)json_object_set(json_array_get(json_object_get(status, "conditions"), 0), "message", text);
    (void)json_object_set(json_array_get(json_object_get(status, "last_errors"), 0), "description", text);
    struct shoot *s = decode(0, row, &fault);
    assert_non_null(s);
    assert_string_equal(s->description, shown);
    assert_string_equal(json_str(json_array_get(json_doc_tree(s->conditions), 0), "message"), shown);
    assert_string_equal(json_str(json_array_get(json_doc_tree(s->last_errors), 0), "description"), shown);
    shoot_free(s);
    char *body CLEANUP_FREE = mem_printf("{\"error\":{\"code\":400,\"message\":%s}}", stated);
    char *message CLEANUP_FREE = error_message(body, strlen(body));
    assert_string_equal(message, shown);
}

/* Checks that a decoded shoot that is stored and loaded is equal to the original. */
static void assert_round_trip(int driver, const json_t *row)
{
    const char *fault;
    struct shoot *s = decode(driver, row, &fault);
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

/* Replaces each member with `value`, one after the other. */
static void replace_everywhere(int driver, const json_t *row, json_t *at, json_t *value)
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
        assert_round_trip(driver, row);
        (void)json_object_set_new(at, name, kept);
        replace_everywhere(driver, row, kept, value);
    }
    json_array_foreach (at, i, inner) {
        json_t *kept = json_incref(inner);
        (void)json_array_set(at, i, value);
        assert_round_trip(driver, row);
        (void)json_array_set_new(at, i, kept);
        replace_everywhere(driver, row, kept, value);
    }
}

static void decoded_values_can_be_stored_and_read_back_C1(void **state)
{
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

/* Servers in Go write an empty list as null. */
static void null_is_an_empty_list(void **state)
{
    static const char *const rows_of[] = {"null", " null\n", "[]"};
    for (size_t i = 0; i < ARRAY_LEN(rows_of); i++) {
        const char *why;
        struct json_items rows;
        struct list_part part;
        assert_int_equal(list_begin(&rows, rows_of[i], strlen(rows_of[i]), &why), READ_OK);
        assert_false(list_next(&driver_v2, NOW, &rows, NULL, &part));
    }
    static const enum upstream_op lists[] = {UPSTREAM_NODES, UPSTREAM_OWN_PROJECTS};
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        struct answer_about about = {.op = lists[i], .now = NOW};
        struct upstream_result result = {0};
        const char *why = NULL;
        assert_int_equal(answer_read(&driver_v2, &about, "null", 4, &result, &why), READ_OK);
        assert_int_equal(json_array_size(result.document), 0);
        assert_true(json_is_array(result.document));
        upstream_result_done(&result);
    }
}

static void one_bad_row_does_not_take_the_others_along(void **state)
{
    char *body CLEANUP_FREE =
        mem_printf("[%s,{\"name\":\"A B\"},5,{\"name\":\"\xff\"},%s]", good[0], good[0]);
    const char *why;
    struct json_items rows;
    struct list_part part;
    assert_int_equal(list_begin(&rows, body, strlen(body), &why), READ_OK);
    assert_true(list_next(&driver_v2, NOW, &rows, NULL, &part));
    assert_int_equal(part.shoot_count, 2);
    assert_int_equal(part.refused_count, 3);
    assert_string_equal(part.refused[0].name, "A B");
    list_part_done(&part);
    assert_false(list_next(&driver_v2, NOW, &rows, NULL, &part));
}

/* A row with the same bytes as an earlier row is only reported as known. */
static void known_rows_are_not_decoded(void **state)
{
    char *other CLEANUP_FREE = mem_strdup(good[0]);
    char *body CLEANUP_FREE = NULL;
    const char *why;
    struct json_items rows;
    struct list_part part;
    other[strlen(other) - 1] = ' '; /* the same shoot in other bytes: with a space before the last brace */
    body = mem_printf("[%s, %s}]", good[0], other);
    assert_int_equal(list_begin(&rows, body, strlen(body), &why), READ_OK);
    assert_true(list_next(&driver_v2, NOW, &rows, NULL, &part));
    assert_int_equal(part.shoot_count, 2);
    assert_memory_not_equal(part.shoots[0]->row, part.shoots[1]->row, ROW_DIGEST_BYTES);
    struct known_rows *known = known_rows_new(3);
    uint8_t like_it[ROW_DIGEST_BYTES]; /* a digest with the same slot in the table of known rows */
    memcpy(like_it, part.shoots[0]->row, sizeof(like_it));
    like_it[ROW_DIGEST_BYTES - 1] ^= 1;
    known_rows_add(known, like_it, "another");
    known_rows_add(known, part.shoots[0]->row, part.shoots[0]->name);
    known_rows_add(known, part.shoots[1]->row,
                   "a-name-that-is-longer-than-the-sixty-three-bytes-which-a-row-has-room-for");
    list_part_done(&part);
    assert_int_equal(list_begin(&rows, body, strlen(body), &why), READ_OK);
    assert_true(list_next(&driver_v2, NOW, &rows, known, &part));
    assert_int_equal(part.shoot_count, 1);
    assert_int_equal(part.known_count, 1);
    assert_string_equal(part.known[0]->name, part.shoots[0]->name);
    list_part_done(&part);
    free(known);
}

static void a_list_comes_in_parts(void **state)
{
    struct buffer body CLEANUP_BUFFER;
    buffer_init(&body, 1 << 20);
    for (int i = 0; i < 2 * LIST_PART_ROWS + 1; i++)
        buffer_printf(&body, "%s%s", i ? "," : "[", good[0]);
    buffer_add_str(&body, "]");
    const char *why;
    struct json_items rows;
    struct list_part part;
    size_t parts = 0, found = 0;
    assert_int_equal(list_begin(&rows, body.data, body.len, &why), READ_OK);
    for (; list_next(&driver_v2, NOW, &rows, NULL, &part); parts++) {
        found += part.shoot_count;
        list_part_done(&part);
    }
    assert_int_equal(parts, 3);
    assert_int_equal(found, 2 * LIST_PART_ROWS + 1);
    /* The list is cut at its end, so no part is returned. */
    assert_int_equal(list_begin(&rows, body.data, body.len - 1, &why), READ_GARBLED);
    assert_int_equal(list_begin(&rows, "{}", 2, &why), READ_GARBLED);
}

static void each_kind_of_answer_has_its_budget(void **state)
{
    for (int op = 0; op < UPSTREAM_OP_MAX_; op++) {
        assert_non_null(upstream_op_name((enum upstream_op)op));
        size_t max = call_limits((enum upstream_op)op)->bytes;
        assert_true(max >= 64 * 1024);
        assert_true(max <= (op == UPSTREAM_LIST ? 64U : 8U) * 1024 * 1024);
    }
    struct buffer body CLEANUP_BUFFER;
    buffer_init(&body, 1 << 20);
    buffer_add_str(&body, "[0");
    for (int i = 0; i < 40000; i++)
        buffer_add_str(&body, ",[]");
    buffer_add_str(&body, "]");
    for (int op = 0; op < UPSTREAM_OP_MAX_; op++) {
        const char *why = NULL;
        struct upstream_result result = {0};
        struct answer_about about = {.op = (enum upstream_op)op, .now = NOW};
        if (!call_endpoint(&driver_v2, (enum upstream_op)op, 0)->decode)
            continue;
        enum read_end end = answer_read(&driver_v2, &about, body.data, body.len, &result, &why);
        assert_true(end == READ_TOO_MUCH || (end == READ_GARBLED && op == UPSTREAM_CATALOG));
        upstream_result_done(&result);
    }
}

/* ---- kubeconfigs ---- */

static unsigned asked;

/* OpenSSL calls this function when it asks a person for a pass phrase. */
static int ask(UI *ui)
{
    asked++;
    return 0;
}

static void an_encrypted_block_in_a_kubeconfig_asks_nobody_B3(void **state)
{
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
        cmocka_unit_test(text_that_the_parser_refuses_is_malformed),
        cmocka_unit_test(one_odd_value_does_not_make_a_text_bad),
        cmocka_unit_test(texts_are_cut_between_characters),
        cmocka_unit_test(a_reason_of_cleura_that_is_cut_in_a_character_is_reported),
        cmocka_unit_test(names_that_cannot_be_are_refused_C2),
        cmocka_unit_test(uids_that_cannot_be_read_are_refused),
        cmocka_unit_test(unreadable_members_are_unknown),
        cmocka_unit_test(it_is_named_by_its_path),
        cmocka_unit_test(unknown_values_are_not_sent),
        cmocka_unit_test(a_machine_is_sent_whole_or_not_at_all),
        cmocka_unit_test(a_path_is_found_in_linear_time),
        cmocka_unit_test(outcomes_of_upgrade_checks_have_a_table),
        cmocka_unit_test(a_token_with_odd_characters_is_none),
        cmocka_unit_test(a_progress_that_is_no_percentage_says_nothing),
        cmocka_unit_test(cleuras_words_hold_no_controls_D4),
        cmocka_unit_test(decoded_values_can_be_stored_and_read_back_C1),
        cmocka_unit_test(only_known_members_are_taken_over),
        cmocka_unit_test(null_is_an_empty_list),
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

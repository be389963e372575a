/* base/ and view/: the parts that all other folders use. */
#include "tests/support/check.h"

#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/assertion.h"
#include "base/buffer.h"
#include "base/cidr.h"
#include "base/epoch.h"
#include "base/heap.h"
#include "base/ids.h"
#include "base/json.h"
#include "base/json_doc.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/metric.h"
#include "base/near_word.h"
#include "base/seal_key.h"
#include "base/settled_clock.h"
#include "base/text.h"
#include "base/thread.h"
#include "base/timefmt.h"
#include "model/problem.h"
#include "tests/support/virtual.h"
#include "view/view.h"

static void buffer_refuses_past_its_maximum(void **state)
{
    struct buffer b;
    buffer_init(&b, 10);
    buffer_add_str(&b, "12345");
    buffer_add_str(&b, "67890");
    assert_false(b.overflow);
    buffer_add_str(&b, "x");
    assert_true(b.overflow);
    assert_string_equal(b.data, "1234567890");
    buffer_done(&b);
}

static void heap_orders_moves_and_removes(void **state)
{
    struct virtual_world w;
    virtual_init(&w, 7);
    struct heap h = {0};
    struct heap_item items[500] = {0};
    for (size_t i = 0; i < ARRAY_LEN(items); i++)
        heap_set(&h, &items[i], (int64_t)env_random_below(&w.env, 100));
    for (size_t i = 0; i < ARRAY_LEN(items); i += 3)
        heap_set(&h, &items[i], (int64_t)env_random_below(&w.env, 100));
    for (size_t i = 0; i < ARRAY_LEN(items); i += 5)
        heap_remove(&h, &items[i]);
    int64_t last = INT64_MIN;
    size_t count = 0;
    uint64_t last_order = 0;
    for (struct heap_item *item = heap_peek(&h); item; item = heap_peek(&h)) {
        assert_true(item->key > last || (item->key == last && item->order > last_order));
        last = item->key;
        last_order = item->order;
        heap_remove(&h, item);
        assert_false(heap_contains(item));
        count++;
    }
    assert_int_equal(count, 400);
    heap_done(&h);
}

static void dates_round_trip(void **state)
{
    static const struct {
        const char *text;
        int64_t seconds;
    } rows[] = {{"2026-03-01T12:05:00Z", 1772366700},  {"1970-01-01T00:00:00Z", 0},
                {"2038-01-19T03:14:08Z", 2147483648},  {"2026-03-01T14:05:00+02:00", 1772366700},
                {"2026-03-01t12:05:00z", 1772366700},  {"2028-02-29T00:00:00Z", 1835395200},
                {"2026-03-01T12:05:00.5Z", 1772366700}};
    char text[TIME_TEXT_BYTES];
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        wall_us at;
        assert_true(time_parse_rfc3339(rows[i].text, &at));
        assert_int_equal(at / US_PER_S, rows[i].seconds);
    }
    assert_string_equal(time_rfc3339(1772366700 * US_PER_S, true, text), "2026-03-01T12:05:00Z");
    assert_string_equal(time_rfc3339(1772366700 * US_PER_S + 120, true, text), "2026-03-01T12:05:00.000120Z");
    struct time_text last = {0};
    assert_string_equal(time_text(&last, 0), "1970-01-01T00:00:00Z");
    static const wall_us moments[] = {1772366700 * US_PER_S + 120,
                                      1772366700 * US_PER_S + 999999,
                                      1772366700 * US_PER_S,
                                      1772366701 * US_PER_S + 1,
                                      -1,
                                      -US_PER_S};
    for (size_t i = 0; i < ARRAY_LEN(moments); i++)
        assert_string_equal(time_text(&last, moments[i]), time_rfc3339(moments[i], true, text));
    (void)time_text(&last, 1772366700 * US_PER_S);
    last.text[0] = '?'; /* the text up to the second is used again */
    assert_string_equal(time_text(&last, 1772366700 * US_PER_S + 120), "?026-03-01T12:05:00.000120Z");
    assert_string_equal(time_http(784111777 * US_PER_S, text), "Sun, 06 Nov 1994 08:49:37 GMT");
    static const char *const bad[] = {"",
                                      "2026-03-01",
                                      "2026-03-01T12:05:00",
                                      "2026-03-01T12:05:00Zx",
                                      "yesterday",
                                      "2026-02-30T00:00:00Z",
                                      "2026-02-29t00:00:00Z",
                                      "2026-04-31 00:00:00Z",
                                      "2026-02-30T23:00:00+02:00"};
    wall_us at;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_false(time_parse_rfc3339(bad[i], &at));
    assert_false(time_parse_http("Mon, 30 Feb 2026 00:00:00 GMT", &at));
}

static void http_dates_in_all_three_forms_HT(void **state)
{
    static const char *const forms[] = {"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
                                        "Sun Nov  6 08:49:37 1994"};
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        wall_us at;
        assert_true(time_parse_http(forms[i], &at));
        assert_int_equal(at, 784111777 * US_PER_S);
    }
}

static void retry_after_is_clamped_UP_14(void **state)
{
    wall_us now = 784111777 * US_PER_S;
    assert_int_equal(time_parse_retry_after("30", now, 300), 30);
    assert_int_equal(time_parse_retry_after("0", now, 300), 0);
    assert_int_equal(time_parse_retry_after("99999999999999999999", now, 300), 300);
    assert_int_equal(time_parse_retry_after("Sun, 06 Nov 1994 08:49:47 GMT", now, 300), 10);
    assert_int_equal(time_parse_retry_after("Sun, 06 Nov 1994 08:49:27 GMT", now, 300), 0);
    assert_int_equal(time_parse_retry_after("soon", now, 300), -1);
    assert_int_equal(time_parse_retry_after("-5", now, 300), -1);
}

static void retry_after_is_taken_as_it_is_meant_UP_14(void **state)
{
    static const struct {
        const char *text;
        int seconds;
    } rows[] = {
        {"5.5", 6},
        {"5.0", 5},
        {"5.", 5},
        {"5.001", 6},
        {"5.0009", 6},
        {"0.5", 1},
        {"0.0", 0},
        {"60, 60", 60},
        {"60,90", 60},
        {"5;x", 5},
        {"5 (seconds)", 5},
        {"5s", 5},
        {"007", 7},
        {"5.5, 7", 6},
        {"5.x", 5},
        {"299.9", 300},
        {"300.5", 300},
        {"1234567890.5", 300},
        {"", -1},
        {".5", -1},
        {"+5", -1},
        {"\"5\"", -1},
        {"x5", -1},
        {"Sun, 06 Nov", -1},
        {"1994-11-06T08:49:47Z", 10},
        {"1994-11-06T09:49:47.5+01:00", 11},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int64_t seconds = time_parse_retry_after(rows[i].text, 784111777 * US_PER_S, 300);
        if (seconds != rows[i].seconds)
            fail_msg("'%s': %d", rows[i].text, (int)seconds);
    }
}

static void strict_json_rejects(void **state)
{
    static const char *const bad[] = {"",
                                      "5",
                                      "\"x\"",
                                      "{\"a\":1,\"a\":2}",
                                      "{\"a\":1} x",
                                      "{\"a\":\"\\u0000\"}",
                                      "\xef\xbb\xbf{}",
                                      "{\"a\":1e999}",
                                      "{\"a\":\"\xff\"}",
                                      "{"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct json_fault fault;
        assert_null(json_parse_strict(bad[i], strlen(bad[i]), &fault));
        assert_true(fault.text[0]);
    }
    char deep[200];
    memset(deep, '[', 65);
    memset(deep + 65, ']', 65);
    assert_null(json_parse_strict(deep, 130, NULL));
    json_t *ok CLEANUP_JSON = json_parse_strict(deep + 1, 128, NULL);
    assert_non_null(ok);
    static const char brackets[] = "{\"a\":\"[[[\\\"[[\"}";
    json_t *text CLEANUP_JSON = json_parse_strict(brackets, strlen(brackets), NULL);
    assert_non_null(text);
}

static void json_fault_never_quotes_the_input(void **state)
{
    struct json_fault fault;
    assert_null(json_parse_strict("{\"password\": canary}", 20, &fault));
    assert_null(strstr(fault.text, "canary"));
    assert_int_equal(fault.line, 1);
}

static void whole_numbers_are_integers(void **state)
{
    static const char bytes[] =
        "{\"a\":3.0,\"b\":[{\"c\":-2e2},1.5,0.0],\"d\":1e300,\"e\":9007199254740993.0}";
    json_t *doc CLEANUP_JSON = json_parse_strict(bytes, strlen(bytes), NULL);
    char *text CLEANUP_FREE = json_text(json_object_get(doc, "b"));
    assert_string_equal(text, "[{\"c\":-200},1.5,0]");
    assert_true(json_is_integer(json_object_get(doc, "a")) && json_is_real(json_object_get(doc, "d")));
    assert_int_equal(json_integer_value(json_object_get(doc, "a")), 3);
}

static void text_is_what_jansson_writes(void **state)
{
    static const char bytes[] =
        "{\"\":[],\"k\\n\\\"\\\\/"
        "\\u0001\\u001f\\b\\f\\r\\t\\u007f\":{\"\\u00e5\\u20ac\\ud83d\\ude00\":[null,true,"
        "false,0,-9223372036854775808,9223372036854775807,0.1,1.5,-0.0,1e300,5e-324,{}]},"
        "\"plain\":\"run of text\",\"ends\":\"in a quote\\\"\"}";
    json_t *doc CLEANUP_JSON = json_parse_strict(bytes, strlen(bytes), NULL);
    assert_non_null(doc);
    for (unsigned i = 0; i < 3; i++) {
        const json_t *const values[] = {doc, json_object_get(doc, "plain"), json_object_get(doc, "")};
        char *ours CLEANUP_FREE = json_text(values[i]);
        char *jansson CLEANUP_FREE = json_dumps(values[i], JSON_COMPACT | JSON_ENCODE_ANY);
        assert_string_equal(ours, jansson);
        char *our_sorted CLEANUP_FREE = json_canonical(values[i]);
        char *sorted CLEANUP_FREE = json_dumps(values[i], JSON_COMPACT | JSON_ENCODE_ANY | JSON_SORT_KEYS);
        assert_string_equal(our_sorted, sorted);
    }
}

/* Tests each character at each place of a text, also before a character of two bytes and before an escape. */
static void each_character_is_written_as_by_jansson(void **state)
{
    enum { BYTES = 19 };
    for (unsigned c = 0; c < 0x80; c++)
        for (size_t at = 0; at < BYTES; at++)
            for (unsigned next = 0; next < (at + 3 < BYTES ? 2U : 1U); next++) {
                char text[BYTES];
                memset(text, 'x', sizeof(text));
                text[at] = (char)c;
                if (next)
                    memcpy(text + at + 1, "\xc3\xa5\"", 3);
                json_t *value CLEANUP_JSON = json_stringn(text, sizeof(text));
                assert_non_null(value);
                char *ours CLEANUP_FREE = json_text(value);
                char *jansson CLEANUP_FREE = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
                assert_string_equal(ours, jansson);
            }
}

/* Whether an object and its members follow each other with the right commas, also in arrays. */
static void members_make_the_text_of_the_tree(void **state)
{
    static const char expected[] =
        "{\"items\":[{\"a\":\"}\",\"none\":[]},{},{\"b\":{\"c\":-1}}],\"no\":null,\"tree\":{\"x\":[true]},"
        "\"gone\":null,\"ok\":false}";
    json_t *tree CLEANUP_JSON = json_pack("{s:[b]}", "x", 1);
    struct buffer out CLEANUP_BUFFER;
    buffer_init(&out, 1024);
    json_out_begin(&out, NULL);
    json_out_array_begin(&out, "items");
    json_out_begin(&out, NULL);
    json_out_str(&out, "a", "}");
    json_out_array_begin(&out, "none");
    json_out_array_end(&out);
    json_out_end(&out);
    json_out_begin(&out, NULL);
    json_out_end(&out);
    json_out_begin(&out, NULL);
    json_out_begin(&out, "b");
    json_out_int(&out, "c", -1);
    json_out_end(&out);
    json_out_end(&out);
    json_out_array_end(&out);
    json_out_str(&out, "no", NULL);
    json_out_value(&out, "tree", tree);
    json_out_value(&out, "gone", NULL);
    json_out_bool(&out, "ok", false);
    json_out_end(&out);
    assert_string_equal(out.data, expected);
}

static void numbers_may_be_strings(void **state)
{
    static const char bytes[] = "{\"a\":\"42\",\"b\":42,\"c\":42.0,\"d\":\"4x\",\"e\":null}";
    json_t *doc CLEANUP_JSON = json_parse_lenient(bytes, strlen(bytes), NULL);
    assert_int_equal(json_int(doc, "a", -1), 42);
    assert_int_equal(json_int(doc, "b", -1), 42);
    assert_int_equal(json_int(doc, "c", -1), 42);
    assert_int_equal(json_int(doc, "d", -1), -1);
    assert_int_equal(json_int(doc, "e", -1), -1);
}

static void packed_ids_sort_and_come_back_as_they_were(void **state)
{
    static const char *const in_order[] = {
        "evt_00000000000000000000000000", "evt_00000000000000000000000001", "evt_01m83n03emtqjz9mdgexgx72bd",
        "evt_01m83n03emtqjz9mdgexgx72be", "evt_01m83n03en0000000000000000", "evt_7zzzzzzzzzzzzzzzzzzzzzzzzz"};
    static const char *const not_ids[] = {"",
                                          "evt_",
                                          "evt_1",
                                          "op_01m83n03emtqjz9mdgexgx72bd",
                                          "evt_01m83n03emtqjz9mdgexgx72b",
                                          "evt_01m83n03emtqjz9mdgexgx72bde",
                                          "evt_01M83n03emtqjz9mdgexgx72bd",
                                          "evt_01m83n03emtqjz9mdgexgx72bu",
                                          "evt_80000000000000000000000000"};
    uint8_t before[ID_PACKED_BYTES], packed[ID_PACKED_BYTES];
    char id[ID_BYTES];
    for (size_t i = 0; i < ARRAY_LEN(in_order); i++) {
        assert_true(id_pack(ID_EVENT, in_order[i], packed));
        assert_true(i == 0 || memcmp(before, packed, sizeof(packed)) < 0);
        assert_string_equal(id_unpack(ID_EVENT, packed, id), in_order[i]);
        memcpy(before, packed, sizeof(packed));
    }
    for (size_t i = 0; i < ARRAY_LEN(not_ids); i++)
        assert_false(id_pack(ID_EVENT, not_ids[i], packed));
}

static void ids_are_distinct_and_sort_by_age(void **state)
{
    struct virtual_world w;
    char before[ID_BYTES], id[ID_BYTES];
    virtual_init(&w, 1);
    (void)id_new(&w.env, ID_CLUSTER, before);
    for (int i = 0; i < 1000; i++) {
        w.now += US_PER_MS;
        (void)id_new(&w.env, ID_CLUSTER, id);
        assert_true(strcmp(before, id) < 0);
        assert_int_equal(strlen(id), 29);
        assert_null(strchr(id, '.'));
        memcpy(before, id, sizeof(id));
    }
}

static void masks_known_secrets_AU_21(void **state)
{
    char text[] = "token shd_abcDEF123 and whsec_MfKQ9r8GKYq/+= with Bearer xyz.abc-1; done";
    log_mask_secrets(text);
    assert_null(strstr(text, "abcDEF"));
    assert_null(strstr(text, "MfKQ"));
    assert_null(strstr(text, "xyz"));
    assert_non_null(strstr(text, "; done"));
    char end[] = "SHD_a=b;whsk_";
    log_mask_secrets(end);
    assert_string_equal(end, "SHD_***;whsk_");
    char nested[] = "X-auth-token: q1 bearer shd_x/y Bearershd";
    log_mask_secrets(nested);
    assert_string_equal(nested, "X-auth-token: ** bearer ******* Bearershd");
    char none[] = "xylophones, beards, sheds, wheels: 100%";
    log_mask_secrets(none);
    assert_string_equal(none, "xylophones, beards, sheds, wheels: 100%");
    char jwt[] = "jwt eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJ4In0.AAAA_-A end";
    log_mask_secrets(jwt);
    assert_string_equal(jwt, "jwt eyJhbGciOi********************************** end");
}

static char logged[8192];

static void keep_line(enum log_level level, const char *message, const char *const *keys,
                      const char *const *values, unsigned count)
{
    char *end = logged + snprintf(logged, sizeof(logged), "%s", message);
    for (unsigned i = 0; i < count; i++)
        end += snprintf(end, (size_t)(logged + sizeof(logged) - end), "|%s=%s", keys[i], values[i]);
}

static void log_values_are_cleaned_AU_22(void **state)
{
    char longest[3001];
    memset(longest, 'l', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = '\0';
    log_set_sink(keep_line);
    log_error("line", "a", "1\n2\x7f", "none", NULL, "long", longest, "b", "Bearer xyz", "c", "");
    log_set_sink(NULL);
    assert_memory_equal(logged, "line|a=1 2 |long=lll", 20);
    const char *rest = strstr(logged, "|b=");
    assert_non_null(rest);
    assert_string_equal(rest, "|b=Bearer ***|c=");
    assert_int_equal(rest - strstr(logged, "=lll") - 1, 2048);
}

/* Catches what is written to the descriptor of stderr. */
struct caught {
    FILE *file;
    int kept;
};

static void catch_stderr(struct caught *c)
{
    c->file = tmpfile();
    c->kept = dup(STDERR_FILENO);
    assert_non_null(c->file);
    assert_true(c->kept >= 0 && dup2(fileno(c->file), STDERR_FILENO) >= 0);
}

/* Ends the catching; the caller frees the text. */
static char *caught_text(struct caught *c)
{
    (void)dup2(c->kept, STDERR_FILENO);
    (void)close(c->kept);
    const off_t size = lseek(fileno(c->file), 0, SEEK_END);
    char *text = mem_calloc((size_t)size + 1, 1);
    assert_int_equal(pread(fileno(c->file), text, (size_t)size, 0), size);
    (void)fclose(c->file);
    return text;
}

static void log_lines_are_quoted_where_needed(void **state)
{
    struct caught caught;
    catch_stderr(&caught);
    log_error("line", "q", "a \"b\" \\c", "edge", "\"", "empty", "", "eq", "a=b", "plain", "x-1/2");
    char *text = caught_text(&caught);
    assert_non_null(strstr(text, " error   line q=\"a \\\"b\\\" \\\\c\" edge=\"\\\"\" empty=\"\" eq=\"a=b\" "
                                 "plain=x-1/2\n"));
    free(text);
}

static void a_log_line_can_be_json(void **state)
{
    struct caught caught;
    char quotes[2100];
    memset(quotes, '"', sizeof(quotes) - 1);
    quotes[sizeof(quotes) - 1] = '\0';
    catch_stderr(&caught);
    log_set_lines(LOG_LINES_JSON);
    log_warning("not \"read\"", "project", "team-\u00e4", "reason", "a\nb \\", "left", NULL);
    log_info("long", "a", quotes, "b", quotes, "c", quotes, "d", quotes, "e", quotes, "f", quotes, "g",
             quotes, "h", quotes, "i", quotes, "j", quotes, "k", quotes, "l", quotes, "m", quotes, "n",
             quotes, "o", quotes, "p", quotes, "q", quotes, "r", quotes, "s", quotes, "t", quotes, "u",
             quotes, "v", quotes, "w", quotes, "x", quotes);
    log_set_lines(LOG_LINES_TEXT);
    char *text = caught_text(&caught);

    char *end = strchr(text, '\n');
    assert_non_null(end);
    json_t *line = json_loadb(text, (size_t)(end - text), 0, NULL);
    wall_us at;
    assert_true(time_parse_rfc3339(json_str_or(line, "time", ""), &at));
    assert_string_equal(json_str(line, "level"), "warning");
    assert_string_equal(json_str(line, "message"), "not \"read\" (project team-\u00e4): a b \\");
    assert_string_equal(json_str(line, "project"), "team-\u00e4");
    assert_string_equal(json_str(line, "reason"), "a b \\");
    assert_int_equal(json_object_size(line), 5);
    json_decref(line);
    line = json_loads(end + 1, 0, NULL);
    assert_int_equal(strlen(json_str_or(line, "x", "")), 2048);
    json_decref(line);
    free(text);
}

/* Returns the number of writes that came through the socket, and adds their bytes to `text`. */
static unsigned read_writes(int fd, struct buffer *text)
{
    static char one[128 * 1024];
    unsigned writes = 0;
    for (ssize_t n; (n = recv(fd, one, sizeof(one), MSG_DONTWAIT)) > 0; writes++)
        buffer_add(text, one, (size_t)n);
    assert_false(text->overflow);
    return writes;
}

static void held_lines_are_written_together(void **state)
{
    int ends[2];
    const int kept = dup(STDERR_FILENO);
    struct buffer text CLEANUP_BUFFER;
    buffer_init(&text, 512 * 1024);
    assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends), 0);
    assert_true(kept >= 0 && dup2(ends[1], STDERR_FILENO) >= 0);
    log_hold(false);
    log_info("one");
    log_info("two");
    const unsigned while_held = read_writes(ends[0], &text);
    log_release();
    const unsigned after = read_writes(ends[0], &text);
    log_info("three");
    const unsigned apart = read_writes(ends[0], &text);
    char longest[2049];
    memset(longest, 'l', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = '\0';
    unsigned many = 0;
    log_hold(false);
    for (int i = 0; i < 100; i++) {
        log_info("long", "number", LOG_INT(i), "text", longest);
        many += read_writes(ends[0], &text);
    }
    log_release();
    many += read_writes(ends[0], &text);
    (void)dup2(kept, STDERR_FILENO);
    (void)close(kept);
    (void)close(ends[0]);
    (void)close(ends[1]);
    assert_int_equal(while_held, 0);
    assert_int_equal(after, 1);
    assert_int_equal(apart, 1);
    assert_in_range(many, 3, 7); /* 200 KiB, at most 64 KiB at a time */
    const char *at = strstr(text.data, "one\n");
    for (int i = 0; at && i < 100; i++) {
        char number[32];
        (void)snprintf(number, sizeof(number), "number=%d ", i);
        at = strstr(at, number);
    }
    assert_non_null(at);
}

/* stderr is a pipe that nobody reads: the caller does not wait, the lines before the gap stay in order, and
 * the log says how many are missing. */
static void a_pipe_that_nobody_reads_stops_nobody(void **state)
{
    int ends[2];
    const int kept = dup(STDERR_FILENO);
    const uint64_t before = log_writer_dropped();
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_true(kept >= 0 && dup2(ends[1], STDERR_FILENO) >= 0);
    log_writer_start();
    unsigned wrote = 0;
    for (; log_writer_dropped() < before + 100; wrote++)
        log_info("line", "number", LOG_INT(wrote), "end", "");
    const unsigned lost = (unsigned)(log_writer_dropped() - before);
    log_writer_flush(0); /* does not wait */
    FILE *lines = fdopen(ends[0], "r");
    assert_non_null(lines);
    char line[512], number[32];
    unsigned next = 0;
    while (next < wrote - lost) {
        assert_non_null(fgets(line, sizeof(line), lines));
        (void)snprintf(number, sizeof(number), " number=%u ", next++);
        if (!strstr(line, number))
            fail_msg("line %u is missing: %s", next - 1, line);
    }
    log_writer_stop(30 * US_PER_S);
    (void)dup2(kept, STDERR_FILENO);
    (void)close(kept);
    (void)close(ends[1]);
    (void)fclose(lines);
}

/* Runs in a child process. The writer still waits for a reader when it is stopped, and more lines wait. */
_Noreturn static void log_after_the_stop(void)
{
    enum { SOME = 4000 }; /* more than a pipe and one turn of the writer take, less than the queue */
    int ends[2];
    (void)alarm(20);
    if (pipe(ends) < 0 || dup2(ends[1], STDERR_FILENO) < 0)
        _exit(1);
    log_writer_start();
    for (int i = 0; i < 2 * SOME; i++) {
        log_info("line", "number", LOG_INT(i), "end", "");
        if (i == SOME)
            log_writer_flush(50 * US_PER_MS); /* by now the writer waits for the reader */
    }
    log_writer_stop(0);
    const uint64_t before = log_writer_dropped();
    log_info("late");
    log_hold(false);
    log_info("late, with others");
    log_release();
    log_writer_flush(US_PER_S);
    _exit(log_writer_dropped() == before + 2 ? 0 : 2);
}

static void nobody_waits_after_the_stop_of_a_writer_that_waits(void **state)
{
    int status;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (!child)
        log_after_the_stop();
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static const char *printable(const char *from, size_t size)
{
    static char to[256];
    size_t len = printable_write(to, size, from, strlen(from));
    assert_int_equal(len, strlen(to));
    return to;
}

static void foreign_text_can_be_printed(void **state)
{
    assert_string_equal(printable("a\r\nb\x1b[2Jc\x7f", 64), "a  b [2Jc ");
    assert_string_equal(printable("c1 \xc2\x9b|\xc2\x80|\xc2\x85", 64), "c1  | | ");
    assert_string_equal(printable("bidi \xe2\x80\xae\xe2\x81\xa6\xe2\x80\x8e\xe2\x80\x8f\xd8\x9c|", 64),
                        "bidi      |");
    assert_string_equal(printable("\xe2\x80\xa8\xe2\x80\xa9", 64), "  ");
    assert_string_equal(printable("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x99\x82", 64),
                        "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x99\x82");
    assert_string_equal(printable("\xff\xc3[\xed\xa0\x80\xc0\x80", 64), "??[?????");
    assert_string_equal(printable("ab\xc3\xbc", 4), "ab");
    assert_string_equal(printable("ab\xc3\xbc", 5), "ab\xc3\xbc");
    assert_string_equal(printable("", 1), "");
}

static void logs_and_problems_hold_printable_text(void **state)
{
    struct caught caught;
    catch_stderr(&caught);
    log_info("line", "value",
             "a\xc2\x9b"
             "31mb\xe2\x80\xae"
             "c\nd");
    char *text = caught_text(&caught);
    assert_non_null(strstr(text, "value=\"a 31mb c d\""));
    free(text);
    struct problem *p = problem_new(PROBLEM_UPSTREAM_REFUSED, "Cleura says: %s",
                                    "a\xc2\x9b"
                                    "31m\xe2\x80\xae"
                                    "b");
    assert_string_equal(p->detail, "Cleura says: a 31m b");
    problem_free(p);
    p = NULL;
    problem_add_fault(&p, PROBLEM_VALIDATION_FAILED, FAULT_AT_BODY, "#/name", "invalid", NULL, "'%s' is none",
                      "a\xe2\x80\xae"
                      "b");
    assert_string_equal(json_str(json_array_get(p->faults, 0), "detail"), "'a b' is none");
    problem_free(p);
}

static char last_message[512];

static void keep_message(enum log_level level, const char *message, const char *const *keys,
                         const char *const *values, unsigned count)
{
    (void)snprintf(last_message, sizeof(last_message), "%s", message);
}

/* An operator reads the field MESSAGE of a journal entry first, and often reads only this field. */
static void messages_are_sentences(void **state)
{
    log_set_sink(keep_message);
    log_error("not listening", "error", "cannot listen on 127.0.0.1:1: Permission denied");
    assert_string_equal(last_message, "not listening: cannot listen on 127.0.0.1:1: Permission denied");
    log_warning("catalog cannot be read", "error", "Cleura answered 503", "project", "team-a", "request_id",
                "r1");
    assert_string_equal(last_message, "catalog cannot be read (project team-a): Cleura answered 503");
    log_info("{method} {route} answered {status}", "method", "GET", "route", "/v1/x", "status", "404", "code",
             "not_found", "duration_us", "12");
    assert_string_equal(last_message, "GET /v1/x answered 404: not_found");
    log_info("{method} {what", "method", NULL);
    assert_string_equal(last_message, "- {what");
    log_info("{a}", "a", "{b}", "b", "c");
    assert_string_equal(last_message, "{b}");
    log_info("plain", "n", LOG_INT(3));
    assert_string_equal(last_message, "plain");
    log_info("kept", "cluster", "dev", "project", "team-a", "error", "shd_abcdefgh is wrong");
    assert_string_equal(last_message, "kept (project team-a, cluster dev): shd_******** is wrong");
    log_set_sink(NULL);
}

static void sealed_values_open_only_in_their_context(void **state)
{
    struct seal_key key, other;
    size_t len;
    env_real()->random(env_real(), key.bytes, sizeof(key.bytes));
    env_real()->random(env_real(), other.bytes, sizeof(other.bytes));
    uint8_t *sealed = seal(&key, env_real(), "token|a", "secret", &len);
    char *opened = seal_open(&key, "token|a", sealed, len);
    assert_string_equal(opened, "secret");
    assert_null(seal_open(&key, "token|b", sealed, len));
    assert_null(seal_open(&other, "token|a", sealed, len));
    sealed[len - 1] ^= 1;
    assert_null(seal_open(&key, "token|a", sealed, len));
    assert_null(seal_open(&key, "token|a", sealed, 3));
    sealed[len - 1] ^= 1;
    const struct seal_change change = {.from = &key, .to = &other, .env = env_real()};
    assert_false(seal_again(&change, "token|b", &sealed, &len));
    assert_true(seal_again(&change, "token|a", &sealed, &len));
    assert_false(seal_again(&change, "token|a", &sealed, &len));
    free(opened);
    opened = seal_open(&other, "token|a", sealed, len);
    assert_string_equal(opened, "secret");
    mem_free_secret(opened);
    free(sealed);
}

/* ---- the view under load ---- */

struct stress {
    struct view *view;
    atomic_bool stop;
    _Atomic uint64_t reads;
};

/* Each blob's body equals its ETag. Each pair of clusters always has the same number. */
static void *read_forever(void *arg)
{
    struct stress *s = arg;
    while (!atomic_load(&s->stop)) {
        const struct view_snapshot *snapshot = view_enter(s->view);
        struct view_blob *a = view_find(snapshot, VIEW_PROJECTS, "p/a");
        struct view_blob *b = view_find(snapshot, VIEW_PROJECTS, "p/b");
        if (a && b && (strcmp(a->etag, a->body) || strcmp(a->body, b->body)))
            abort();
        struct view_blob *kept = a ? view_blob_ref(a) : NULL;
        view_leave(s->view);
        if (kept && strcmp(kept->etag, kept->body))
            abort();
        view_blob_unref(kept);
        atomic_fetch_add(&s->reads, 1);
    }
    return NULL;
}

static void view_readers_never_see_half_a_change(void **state)
{
    struct stress s = {.view = view_new()};
    pthread_t threads[3];
    atomic_init(&s.stop, false);
    atomic_init(&s.reads, 0);
    for (size_t i = 0; i < ARRAY_LEN(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, read_forever, &s), 0);
    for (int i = 0; i < 20000; i++) {
        char text[24];
        (void)log_format_int(i, text);
        view_set(s.view, VIEW_PROJECTS, "p/a", view_blob_new(text, mem_strdup(text), 0, NULL, NULL));
        view_set(s.view, VIEW_PROJECTS, "p/b", view_blob_new(text, mem_strdup(text), 0, NULL, NULL));
        view_publish(s.view);
    }
    atomic_store(&s.stop, true);
    for (size_t i = 0; i < ARRAY_LEN(threads); i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_true(atomic_load(&s.reads) > 0);
    view_free(s.view);
}

static void view_is_sorted_and_the_last_change_wins(void **state)
{
    struct view *v = view_new();
    static const char *const keys[] = {"c", "a", "b", "a", "d", "c"};
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        char text[24];
        view_set(v, VIEW_PROJECTS, keys[i],
                 view_blob_new("", mem_strdup(log_format_int((int64_t)i, text)), 0, NULL, NULL));
    }
    view_set(v, VIEW_PROJECTS, "d", NULL);
    view_publish(v);
    const struct view_snapshot *s = view_enter(v);
    assert_int_equal(s->sections[VIEW_PROJECTS].count, 3);
    assert_string_equal(view_find(s, VIEW_PROJECTS, "a")->body, "3");
    assert_string_equal(view_find(s, VIEW_PROJECTS, "c")->body, "5");
    assert_null(view_find(s, VIEW_PROJECTS, "d"));
    struct view_cursor place = view_seek(s, VIEW_PROJECTS, "bb");
    assert_string_equal(view_next(&place)->key, "c");
    assert_null(view_next(&place));
    assert_string_equal(view_previous(&place)->key, "c");
    view_leave(v);
    view_free(v);
}

static void documents_rest_as_text(void **state)
{
    struct json_doc *doc = json_doc_new(json_pack("{s:i, s:[s], s:f}", "b", 1, "a", "\u00e4\n", "f", 0.5));
    assert_string_equal(doc->text, "{\"b\":1,\"a\":[\"\u00e4\\n\"],\"f\":0.5}");
    const json_t *first = json_doc_tree(doc);
    assert_ptr_equal(json_doc_tree(doc), first);
    json_doc_rest(doc);
    assert_null(doc->tree);
    assert_int_equal(json_int(json_doc_tree(doc), "b", 0), 1);
    struct json_doc *copy = json_doc_copy(doc);
    assert_null(copy->tree);
    assert_true(json_doc_equal(doc, copy));
    assert_null(copy->tree); /* equal texts are compared without parsing */
    json_doc_set(&copy, json_pack("{s:f, s:[s], s:i}", "f", 0.5, "a", "\u00e4\n", "b", 1));
    assert_true(json_doc_equal(doc, copy));
    json_doc_set(&copy, json_pack("{s:i}", "b", 1));
    assert_false(json_doc_equal(doc, copy));
    json_doc_set(&copy, json_null());
    assert_null(copy);
    assert_false(json_doc_equal(doc, copy));
    assert_true(json_doc_equal(copy, NULL));
    assert_null(json_doc_tree(copy));
    assert_null(json_doc_copy(copy));
    json_doc_rest(copy);
    json_doc_free(doc);
}

static void a_nul_is_no_json_D8(void **state)
{
    static const char *const rows[] = {"[1$,2]", "{\"a\":1$}", "[true$]", "{}$", "$[]", "[\"$\"]"};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char text[16];
        size_t len = strlen(rows[i]);
        struct json_fault fault;
        memcpy(text, rows[i], len);
        *(char *)memchr(text, '$', len) = '\0';
        assert_null(json_parse_strict(text, len, &fault));
        assert_string_equal(fault.text, "a NUL byte");
        assert_int_equal(fault.line, 1);
        assert_null(json_parse_lenient(text, len, NULL));
    }
}

static uint64_t network_of(const char *address)
{
    struct ip ip;
    assert_true(ip_parse(address, &ip));
    return ip_network(&ip);
}

static void expect_written(const char *address, const char *text)
{
    struct ip ip;
    char written[IP_TEXT_BYTES];
    assert_true(ip_parse(address, &ip));
    ip_write(&ip, written);
    assert_string_equal(written, text);
}

/* A socket for both families shows IPv4 clients as mapped addresses. */
static void mapped_addresses_are_written_as_ipv4(void **state)
{
    expect_written("192.0.2.1", "192.0.2.1");
    expect_written("::ffff:192.0.2.1", "192.0.2.1");
    expect_written("::ffff:c000:201", "192.0.2.1");
    expect_written("2001:DB8:0::1", "2001:db8::1");
    expect_written("::1", "::1");
    expect_written("ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255",
                   "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff");
}

/* Limits for each client use the network, because a client with a /64 can use every address of the /64. */
static void clients_of_one_network_are_one(void **state)
{
    assert_true(network_of("2001:db8:1:2::1") == network_of("2001:db8:1:2:ffff:ffff:ffff:ffff"));
    assert_true(network_of("2001:db8:1:2::1") != network_of("2001:db8:1:3::1"));
    assert_true(network_of("2001:db8:1:2::1") != network_of("2001:db8:2:2::1"));
    assert_true(network_of("192.0.2.1") == network_of("192.0.2.1"));
    assert_true(network_of("192.0.2.1") == network_of("::ffff:192.0.2.1"));
    assert_true(network_of("192.0.2.1") != network_of("192.0.2.2"));
    assert_true(network_of("192.0.2.1") != network_of("193.0.2.1"));
}

static void a_near_word_is_found_and_a_far_one_not(void **state)
{
    (void)state;
    static const char *const words[] = {"list", "login", "wait", "node_pools", "kubernetes_version", "a"};
    static const struct {
        const char *typed, *near;
    } rows[] = {
        {"lsit", "list"},
        {"nodePools", "node_pools"},
        {"NODE_POOLS", "node_pools"},
        {"NodePool", "node_pools"},
        {"kubernetesVersion", "kubernetes_version"},
        {"kuberntesVersoin", "kubernetes_version"},
        {"kube", "kubernetes_version"},
        {"list", "list"},
        {"logs", NULL},
        {"edit", NULL},
        {"x", NULL},
        {"", NULL},
        {"a_word_of_more_letters_than_any_of_the_list_has", NULL},
        {"\xff\xfe\x01", NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const char *near = nearest_word(rows[i].typed, words, ARRAY_LEN(words));
        if (rows[i].near)
            assert_string_equal(near, rows[i].near);
        else if (near)
            fail_msg("'%s' is near '%s'", rows[i].typed, near);
    }
    assert_null(nearest_word("x", NULL, 0));
}

static void metrics_have_their_text_form_OB_2(void **state)
{
    static const struct histogram_edges edges = {3, {500, 1000000, 360000000000}};
    struct histogram times = {.sum_us = 0};
    static const int64_t added[] = {500, 501, 1000000, 360000000001, -5};
    for (size_t i = 0; i < ARRAY_LEN(added); i++)
        histogram_add(&times, &edges, added[i]);
    struct buffer out CLEANUP_BUFFER;
    buffer_init(&out, 4096);
    metric_family(&out, "shootd_loop_stall_seconds");
    histogram_write_one(&out, "t_seconds", "kind=\"a\"", &edges, &times);
    histogram_write_one(&out, "t_seconds", "", &edges, &(struct histogram){.sum_us = 0});
    metric_one(&out, "shootd_store_commits_total", 12345678901.0);
    metric_of(&out, "part", "of", "it", 0.25);
    metric_sample(&out, "part", "", 1);
    assert_string_equal(out.data, "# HELP shootd_loop_stall_seconds Time for which single pieces of work "
                                  "occupied the loop.\n"
                                  "# TYPE shootd_loop_stall_seconds histogram\n"
                                  "t_seconds_bucket{kind=\"a\",le=\"0.0005\"} 2\n"
                                  "t_seconds_bucket{kind=\"a\",le=\"1.0\"} 4\n"
                                  "t_seconds_bucket{kind=\"a\",le=\"360000.0\"} 4\n"
                                  "t_seconds_bucket{kind=\"a\",le=\"+Inf\"} 5\n"
                                  "t_seconds_sum{kind=\"a\"} 360001.001002\n"
                                  "t_seconds_count{kind=\"a\"} 5\n"
                                  "t_seconds_bucket{le=\"0.0005\"} 0\n"
                                  "t_seconds_bucket{le=\"1.0\"} 0\n"
                                  "t_seconds_bucket{le=\"360000.0\"} 0\n"
                                  "t_seconds_bucket{le=\"+Inf\"} 0\n"
                                  "t_seconds_sum 0.000000\n"
                                  "t_seconds_count 0\n"
                                  "# HELP shootd_store_commits_total Transactions committed.\n"
                                  "# TYPE shootd_store_commits_total counter\n"
                                  "shootd_store_commits_total 12345678901\n"
                                  "part{of=\"it\"} 0.25\n"
                                  "part 1\n");
}

/* Only the family name of a counter loses the suffix _total. */
static void metrics_have_the_form_of_openmetrics(void **state)
{
    struct buffer text CLEANUP_BUFFER, out CLEANUP_BUFFER;
    buffer_init(&text, 4096);
    buffer_init(&out, 4096);
    metric_to_openmetrics(&text, &out);
    assert_string_equal(out.data, "# EOF\n");
    buffer_done(&out);
    buffer_init(&out, 4096);
    metric_one(&text, "shootd_sse_streams", 3);
    metric_family(&text, "shootd_sse_streams_ended_total");
    metric_of(&text, "shootd_sse_streams_ended_total", "end", "client", 7);
    metric_one(&text, "shootd_store_commits_total", 1);
    metric_to_openmetrics(&text, &out);
    assert_string_equal(out.data, "# HELP shootd_sse_streams Open event streams.\n"
                                  "# TYPE shootd_sse_streams gauge\n"
                                  "shootd_sse_streams 3\n"
                                  "# HELP shootd_sse_streams_ended Event streams that ended, by the reason.\n"
                                  "# TYPE shootd_sse_streams_ended counter\n"
                                  "shootd_sse_streams_ended_total{end=\"client\"} 7\n"
                                  "# HELP shootd_store_commits Transactions committed.\n"
                                  "# TYPE shootd_store_commits counter\n"
                                  "shootd_store_commits_total 1\n"
                                  "# EOF\n");
    assert_null(metric_find("shootd_nothing"));
    assert_string_equal(metric_find("shootd_clusters")->labels, "project phase");
}

/* ---- the clock for the removal of old data ---- */

static const int64_t DAY = 86400 * US_PER_S;

static void a_clock_that_is_ahead_for_a_moment_does_not_count(void **state)
{
    struct virtual_world w;
    virtual_init(&w, 7);
    struct settled_clock c;
    settled_clock_begin(&c, &w.env, 0);
    assert_true(settled_clock_now(&c) == env_wall(&w.env));
    w.now += 5 * DAY; /* the settled clock advances by the same time as both clocks */
    assert_true(settled_clock_now(&c) == env_wall(&w.env));

    w.wall_offset += 120 * DAY;
    assert_true(settled_clock_now(&c) == env_wall(&w.env) - 120 * DAY);
    w.now += DAY - US_PER_S;
    assert_true(settled_clock_now(&c) == env_wall(&w.env) - 120 * DAY);
    w.wall_offset -= 120 * DAY;
    assert_true(settled_clock_now(&c) == env_wall(&w.env));

    w.wall_offset += 120 * DAY; /* the wall clock stays ahead */
    assert_true(settled_clock_now(&c) == env_wall(&w.env) - 120 * DAY);
    w.now += DAY;
    assert_true(settled_clock_now(&c) == env_wall(&w.env));

    w.wall_offset -= 600 * US_PER_S; /* a clock that is set back, or ahead by a little, is accepted at once */
    assert_true(settled_clock_now(&c) == env_wall(&w.env));
    w.wall_offset += 60 * US_PER_S;
    assert_true(settled_clock_now(&c) == env_wall(&w.env));
}

static void a_second_jump_has_a_day_of_its_own(void **state)
{
    struct virtual_world w;
    virtual_init(&w, 7);
    struct settled_clock c;
    settled_clock_begin(&c, &w.env, 0);
    w.wall_offset += 120 * US_PER_S;
    const wall_us before = settled_clock_now(&c);
    w.now += DAY - US_PER_S;
    w.wall_offset += 120 * DAY;
    assert_true(settled_clock_now(&c) == before + DAY - US_PER_S);
    w.now += DAY - US_PER_S;
    assert_true(settled_clock_now(&c) == before + 2 * (DAY - US_PER_S));
    w.now += US_PER_S;
    assert_true(settled_clock_now(&c) == env_wall(&w.env));
}

static void a_start_long_after_its_last_value_may_be_a_jump(void **state)
{
    struct virtual_world w;
    virtual_init(&w, 7);
    const wall_us before = env_wall(&w.env);
    w.now += 3 * DAY;
    struct settled_clock c;
    settled_clock_begin(&c, &w.env, before);
    assert_true(settled_clock_now(&c) == before);
    w.now += DAY;
    assert_true(settled_clock_now(&c) == env_wall(&w.env));
    settled_clock_begin(&c, &w.env, env_wall(&w.env) - DAY); /* a stop of one day is not a jump */
    assert_true(settled_clock_now(&c) == env_wall(&w.env));
}

/* ---- a thread that yields ---- */

static int64_t processor_us(clockid_t clock)
{
    struct timespec t;
    assert_int_equal(clock_gettime(clock, &t), 0);
    return (int64_t)t.tv_sec * US_PER_S + t.tv_nsec / 1000;
}

/* Linux 6.18 takes a slice of some milliseconds from a thread that yields after 50 us of work. Such a thread
 * had only a sixtieth of the processor. */
static void a_thread_that_steps_aside_keeps_its_share_beside_other_processes(void **state)
{
    enum { WORK_US = 40000 };
    cpu_set_t all, one;
    assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
    const pid_t rival = fork();
    if (rival == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            ;
    }
    assert_true(rival > 0);
    clockid_t rival_clock;
    assert_int_equal(clock_getcpuclockid(rival, &rival_clock), 0);
    const int64_t own_begin = processor_us(CLOCK_THREAD_CPUTIME_ID), rival_begin = processor_us(rival_clock);
    int64_t own_us = 0;
    while (own_us < WORK_US) {
        thread_step_aside();
        own_us = processor_us(CLOCK_THREAD_CPUTIME_ID) - own_begin;
    }
    const int64_t rival_us = processor_us(rival_clock) - rival_begin;
    (void)kill(rival, SIGKILL);
    assert_int_equal(waitpid(rival, NULL, 0), rival);
    assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
    if (rival_us > 15 * own_us)
        fail_msg("worked %lld us while another process worked %lld", (long long)own_us, (long long)rival_us);
}

/* A stored time has one monotonic time, whatever happens to the wall clock afterwards. */
static void a_time_keeps_its_monotonic_time(void **state)
{
    struct virtual_world w;
    virtual_init(&w, 1);
    struct wall_mark until = {0}, since = {0}, wrong = {0};
    const wall_us wall = env_wall(&w.env);
    const mono_us mono = env_mono(&w.env);
    assert_int_equal(wall_mark_mono(&until, &w.env, wall + 5 * US_PER_S, 10 * US_PER_S), mono + 5 * US_PER_S);
    assert_int_equal(wall_mark_age_us(&since, &w.env, wall - US_PER_S), US_PER_S);
    w.wall_offset -= 86400 * US_PER_S;
    w.now += 3 * US_PER_S;
    assert_int_equal(wall_mark_mono(&until, &w.env, wall + 5 * US_PER_S, 10 * US_PER_S), mono + 5 * US_PER_S);
    assert_int_equal(wall_mark_age_us(&since, &w.env, wall - US_PER_S), 4 * US_PER_S);
    assert_int_equal(wall_mark_mono(&wrong, &w.env, wall, 10 * US_PER_S), mono + 13 * US_PER_S);
    assert_int_equal(wall_mark_age_us(&wrong, &w.env, wall + 1), 0);
}

/* Runs in the child: its stderr goes to `fd`. */
static void fail_an_assertion(int fd)
{
    (void)signal(SIGABRT, SIG_DFL);
    (void)dup2(fd, STDERR_FILENO);
    log_set_sink(NULL);
    assertion_about("cluster", "team-a/dev");
    log_hold(false);
    __assert_fail("count > 0", "somewhere.c", 7, "a_function");
}

static void a_failed_assertion_is_logged_with_what_it_is_about(void **state)
{
    int ends[2], status;
    char text[1024] = "";
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child)
        fail_an_assertion(ends[1]);
    (void)close(ends[1]);
    size_t len = 0;
    ssize_t n;
    while ((n = read(ends[0], text + len, sizeof(text) - 1 - len)) > 0)
        len += (size_t)n;
    (void)close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    assert_non_null(strstr(text, "error   assertion failed, the process is aborted"));
    assert_non_null(strstr(text, "expression=\"count > 0\" place=somewhere.c:7 function=a_function"));
    assert_non_null(strstr(text, "about=\"cluster team-a/dev\""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buffer_refuses_past_its_maximum),
        cmocka_unit_test(mapped_addresses_are_written_as_ipv4),
        cmocka_unit_test(clients_of_one_network_are_one),
        cmocka_unit_test(a_near_word_is_found_and_a_far_one_not),
        cmocka_unit_test(metrics_have_their_text_form_OB_2),
        cmocka_unit_test(metrics_have_the_form_of_openmetrics),
        cmocka_unit_test(heap_orders_moves_and_removes),
        cmocka_unit_test(dates_round_trip),
        cmocka_unit_test(http_dates_in_all_three_forms_HT),
        cmocka_unit_test(retry_after_is_clamped_UP_14),
        cmocka_unit_test(retry_after_is_taken_as_it_is_meant_UP_14),
        cmocka_unit_test(strict_json_rejects),
        cmocka_unit_test(json_fault_never_quotes_the_input),
        cmocka_unit_test(whole_numbers_are_integers),
        cmocka_unit_test(text_is_what_jansson_writes),
        cmocka_unit_test(each_character_is_written_as_by_jansson),
        cmocka_unit_test(members_make_the_text_of_the_tree),
        cmocka_unit_test(numbers_may_be_strings),
        cmocka_unit_test(ids_are_distinct_and_sort_by_age),
        cmocka_unit_test(packed_ids_sort_and_come_back_as_they_were),
        cmocka_unit_test(masks_known_secrets_AU_21),
        cmocka_unit_test(log_values_are_cleaned_AU_22),
        cmocka_unit_test(log_lines_are_quoted_where_needed),
        cmocka_unit_test(a_log_line_can_be_json),
        cmocka_unit_test(held_lines_are_written_together),
        cmocka_unit_test(a_time_keeps_its_monotonic_time),
        cmocka_unit_test(a_pipe_that_nobody_reads_stops_nobody),
        cmocka_unit_test(nobody_waits_after_the_stop_of_a_writer_that_waits),
        cmocka_unit_test(a_failed_assertion_is_logged_with_what_it_is_about),
        cmocka_unit_test(foreign_text_can_be_printed),
        cmocka_unit_test(logs_and_problems_hold_printable_text),
        cmocka_unit_test(messages_are_sentences),
        cmocka_unit_test(sealed_values_open_only_in_their_context),
        cmocka_unit_test(view_readers_never_see_half_a_change),
        cmocka_unit_test(view_is_sorted_and_the_last_change_wins),
        cmocka_unit_test(documents_rest_as_text),
        cmocka_unit_test(a_nul_is_no_json_D8),
        cmocka_unit_test(a_clock_that_is_ahead_for_a_moment_does_not_count),
        cmocka_unit_test(a_second_jump_has_a_day_of_its_own),
        cmocka_unit_test(a_start_long_after_its_last_value_may_be_a_jump),
        cmocka_unit_test(a_thread_that_steps_aside_keeps_its_share_beside_other_processes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The parts of lists without HTTP: cursors, orders, label filters, times. */
#include "tests/support/check.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/resources/cluster_order.h"
#include "api/cursor.h"
#include "api/reads.h"
#include "api/params.h"
#include "base/attrs.h"
#include "base/buffer.h"
#include "base/mem.h"
#include "base/seal.h"
#include "base/timefmt.h"
#include "model/expiry.h"
#include "model/label_filter.h"
#include "view/cluster_counts.h"
#include "view/render.h"

static const uint8_t secret[CURSOR_SECRET_BYTES] = {1, 2, 3};
static const uint8_t digest[CURSOR_DIGEST_BYTES] = {4, 5, 6};

#define HOUR_US (3600 * US_PER_S)
#define NOW     (500000 * HOUR_US + 1234567)

/* ---- cursors ---- */

static void cursors_come_back(void **state)
{
    static const struct cursor_place places[] = {
        {.key = "team-a/dev"},
        {.key = "team-a/dev", .numbers = {0, -1, INT64_MAX, INT64_MIN}, .number_count = 4},
        {.key = "op_01k5c8s0zj8q4t6w2x9y0a1b2c", .numbers = {1795240280601225}, .number_count = 1},
    };
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        struct cursor_place back;
        char text[CURSOR_TEXT_BYTES];
        cursor_encode(secret, digest, NOW, &places[i], text);
        assert_int_equal(strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"),
                         strlen(text));
        assert_int_equal(cursor_decode(secret, digest, NOW, text, &back), CURSOR_GOOD);
        assert_string_equal(back.key, places[i].key);
        assert_int_equal(back.number_count, places[i].number_count);
        assert_memory_equal(back.numbers, places[i].numbers, back.number_count * sizeof(back.numbers[0]));
    }
}

static void the_longest_cursor_fits(void **state)
{
    struct cursor_place place = {.numbers = {-1, -1, -1, -1}, .number_count = 4}, back;
    char key[CURSOR_MAX_KEY + 2] = "", text[CURSOR_TEXT_BYTES];
    memset(key, 'x', CURSOR_MAX_KEY + 1);
    assert_false(cursor_place_set(&place, key));
    key[CURSOR_MAX_KEY] = '\0';
    assert_true(cursor_place_set(&place, key));
    cursor_encode(secret, digest, NOW, &place, text);
    assert_true(strlen(text) < CURSOR_TEXT_BYTES - 1);
    assert_int_equal(cursor_decode(secret, digest, NOW, text, &back), CURSOR_GOOD);
    assert_string_equal(back.key, key);
}

static void cursors_cannot_be_forged(void **state)
{
    const struct cursor_place place = {.key = "team-a/dev", .numbers = {7}, .number_count = 1};
    struct cursor_place back;
    uint8_t other[CURSOR_SECRET_BYTES] = {9};
    char text[CURSOR_TEXT_BYTES];
    cursor_encode(secret, digest, NOW, &place, text);
    assert_int_equal(cursor_decode(other, digest, NOW, text, &back), CURSOR_BAD);
    assert_int_equal(cursor_decode(secret, other, NOW, text, &back), CURSOR_BAD);
    for (size_t i = 0; text[i]; i++) {
        char kept = text[i];
        text[i] = kept == 'A' ? 'B' : 'A';
        assert_int_equal(cursor_decode(secret, digest, NOW, text, &back), CURSOR_BAD);
        text[i] = '\0';
        assert_int_equal(cursor_decode(secret, digest, NOW, text, &back), CURSOR_BAD);
        text[i] = kept;
    }
    assert_int_equal(cursor_decode(secret, digest, NOW, text, &back), CURSOR_GOOD);
    assert_int_equal(cursor_decode(secret, digest, NOW, "", &back), CURSOR_BAD);
    assert_int_equal(cursor_decode(secret, digest, NOW, "%%%", &back), CURSOR_BAD);
}

static void cursors_end(void **state)
{
    const struct cursor_place place = {.key = "k"};
    struct cursor_place back;
    char text[CURSOR_TEXT_BYTES], same[CURSOR_TEXT_BYTES], later[CURSOR_TEXT_BYTES];
    cursor_encode(secret, digest, NOW, &place, text);
    assert_int_equal(cursor_decode(secret, digest, NOW + 72 * HOUR_US, text, &back), CURSOR_GOOD);
    assert_int_equal(cursor_decode(secret, digest, NOW + 73 * HOUR_US, text, &back), CURSOR_EXPIRED);
    assert_int_equal(cursor_decode(secret, digest, NOW - 10 * HOUR_US, text, &back), CURSOR_GOOD);
    /* A page that does not change keeps its bytes and its entity tag for an hour. */
    cursor_encode(secret, digest, NOW + 60 * US_PER_S, &place, same);
    cursor_encode(secret, digest, NOW + HOUR_US, &place, later);
    assert_string_equal(text, same);
    assert_string_not_equal(text, later);
}

static void derived_keys(void **state)
{
    const struct seal_key key = {.bytes = {1}}, other = {.bytes = {2}};
    uint8_t a[SEAL_KEY_BYTES], b[SEAL_KEY_BYTES];
    assert_int_equal(SEAL_KEY_BYTES, CURSOR_SECRET_BYTES);
    seal_derive(&key, "one", a);
    seal_derive(&key, "one", b);
    assert_memory_equal(a, b, sizeof(a));
    seal_derive(&key, "two", b);
    assert_memory_not_equal(a, b, sizeof(a));
    seal_derive(&other, "one", b);
    assert_memory_not_equal(a, b, sizeof(a));
    assert_memory_not_equal(a, key.bytes, sizeof(a));
}

/* ---- orders ---- */

static struct config_project projects[] = {
    {.name = (char *)(uintptr_t) "team-a", .region = (char *)(uintptr_t) "Sto2"},
    {.name = (char *)(uintptr_t) "team-b", .region = (char *)(uintptr_t) "Fra1"},
};
static const struct config config = {.projects = projects, .project_count = ARRAY_LEN(projects)};

static struct view_blob *make(const char *project, const char *name, enum phase phase, const char *version,
                              wall_us created_at)
{
    struct cluster *c = cluster_new();
    (void)snprintf(c->id, sizeof(c->id), "cl_00000000000000000000000000");
    c->project = mem_strdup(project);
    c->name = mem_strdup(name);
    c->phase = phase;
    c->created_at = created_at;
    c->expires_at = created_at % 2 ? created_at : 0;
    if (version) {
        c->shoot = MEM_NEW(struct shoot);
        shoot_set_observed(c->shoot, json_pack("{s:s}", "kubernetes_version", version));
    }
    struct view_blob *blob = render_cluster_blob(c, NULL, &(struct issue_world){0});
    cluster_free(c);
    blob->key = mem_printf("%s/%s", project, name);
    return blob;
}

static struct cluster_order parse(const char *text)
{
    struct cluster_order order;
    json_t *valid = NULL;
    assert_null(cluster_order_parse(text, &order, &valid));
    assert_null(valid);
    return order;
}

static void orders_are_parsed(void **state)
{
    static const struct {
        const char *text;
        bool names_keys;
    } bad[] = {
        {"", true},      {"colour", true},
        {"name,", true}, {"--name", true},
        {"-", true},     {"name,-name", false},
        {" name", true}, {"Name", true},
        {"+name", true}, {"name,project,phase,health,region", false},
    };
    struct cluster_order order = parse("-created_at,name");
    assert_int_equal(order.count, 2);
    assert_true(order.down[0] && !order.down[1]);
    (void)parse("project,-region,phase,health");
    json_t *keys CLEANUP_JSON = NULL;
    char *renamed CLEANUP_FREE = cluster_order_parse("name,-version", &order, &keys);
    assert_string_equal(renamed, "the sort key version is called kubernetes_version");
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        json_t *valid = NULL;
        char *fault CLEANUP_FREE = cluster_order_parse(bad[i].text, &order, &valid);
        assert_non_null(fault);
        assert_int_equal(valid != NULL, bad[i].names_keys);
        json_decref(valid);
    }
}

static void row_of(const struct cluster_order *order, struct view_blob *blob, struct order_row *ret)
{
    order_row_of_entry(order, &config, &(struct view_entry){blob->key, blob, blob->subject}, ret);
}

static void orders_order(void **state)
{
    struct view_blob *blobs[] = {
        make("team-a", "b", PHASE_READY, "1.33.7", 5),       make("team-b", "a", PHASE_FAILED, "1.33.10", 2),
        make("team-a", "c", PHASE_DEGRADED, "1.9.3", 2),     make("team-b", "b", PHASE_READY, NULL, 7),
        make("gone", "d", PHASE_RETRYING, "1.33.7-rc.1", 9),
    };
    static const struct {
        const char *sort;
        const char *wanted; /* the expected order, as indices in `blobs` */
    } rows[] = {
        {"name", "10324"},
        {"-name", "42031"},
        {"project", "40213"},
        {"-project,name", "13024"},
        {"region", "41302"},
        {"-region", "02134"},
        {"phase", "14203"},
        {"kubernetes_version", "32401"},
        {"-kubernetes_version", "14023"},
        {"created_at", "21034"},
        {"-created_at", "43021"},
        {"expires_at", "03421"},
        {"phase,-created_at", "14230"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct cluster_order order = parse(rows[i].sort);
        for (size_t a = 0; a < ARRAY_LEN(blobs); a++) {
            for (size_t b = 0; b < ARRAY_LEN(blobs); b++) {
                struct order_row left, right;
                row_of(&order, blobs[rows[i].wanted[a] - '0'], &left);
                row_of(&order, blobs[rows[i].wanted[b] - '0'], &right);
                int sign = order_compare(&order, &left, &right);
                if ((a < b && sign >= 0) || (a == b && sign != 0) || (a > b && sign <= 0))
                    fail_msg("%s: %s and %s", rows[i].sort, left.key, right.key);
            }
        }
    }
    for (size_t i = 0; i < ARRAY_LEN(blobs); i++)
        view_blob_unref(blobs[i]);
}

/* ---- counts ---- */

struct totals {
    size_t total, ready, of_a, of_33, unexpired;
};

static struct totals counted(const struct view_snapshot *s)
{
    struct totals t = {0};
    const struct view_section_entries *e = &s->sections[VIEW_CLUSTERS];
    for (size_t i = 0; i < e->chunk_count; i++) {
        const struct cluster_counts *counts = e->chunks[i]->counts;
        for (size_t j = 0; j < counts->count; j++) {
            const struct cluster_group *g = &counts->groups[j];
            t.total += g->total;
            t.ready += g->by_phase[PHASE_READY];
            t.of_a += strcmp(g->project, "team-a") ? 0 : g->total;
            t.of_33 += strcmp(g->version_line, "1.33") ? 0 : g->total;
            t.unexpired += g->expires_at ? 0 : g->total;
        }
    }
    return t;
}

/* Chunks count their clusters, and each change changes the counts. */
static void chunks_count_their_clusters(void **state)
{
    enum { PER_PROJECT = 200 };
    struct view *v = view_new();
    for (int i = 0; i < 2 * PER_PROJECT; i++) {
        const char *project = i < PER_PROJECT ? "team-a" : "team-b";
        char *name CLEANUP_FREE = mem_printf("c-%03d", i);
        char *key CLEANUP_FREE = mem_printf("%s/%s", project, name);
        struct view_blob *blob =
            make(project, name, i % 4 ? PHASE_READY : PHASE_FAILED, i % 5 ? "1.33.7" : "1.34.3", 10 + i % 3);
        free(TAKE_PTR(blob->key));
        view_set(v, VIEW_CLUSTERS, key, blob);
    }
    view_publish(v);
    struct totals t = counted(view_enter(v));
    view_leave(v);
    assert_int_equal(t.total, 400);
    assert_int_equal(t.ready, 300);
    assert_int_equal(t.of_a, 200);
    assert_int_equal(t.of_33, 320);
    assert_int_equal(t.unexpired, 267);

    struct view_blob *blob = make("team-a", "c-077", PHASE_WAKING, NULL, 11);
    free(TAKE_PTR(blob->key));
    view_set(v, VIEW_CLUSTERS, "team-a/c-077", blob);
    view_set(v, VIEW_CLUSTERS, "team-b/c-201", NULL);
    view_publish(v);
    t = counted(view_enter(v));
    view_leave(v);
    assert_int_equal(t.total, 399);
    assert_int_equal(t.ready, 298);
    assert_int_equal(t.of_a, 200);
    assert_int_equal(t.of_33, 318);
    view_free(v);
}

/* A cursor gives the exact position of its cluster in the order, also when the cluster is removed. */
static void places_are_where_rows_are(void **state)
{
    static const char *const sorts[] = {"name", "region,-name", "-kubernetes_version,phase",
                                        "expires_at,-created_at,health",
                                        "project,name,updated_at,observed_at"};
    struct view_blob *blob = make("team-b", "web", PHASE_WAKING, "1.34.3", 3);
    for (size_t i = 0; i < ARRAY_LEN(sorts); i++) {
        struct cluster_order order = parse(sorts[i]);
        struct order_row row, back;
        struct cursor_place place, read;
        char text[CURSOR_TEXT_BYTES], project[CURSOR_MAX_KEY + 1];
        row_of(&order, blob, &row);
        assert_true(order_row_place(&order, &row, &place));
        cursor_encode(secret, digest, NOW, &place, text);
        assert_int_equal(cursor_decode(secret, digest, NOW, text, &read), CURSOR_GOOD);
        order_row_of_place(&order, &config, &read, project, &back);
        assert_int_equal(order_compare(&order, &row, &back), 0);
        assert_int_equal(order_compare(&order, &back, &row), 0);
    }
    view_blob_unref(blob);
}

/* ---- filters ---- */

static void label_filters(void **state)
{
    static const struct {
        const char *filter;
        int holds; /* -1: malformed */
    } rows[] = {
        {"team=web", 1},
        {"team", 1},
        {"team=web,prod", 1},
        {"team=we", 0},
        {"team=webs", 0},
        {"tea", 0},
        {"teams", 0},
        {"prod=", 1},
        {"team=", 0},
        {"team=web,none", 0},
        {"example.com/a=b", 1},
        {"example.com/a=c", 0},
        {"team=web,team", 1},
        {"team=web,team=x", 0},
        {"", -1},
        {",", -1},
        {"team=web,", -1},
        {"=web", -1},
        {"team=a=b", -1},
        {"team!=web", -1},
        {"team==web", -1},
        {"te am", -1},
        {"team=-web", -1},
        {"/x", -1},
        {"a/b/c", -1},
        {"team in (a)", -1},
    };
    json_t *labels CLEANUP_JSON =
        json_pack("{s:s, s:s, s:s}", "team", "web", "prod", "", "example.com/a", "b");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const char *fault = label_filter_fault(rows[i].filter);
        if ((fault != NULL) != (rows[i].holds < 0))
            fail_msg("'%s': %s", rows[i].filter, fault ? fault : "taken");
        if (!fault && label_filter_holds(rows[i].filter, labels) != (rows[i].holds == 1))
            fail_msg("'%s' should %shold", rows[i].filter, rows[i].holds ? "" : "not ");
    }
    char *longest CLEANUP_FREE = mem_calloc(LABEL_FILTER_MAX_BYTES + 2, 1);
    for (size_t i = 0; i <= LABEL_FILTER_MAX_BYTES; i++)
        longest[i] = i % 2 ? ',' : 'a';
    assert_non_null(label_filter_fault(longest));
    longest[LABEL_FILTER_MAX_BYTES - 1] = '\0';
    assert_null(label_filter_fault(longest));
}

static void moments(void **state)
{
    static const struct {
        const char *text;
        const char *wanted; /* NULL: refused */
    } rows[] = {
        {"2026-12-31", "2026-12-31T00:00:00Z"},
        {"2026-12-31T12:00:00Z", "2026-12-31T12:00:00Z"},
        {"2026-12-31T12:00:00+02:00", "2026-12-31T10:00:00Z"},
        {"0d", "2026-11-21T10:00:00Z"},
        {"30d", "2026-12-21T10:00:00Z"},
        {"99999d", NULL},
        {"999999999999999999999d", NULL},
        {"-1d", NULL},
        {"d", NULL},
        {"30", NULL},
        {"30h", NULL},
        {"", NULL},
        {"2026-13-31", NULL},
        {"2026-12-3", NULL},
        {"tomorrow", NULL},
    };
    wall_us now, at;
    char text[TIME_TEXT_BYTES];
    assert_true(time_parse_rfc3339("2026-11-21T10:00:00Z", &now));
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        bool ok = query_time(rows[i].text, now, &at);
        if (ok != (rows[i].wanted != NULL))
            fail_msg("'%s'", rows[i].text);
        if (ok)
            assert_string_equal(time_rfc3339(at, true, text), rows[i].wanted);
    }
}

/* ---- versions in use ---- */

static void write_down(void *ctx, const struct version_in_use *v)
{
    struct buffer *out = ctx;
    char at[TIME_TEXT_BYTES] = "never";
    if (v->expires_at)
        (void)time_rfc3339(v->expires_at, false, at);
    buffer_printf(out, "%s %s %s%s%s;", v->component, v->version, at, v->offers ? "" : " unknown",
                  v->entry ? "" : " unlisted");
}

static void versions_and_their_ends(void **state)
{
    static const char catalog_text[] =
        "{\"kubernetes_versions\":[{\"version\":\"1.33.6\",\"expires_at\":\"2026-12-11T00:00:00Z\"},"
        "{\"version\":\"1.33.7\",\"expires_at\":null}],\"machine_images\":[{\"name\":\"gardenlinux\","
        "\"versions\":["
        "{\"version\":\"1877.7.0\",\"expires_at\":\"2026-12-01T00:00:00Z\"}]}]}";
    static const char observed_text[] =
        "{\"kubernetes_version\":\"1.33.6\",\"node_pools\":["
        "{\"name\":\"a\",\"image\":{\"name\":\"gardenlinux\",\"version\":\"1877.7.0\"}},"
        "{\"name\":\"b\",\"image\":{\"name\":\"gardenlinux\",\"version\":\"1877.7.0\"}},"
        "{\"name\":\"c\",\"image\":{\"name\":\"gardenlinux\",\"version\":\"1.0\"}},"
        "{\"name\":\"d\",\"image\":{\"name\":\"suse\",\"version\":\"15\"}},{\"name\":\"e\"}]}";
    json_t *catalog CLEANUP_JSON = json_parse_lenient(catalog_text, strlen(catalog_text), NULL);
    struct shoot *shoot = MEM_NEW(struct shoot);
    shoot_set_observed(shoot, json_parse_lenient(observed_text, strlen(observed_text), NULL));
    struct buffer out CLEANUP_BUFFER;
    wall_us first;
    buffer_init(&out, 4096);
    versions_in_use(shoot, catalog, write_down, &out);
    assert_string_equal(out.data,
                        "kubernetes 1.33.6 2026-12-11T00:00:00Z;gardenlinux 1877.7.0 2026-12-01T00:00:00Z;"
                        "gardenlinux 1.0 never unlisted;suse 15 never unknown unlisted;");
    assert_true(time_parse_rfc3339("2026-12-01T00:00:00Z", &first));
    assert_int_equal(versions_expire_at(shoot, catalog), first);
    assert_int_equal(versions_expire_at(shoot, NULL), 0);
    assert_int_equal(versions_expire_at(NULL, catalog), 0);
    shoot_free(shoot);
}

static unsigned lines;

static void count_errors(enum log_level level, const char *message, const char *const *keys,
                         const char *const *values, unsigned count)
{
    lines += level == LOG_LEVEL_ERROR && strstr(message, "page") && count == 1 &&
             !strcmp(keys[0], "request_id") && !strcmp(values[0], "req_page");
}

/* Closes a page of two items with the memory limit `room`, and returns the result. */
static struct problem *close_page(struct request *r, size_t room)
{
    struct list_body page CLEANUP_LIST_BODY;
    *r = (struct request){.http = {.id = "req_page", .problem = PROBLEM_MAX_}};
    list_open(&page);
    page.text.max = room;
    list_add(&page, "{\"name\":\"a\"}", 12);
    list_add(&page, "{\"name\":\"b\"}", 12);
    return list_close(r, &page, NULL);
}

static void pages_that_are_too_large_are_errors(void **state)
{
    static const char whole[] = "{\"items\":[{\"name\":\"a\"},{\"name\":\"b\"}],\"next_cursor\":null}";
    static struct request r;
    log_set_sink(count_errors);
    for (size_t room = 10; room < sizeof(whole) - 1; room++) {
        lines = 0;
        struct problem *p CLEANUP_PROBLEM = close_page(&r, room);
        assert_int_equal(p->code, PROBLEM_INTERNAL_ERROR);
        assert_int_equal(r.http.answer.status, 0);
        assert_int_equal(lines, 1);
    }
    assert_null(close_page(&r, sizeof(whole) - 1));
    assert_int_equal(r.http.answer.status, 200);
    assert_string_equal(r.http.answer.bytes, whole);
    assert_int_equal(lines, 1);
    answer_done(&r.http.answer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_that_are_too_large_are_errors),
        cmocka_unit_test(cursors_come_back),
        cmocka_unit_test(the_longest_cursor_fits),
        cmocka_unit_test(cursors_cannot_be_forged),
        cmocka_unit_test(cursors_end),
        cmocka_unit_test(derived_keys),
        cmocka_unit_test(orders_are_parsed),
        cmocka_unit_test(orders_order),
        cmocka_unit_test(chunks_count_their_clusters),
        cmocka_unit_test(places_are_where_rows_are),
        cmocka_unit_test(label_filters),
        cmocka_unit_test(moments),
        cmocka_unit_test(versions_and_their_ends),
    };
    return sodium_init() < 0 ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}

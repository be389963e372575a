/* view/: the cost of a publish. A publish shows exactly the staged changes, whatever came before. */
#include "tests/support/check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/mem.h"
#include "tests/support/virtual.h"
#include "view/cluster_facts.h"
#include "view/view.h"

enum { MANY = 10000, KEYS = 3000, ROUNDS = 4000 };

static void stage(struct view *v, unsigned number, const char *body)
{
    char key[16];
    (void)snprintf(key, sizeof(key), "p/%05u", number);
    view_set(v, VIEW_PROJECTS, key, body ? view_blob_new("", mem_strdup(body), 0, NULL, NULL) : NULL);
}

/* Returns the number of chunks that are not in `before`. The caller keeps the old chunks, so their addresses
 * are not used again. */
static size_t new_chunks(struct view *v, struct view_chunk **before, size_t before_count)
{
    const struct view_section_entries *now = &view_enter(v)->sections[VIEW_PROJECTS];
    size_t fresh = 0;
    for (size_t i = 0; i < now->chunk_count; i++) {
        size_t j = 0;
        while (j < before_count && before[j] != now->chunks[i])
            j++;
        fresh += j == before_count;
    }
    view_leave(v);
    return fresh;
}

static struct view_chunk **copy_chunks(struct view *v, size_t *ret_count)
{
    const struct view_section_entries *now = &view_enter(v)->sections[VIEW_PROJECTS];
    *ret_count = now->chunk_count;
    struct view_chunk **chunks = mem_dup(now->chunks, now->chunk_count * sizeof(struct view_chunk *));
    view_leave(v);
    return chunks;
}

static void publish_counted(struct view *v, size_t most)
{
    size_t count;
    struct view_chunk **before CLEANUP_FREE = copy_chunks(v, &count);
    view_publish(v);
    assert_in_range(new_chunks(v, before, count), 0, most);
}

/* One change among ten thousand entries copies only the neighbours of the entry. */
static void b2_a_publish_costs_what_changed(void **state)
{
    struct view *v = view_new();
    for (unsigned i = 0; i < MANY; i++)
        stage(v, 2 * i, "a");
    view_publish(v);
    for (unsigned i = 0; i < MANY; i += 331) {
        stage(v, 2 * i, "b"); /* changed */
        publish_counted(v, 1);
        stage(v, 2 * i + 1, "c"); /* new */
        publish_counted(v, 2);
        stage(v, 2 * i, NULL); /* gone */
        publish_counted(v, 2);
    }
    view_free(v);
}

/* Clusters are added one by one, and each is published before the next is added. The same happens in a first
 * discovery. */
static void b2_the_first_of_many_are_shown_one_by_one(void **state)
{
    struct view *v = view_new();
    for (unsigned i = 0; i < MANY; i++) {
        stage(v, i * 7919 % MANY, "a");
        publish_counted(v, 2);
    }
    assert_int_equal(view_enter(v)->sections[VIEW_PROJECTS].count, MANY);
    view_leave(v);
    view_free(v);
}

/* ---- any history ---- */

static void check_forth(const struct view_snapshot *s, const unsigned char *there)
{
    struct view_cursor place = view_seek(s, VIEW_PROJECTS, "");
    char key[16], body[2] = "";
    for (unsigned i = 0; i < KEYS; i++) {
        (void)snprintf(key, sizeof(key), "p/%05u", i);
        struct view_blob *found = view_find(s, VIEW_PROJECTS, key);
        assert_int_equal(found != NULL, there[i] != 0);
        if (!there[i])
            continue;
        body[0] = (char)there[i];
        const struct view_entry *e = view_next(&place);
        assert_string_equal(e->key, key);
        assert_string_equal(e->blob->body, body);
        assert_ptr_equal(e->blob, found);
    }
    assert_null(view_next(&place));
}

static void check_back(const struct view_snapshot *s, const unsigned char *there)
{
    struct view_cursor place = view_end(s, VIEW_PROJECTS);
    size_t count = 0;
    for (unsigned i = KEYS; i-- > 0;) {
        char key[16];
        (void)snprintf(key, sizeof(key), "p/%05u", i);
        if (there[i]) {
            assert_string_equal(view_previous(&place)->key, key);
            count++;
        }
        struct view_cursor sought = view_seek(s, VIEW_PROJECTS, key);
        const struct view_entry *before = view_previous(&sought);
        assert_true(!before || strcmp(before->key, key) < 0);
    }
    assert_null(view_previous(&place));
    assert_int_equal(s->sections[VIEW_PROJECTS].count, count);
}

static void check_chunks(const struct view_snapshot *s)
{
    const struct view_section_entries *e = &s->sections[VIEW_PROJECTS];
    size_t count = 0;
    for (size_t i = 0; i < e->chunk_count; i++) {
        size_t fewest = i + 1 < e->chunk_count ? VIEW_CHUNK_FEWEST : 1;
        assert_in_range(e->chunks[i]->count, fewest, VIEW_CHUNK_MOST);
        count += e->chunks[i]->count;
    }
    assert_int_equal(e->count, count);
}

static void any_history_is_shown_as_it_was(void **state)
{
    struct virtual_world w;
    unsigned char there[KEYS] = {0};
    virtual_init(&w, 11);
    struct view *v = view_new();
    for (unsigned round = 0; round < ROUNDS; round++) {
        /* In some phases most entries are added, in others removed. */
        bool growing = round / 500 % 2 == 0;
        uint64_t changes = env_random_below(&w.env, round % 100 == 0 ? 1000 : 8);
        unsigned from = (unsigned)env_random_below(&w.env, KEYS);
        for (uint64_t i = 0; i < changes; i++) {
            unsigned n = (from + (unsigned)env_random_below(&w.env, round % 3 ? KEYS : 200)) % KEYS;
            bool put = env_random_below(&w.env, 10) < (growing ? 9 : 1);
            char body[2] = {(char)('a' + env_random_below(&w.env, 26)), '\0'};
            there[n] = put ? (unsigned char)body[0] : 0;
            stage(v, n, put ? body : NULL);
        }
        view_publish(v);
        const struct view_snapshot *s = view_enter(v);
        check_chunks(s);
        if (round % 50 == 0) {
            check_forth(s, there);
            check_back(s, there);
        }
        view_leave(v);
    }
    view_free(v);
}

/* ---- clusters that were seen again ---- */

static void free_facts(void *facts)
{
    cluster_facts_free(facts);
}

enum { SECOND = 1000000, FIRST_SEEN = 1767225600, LOOKS = 20000 };

static void stage_cluster(struct view *v, const char *key, wall_us seen_at)
{
    char text[TIME_TEXT_BYTES];
    (void)time_rfc3339(seen_at, true, text);
    struct cluster *c = cluster_new();
    c->project = mem_strdup("p");
    c->name = mem_strdup(key);
    struct view_blob *b = view_blob_new("\"tag\"", mem_printf("{\"at\":\"%s\",\"x\":1}", text), seen_at,
                                        cluster_facts_new(c, NULL, &(struct trouble){0}, false), free_facts);
    cluster_free(c);
    view_blob_set_brief(b, mem_printf("{\"brief_at\":\"%s\"}", text), strlen("{\"at\":\""),
                        strlen("{\"brief_at\":\""));
    view_set(v, VIEW_CLUSTERS, key, b);
}

static void check_form(const struct view_blob *b, wall_us seen_at)
{
    char text[TIME_TEXT_BYTES];
    char *body CLEANUP_FREE = mem_printf("{\"at\":\"%s\",\"x\":1}", time_rfc3339(seen_at, true, text));
    assert_string_equal(b->body, body);
    assert_int_equal(b->body_len, strlen(body));
    assert_string_equal(b->observed_text, text);
    assert_string_equal(b->etag, "\"tag\"");
    assert_true(b->observed_at == seen_at);
}

static void check_written(const struct view_blob *b, wall_us seen_at)
{
    struct buffer out CLEANUP_BUFFER;
    char text[TIME_TEXT_BYTES];
    (void)time_rfc3339(seen_at, true, text);
    char *both CLEANUP_FREE = mem_printf("{\"at\":\"%s\",\"x\":1}{\"brief_at\":\"%s\"}", text, text);
    struct time_text last = {0};
    buffer_init(&out, 1000);
    (void)time_text(&last, seen_at - 1);
    assert_true(view_blob_write(b, false, &last, &out) == seen_at);
    assert_true(view_blob_write(b, true, &last, &out) == seen_at);
    assert_string_equal(out.data, both);
}

/* Times with and without a fraction have different lengths. */
static void cluster_seen_again_shows_the_newest_time(void **state)
{
    static const wall_us times[] = {FIRST_SEEN * (wall_us)SECOND, FIRST_SEEN * (wall_us)SECOND + 7,
                                    (FIRST_SEEN + 60) * (wall_us)SECOND};
    for (size_t first = 0; first < ARRAY_LEN(times); first++) {
        struct view *v = view_new();
        stage_cluster(v, "p/dev", times[first]);
        view_publish(v);
        const struct view_snapshot *s = view_shown(v);
        struct view_blob *shown = view_find(s, VIEW_CLUSTERS, "p/dev"), *held = NULL;
        for (size_t i = 0; i < ARRAY_LEN(times); i++) {
            view_seen_again(v, shown, times[i], (mono_us)i + 1);
            view_publish(v);
            assert_ptr_equal(view_shown(v), s);
            assert_true(view_blob_seen_at(shown) == times[i]);
            (void)view_enter(v);
            struct view_blob *form = view_blob_as_seen(shown), *again = view_blob_as_seen(shown);
            view_leave(v);
            check_form(form, times[i]);
            check_written(shown, times[i]);
            assert_ptr_equal(again, form); /* readers between two polls share one form */
            assert_int_equal(form == shown, times[i] == times[first]);
            view_blob_unref(again);
            view_blob_unref(held); /* an answer may still use a form when the view does not use it any more */
            held = form;
        }
        check_form(held, times[ARRAY_LEN(times) - 1]);
        assert_int_equal(view_published(v), 1); /* only the first publish had a staged change */
        view_free(v);
        view_blob_unref(held);
    }
}

struct looks {
    struct view *view;
    atomic_bool over;
    atomic_ullong reads;
};

static void *read_until_over(void *arg)
{
    struct looks *looks = arg;
    wall_us newest = 0;
    while (!atomic_load(&looks->over)) {
        struct view_blob *shown = view_find(view_enter(looks->view), VIEW_CLUSTERS, "p/dev");
        struct view_blob *form = view_blob_as_seen(shown);
        view_leave(looks->view);
        check_form(form, form->observed_at);
        assert_true(form->observed_at >= newest);
        newest = form->observed_at;
        view_blob_unref(form);
        atomic_fetch_add(&looks->reads, 1);
    }
    return NULL;
}

static void readers_never_see_an_older_look_after_a_newer(void **state)
{
    struct looks looks = {.view = view_new()};
    pthread_t threads[3];
    stage_cluster(looks.view, "p/dev", FIRST_SEEN * (wall_us)SECOND);
    view_publish(looks.view);
    for (size_t i = 0; i < ARRAY_LEN(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, read_until_over, &looks), 0);
    for (int i = 1; i <= LOOKS || atomic_load(&looks.reads) < LOOKS; i++) {
        if (i % 1000 == 0)
            stage_cluster(looks.view, "p/dev", FIRST_SEEN * (wall_us)SECOND + i);
        view_publish(looks.view);
        struct view_blob *shown = view_find(view_shown(looks.view), VIEW_CLUSTERS, "p/dev");
        view_seen_again(looks.view, shown, FIRST_SEEN * (wall_us)SECOND + i, i);
    }
    atomic_store(&looks.over, true);
    for (size_t i = 0; i < ARRAY_LEN(threads); i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    view_free(looks.view);
}

/* Former tokens are kept only for a counter. The oldest are dropped. A text that never was a token is not
 * among them. */
static void former_tokens_are_known_for_a_while(void **state)
{
    struct view *v = view_new();
    char key[65];
    for (unsigned i = 0; i <= VIEW_FORMER_TOKENS; i++) {
        (void)snprintf(key, sizeof(key), "%08x%056x", i + 1, 0U);
        assert_false(view_was_token(v, key));
        view_note_former_token(v, key);
        assert_true(view_was_token(v, key));
    }
    for (unsigned i = 0; i <= VIEW_FORMER_TOKENS; i++) {
        (void)snprintf(key, sizeof(key), "%08x%056x", i + 1, 0U);
        assert_int_equal(view_was_token(v, key), i > 0);
    }
    assert_false(view_was_token(v, "0000000000000000000000000000000000000000000000000000000000000000"));
    view_free(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(b2_a_publish_costs_what_changed),
        cmocka_unit_test(b2_the_first_of_many_are_shown_one_by_one),
        cmocka_unit_test(any_history_is_shown_as_it_was),
        cmocka_unit_test(cluster_seen_again_shows_the_newest_time),
        cmocka_unit_test(readers_never_see_an_older_look_after_a_newer),
        cmocka_unit_test(former_tokens_are_known_for_a_while),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

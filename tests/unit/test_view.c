/* view/: what a publish costs, and that what it makes is what was staged, whatever came before. */
#include "tests/support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/mem.h"
#include "tests/support/virtual.h"
#include "view/view.h"

enum { MANY = 10000, KEYS = 3000, ROUNDS = 4000 };

static void stage(struct view *v, unsigned number, const char *body)
{
    char key[16];
    (void)snprintf(key, sizeof(key), "p/%05u", number);
    view_set(v, VIEW_PROJECTS, key, body ? view_blob_new("", mem_strdup(body), 0, NULL, NULL) : NULL);
}

/* Chunks of now that were not there before; the addresses of before are not used again meanwhile. */
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

/* One change of ten thousand costs its neighbours, not all of them. */
static void b2_a_publish_costs_what_changed(void **state)
{
    (void)state;
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

/* As a first discovery does it: one after the other, each shown before the next. */
static void b2_the_first_of_many_are_shown_one_by_one(void **state)
{
    (void)state;
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
    (void)state;
    struct virtual_world w;
    unsigned char there[KEYS] = {0};
    virtual_init(&w, 11);
    struct view *v = view_new();
    for (unsigned round = 0; round < ROUNDS; round++) {
        /* Phases in which most come, or most go. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(b2_a_publish_costs_what_changed),
        cmocka_unit_test(b2_the_first_of_many_are_shown_one_by_one),
        cmocka_unit_test(any_history_is_shown_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * The running store: group commit, order, exactly one report for each set, the broken store, the lease, the
 * reader's queue. The test moves the clock. A condition variable signals each report.
 */
#include "tests/storage/store_fixture.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/env.h"
#include "base/lock.h"
#include "tests/support/test_store.h"

enum { RECORD_MAX = 512 };

struct fixture {
    struct test_store file;
    struct storage *store;
    struct env env;
    _Atomic int64_t now;

    pthread_mutex_t mutex;
    pthread_cond_t cond;
    int order[RECORD_MAX]; /* tags in the order of the reports */
    int64_t sequence[RECORD_MAX];
    enum store_status status[RECORD_MAX]; /* by tag */
    int reports[RECORD_MAX];              /* by tag */
    int count;
};

static int64_t clock_now(const struct env *env)
{
    const struct fixture *f = env->ctx;
    return atomic_load(&f->now);
}

static void open_store(struct fixture *f, const char *holder)
{
    char *error = NULL;
    if (storage_open(&f->file.backend, f->file.location, holder, &f->env, &f->store, &error) != STORE_OK)
        fail_msg("open: %s", error);
}

static int set_up(void **state)
{
    struct fixture *f = MEM_NEW(struct fixture);
    test_store_init(&f->file);
    f->env = *env_real();
    f->env.now_mono = clock_now;
    f->env.now_wall = clock_now;
    f->env.ctx = f;
    atomic_store(&f->now, 1000 * US_PER_S);
    mutex_init(&f->mutex);
    cond_init(&f->cond);
    open_store(f, "me");
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    storage_close(f->store);
    cond_done(&f->cond);
    mutex_done(&f->mutex);
    test_store_done(&f->file);
    free(f);
    return 0;
}

struct tag {
    struct fixture *f;
    int number;
};

static void on_done(struct change_set *set, enum store_status status)
{
    struct tag *tag = set->ctx;
    struct fixture *f = tag->f;
    mutex_lock(&f->mutex);
    f->order[f->count++] = tag->number;
    f->status[tag->number] = status;
    f->reports[tag->number]++;
    for (size_t i = 0; i < set->count; i++)
        if (set->changes[i].kind == CHANGE_EVENT_APPEND)
            f->sequence[tag->number] = set->changes[i].event->sequence;
    cond_broadcast(&f->cond);
    mutex_unlock(&f->mutex);
    free(tag);
    change_set_free(set);
}

static struct change_set *tagged_set(struct fixture *f, int number, bool droppable)
{
    struct tag *tag = MEM_NEW(struct tag);
    tag->f = f;
    tag->number = number;
    struct change_set *set = change_set_new();
    set->droppable = droppable;
    set->ctx = tag;
    set->on_done = on_done;
    return set;
}

/* Submits a set with one event whose id comes from the tag. */
static void submit(struct fixture *f, int number, bool droppable)
{
    struct change_set *set = tagged_set(f, number, droppable);
    char id[40];
    (void)snprintf(id, sizeof(id), "evt_%d", number);
    (void)change_append_event(set, make_event(id, EVENT_CLUSTER_READY, "p1", "c1", number));
    storage_submit(f->store, set);
}

static void await(struct fixture *f, int count)
{
    mutex_lock(&f->mutex);
    while (f->count < count)
        cond_wait(&f->cond, &f->mutex);
    mutex_unlock(&f->mutex);
}

/* Returns the newest number of an event. */
static int64_t newest(const struct fixture *f)
{
    return store_number(f->file.location, "SELECT value FROM meta WHERE key = 'event_sequence'");
}

static void changes_queued_before_the_start_are_one_commit_in_order(void **state)
{
    struct fixture *f = *state;
    for (int i = 0; i < 100; i++)
        submit(f, i, true);
    storage_start(f->store);
    await(f, 100);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(f->order[i], i);
        assert_int_equal(f->status[i], STORE_OK);
        assert_int_equal(f->sequence[i], i + 1);
    }
    struct storage_metrics metrics;
    do
        storage_metrics(f->store, &metrics);
    while (metrics.queue_depth); /* the last callback may not have returned */
    assert_int_equal(metrics.commits, 1);
    assert_int_equal(metrics.change_sets, 100);
}

/* Sets that only wait for their turn cause no commit. */
static void sets_without_a_change_are_not_written(void **state)
{
    struct fixture *f = *state;
    storage_start(f->store);
    submit(f, 0, true);
    await(f, 1);
    for (int i = 1; i < 10; i++)
        storage_submit(f->store, tagged_set(f, i, false));
    await(f, 10);
    struct storage_metrics metrics;
    do
        storage_metrics(f->store, &metrics);
    while (metrics.queue_depth);
    assert_int_equal(metrics.commits, 1);
    assert_int_equal(metrics.change_sets, 10);
    for (int i = 0; i < 10; i++) {
        assert_int_equal(f->order[i], i);
        assert_int_equal(f->status[i], STORE_OK);
    }
}

struct submitter {
    struct fixture *f;
    int first;
};

static void *submit_many(void *arg)
{
    const struct submitter *s = arg;
    for (int i = 0; i < 50; i++)
        submit(s->f, s->first + i, i % 2);
    return NULL;
}

static void many_threads_share_commits_and_each_set_is_reported_once(void **state)
{
    struct fixture *f = *state;
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    struct submitter submitters[THREADS];
    storage_start(f->store);
    for (int i = 0; i < THREADS; i++) {
        submitters[i] = (struct submitter){.f = f, .first = i * 50};
        assert_int_equal(pthread_create(&threads[i], NULL, submit_many, &submitters[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        (void)pthread_join(threads[i], NULL);
    await(f, THREADS * 50);
    int last[THREADS];
    memset(last, -1, sizeof(last));
    for (int i = 0; i < THREADS * 50; i++) {
        int number = f->order[i];
        assert_int_equal(f->reports[number], 1);
        assert_int_equal(f->status[number], STORE_OK);
        assert_int_equal(f->sequence[number], i + 1); /* without a gap, and in the order of the reports */
        assert_true(number > last[number / 50]);
        last[number / 50] = number;
    }
}

static void one_bad_set_does_not_hurt_the_others(void **state)
{
    struct fixture *f = *state;
    submit(f, 0, false);
    struct change_set *bad = tagged_set(f, 1, false);
    (void)change_append_event(bad, make_event("evt_bad", EVENT_CLUSTER_READY, "p1", "c1", 1));
    change_put_delivery(bad, make_delivery("dlv_1", "evt_0", "wh_none", DELIVERY_PENDING, 1));
    storage_submit(f->store, bad);
    submit(f, 2, true);
    storage_start(f->store);
    await(f, 3);
    assert_int_equal(f->order[1], 1);
    assert_int_equal(f->status[0], STORE_OK);
    assert_int_equal(f->status[1], STORE_CONFLICT);
    assert_int_equal(f->sequence[1], 0);
    assert_int_equal(f->status[2], STORE_OK);
    assert_int_equal(f->sequence[2], 2);
    assert_false(storage_is_broken(f->store));
}

static void close_commits_what_is_queued(void **state)
{
    struct fixture *f = *state;
    storage_start(f->store);
    for (int i = 0; i < 300; i++)
        submit(f, i, i % 2);
    storage_close(f->store);
    assert_int_equal(f->count, 300);
    assert_int_equal(f->status[299], STORE_OK);
    open_store(f, "next"); /* succeeds at once, because the lease was released */
    assert_int_equal(newest(f), 300);
    submit(f, 300, true);
    storage_close(f->store); /* the store was never started */
    assert_int_equal(f->status[300], STORE_OK);
    open_store(f, "me");
}

struct answer {
    struct fixture *f;
    enum store_status status;
    int64_t number;
    bool there;
};

static void answered(struct answer *answer, enum store_status status, int64_t number)
{
    mutex_lock(&answer->f->mutex);
    answer->status = status;
    answer->number = number;
    answer->there = true;
    cond_broadcast(&answer->f->cond);
    mutex_unlock(&answer->f->mutex);
}

static void await_answer(struct answer *answer)
{
    mutex_lock(&answer->f->mutex);
    while (!answer->there)
        cond_wait(&answer->f->cond, &answer->f->mutex);
    mutex_unlock(&answer->f->mutex);
}

static void on_page(void *ctx, enum store_status status, struct event_page *page)
{
    answered(ctx, status, page ? (int64_t)page->count : -1);
    event_page_free(page);
}

static void on_event(void *ctx, enum store_status status, struct event *event)
{
    answered(ctx, status, event ? event->sequence : -1);
    event_free(event);
}

static void on_deliveries(void *ctx, enum store_status status, struct delivery *array, size_t count)
{
    answered(ctx, status, (int64_t)count);
    free(array);
}

static void queries_are_copied_and_answered(void **state)
{
    struct fixture *f = *state;
    storage_start(f->store);
    for (int i = 0; i < 3; i++)
        submit(f, i, true);
    await(f, 3);
    struct answer page = {.f = f}, event = {.f = f}, missing = {.f = f}, deliveries = {.f = f};
    char type[] = "cluster.*";
    char *types[] = {type, NULL};
    char id[] = "evt_1";
    storage_query_events(f->store, &(struct event_query){.after = 1, .limit = 10, .types = types}, on_page,
                         &page);
    storage_query_event(f->store, id, on_event, &event);
    memset(type, 'x', sizeof(type) - 1);
    memset(id, 'x', sizeof(id) - 1);
    storage_query_event(f->store, "evt_none", on_event, &missing);
    storage_query_deliveries(f->store, &(struct delivery_query){"wh_none", .status = -1, .limit = 10},
                             on_deliveries, &deliveries);
    await_answer(&page);
    await_answer(&event);
    await_answer(&missing);
    await_answer(&deliveries);
    assert_int_equal(page.number, 2);
    assert_int_equal(event.number, 2);
    assert_int_equal(missing.status, STORE_NONE);
    assert_int_equal(deliveries.status, STORE_OK);
    assert_int_equal(deliveries.number, 0);
}

/* ---- failures on request ---- */

static void fail_nth(struct fixture *f, int nth, enum store_status status)
{
    f->file.fail_with = status;
    f->file.fail_in = nth;
}

static void a_broken_store_refuses_some_and_keeps_the_others_in_order(void **state)
{
    struct fixture *f = *state;
    fail_nth(f, 4, STORE_BROKEN); /* three applies, then the commit */
    submit(f, 0, false);
    submit(f, 1, true);
    submit(f, 2, false);
    storage_start(f->store);
    await(f, 1);
    assert_int_equal(f->order[0], 1);
    assert_int_equal(f->status[1], STORE_BROKEN);
    assert_true(storage_is_broken(f->store));
    submit(f, 3, true);
    await(f, 2);
    assert_int_equal(f->status[3], STORE_BROKEN);
    assert_int_equal(f->sequence[3], 0);

    /* the first retry also fails, and the back-off doubles */
    fail_nth(f, 1, STORE_BROKEN);
    atomic_fetch_add(&f->now, 100 * US_PER_MS);
    submit(f, 4, false); /* wakes the writer */
    struct storage_metrics metrics;
    do
        storage_metrics(f->store, &metrics);
    while (metrics.errors < 2);
    assert_true(storage_is_broken(f->store));
    submit(f, 7, true); /* when this set is refused, the writer has set the time of its next try */
    await(f, 3);
    atomic_fetch_add(&f->now, 200 * US_PER_MS);
    submit(f, 5, false);
    await(f, 7);
    const int order[] = {1, 3, 7, 0, 2, 4, 5};
    assert_memory_equal(f->order, order, sizeof(order));
    assert_int_equal(f->sequence[5], 4);
    assert_false(storage_is_broken(f->store));
    submit(f, 6, true);
    await(f, 8);
    assert_int_equal(f->status[6], STORE_OK);
}

static void an_uncertain_commit_is_read_back(void **state)
{
    struct fixture *f = *state;
    fail_nth(f, 3, STORE_UNCERTAIN);
    submit(f, 0, true);
    submit(f, 1, false);
    storage_start(f->store);
    await(f, 2);
    assert_int_equal(f->status[0], STORE_OK);
    assert_int_equal(f->status[1], STORE_OK);
    assert_int_equal(f->sequence[1], 2);
    assert_int_equal(newest(f), 2);
}

/* An I/O error at the last fsync. A refused change must not take effect after a restart; a stored change is
 * reported as stored. */
static void a_failed_commit_that_had_effect_is_no_refusal(void **state)
{
    struct fixture *f = *state;
    f->file.failed_commits_have_effect = true;
    fail_nth(f, 3, STORE_BROKEN); /* two applies, then the commit */
    submit(f, 0, true);
    submit(f, 1, false);
    storage_start(f->store);
    await(f, 2);
    assert_int_equal(f->status[0], STORE_OK);
    assert_int_equal(f->status[1], STORE_OK);
    assert_int_equal(f->sequence[0], 1);
    assert_int_equal(f->sequence[1], 2);
    assert_int_equal(newest(f), 2); /* nothing was stored twice */
}

/* An audit entry has no id of its own, so a second write would store it twice. */
static void and_its_audit_entry_is_there_once(void **state)
{
    struct fixture *f = *state;
    struct change_set *set = tagged_set(f, 0, false);
    struct audit_entry *entry = MEM_NEW(struct audit_entry);
    entry->at = 1;
    entry->action = mem_strdup("createCluster");
    entry->body = mem_strdup("{}");
    (void)change_append_event(set, make_event("evt_0", EVENT_CLUSTER_READY, "p1", "c1", 0));
    change_append_audit(set, entry);
    f->file.failed_commits_have_effect = true;
    fail_nth(f, 4, STORE_BROKEN); /* three applies, then the commit */
    storage_submit(f->store, set);
    submit(f, 1, false);
    storage_start(f->store);
    await(f, 2);
    assert_int_equal(f->status[0], STORE_OK);
    assert_int_equal(f->status[1], STORE_OK);
    assert_int_equal(newest(f), 2);
    assert_int_equal(store_number(f->file.location, "SELECT count(*) FROM audit"), 1);
}

/* No set is reported until the store answers again. Each set then gets its true status. */
static void settle_later(struct fixture *f, bool had_effect)
{
    struct storage_metrics metrics;
    f->file.failed_commits_have_effect = had_effect;
    fail_nth(f, 3, STORE_BROKEN);
    f->file.last_marked_fails = 1;
    submit(f, 0, true);
    submit(f, 1, false);
    storage_start(f->store);
    do
        storage_metrics(f->store, &metrics);
    while (!metrics.broken);
    submit(f, 2, true);
    await(f, 1);
    assert_int_equal(f->order[0], 2); /* this set is certainly not stored, so it is refused */
    assert_int_equal(f->status[2], STORE_BROKEN);
    atomic_fetch_add(&f->now, 100 * US_PER_MS);
    submit(f, 3, false); /* wakes the writer */
    await(f, 4);
    assert_int_equal(f->status[0], had_effect ? STORE_OK : STORE_BROKEN);
    assert_int_equal(f->status[1], STORE_OK);
    assert_int_equal(f->status[3], STORE_OK);
    assert_int_equal(f->sequence[0], had_effect ? 1 : 0);
    assert_int_equal(newest(f), had_effect ? 3 : 2);
}

static void unknown_members_are_reported_when_they_are_stored(void **state)
{
    settle_later(*state, true);
}

static void unknown_members_are_reported_when_they_are_not_stored(void **state)
{
    settle_later(*state, false);
}

static void a_busy_store_is_tried_again_at_once(void **state)
{
    struct fixture *f = *state;
    fail_nth(f, 1, STORE_RETRY);
    submit(f, 0, true);
    storage_start(f->store);
    await(f, 1);
    assert_int_equal(f->status[0], STORE_OK);
    assert_false(storage_is_broken(f->store));
}

/* Another process has the lease for the next `us`. */
static void give_lease_away(struct fixture *f, int64_t us)
{
    char *sql CLEANUP_FREE =
        mem_printf("INSERT INTO leases (name, holder, until, fence) VALUES ('daemon', 'other', %lld, 1)"
                   " ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until,"
                   " fence = fence + 1",
                   (long long)(atomic_load(&f->now) + us));
    store_run_sql(f->file.location, sql);
}

static void a_lost_lease_breaks_for_good_and_nobody_waits(void **state)
{
    struct fixture *f = *state;
    atomic_fetch_add(&f->now, 31 * US_PER_S);
    give_lease_away(f, US_PER_S);
    storage_start(f->store);
    submit(f, 0, true);
    await(f, 1);
    assert_int_equal(f->status[0], STORE_BROKEN);
    assert_true(storage_is_broken(f->store));
    submit(f, 1, false); /* this set can never be stored, so it is refused */
    await(f, 2);
    assert_int_equal(f->status[1], STORE_BROKEN);
    atomic_fetch_add(&f->now, 60 * US_PER_S);
    submit(f, 2, true);
    await(f, 3);
    storage_close(f->store);
    assert_int_equal(f->reports[1], 1);
    assert_int_equal(newest(f), 0);
    open_store(f, "me");
}

/* The store is locked, and the message has this word. */
static void expect_locked(struct fixture *f, const char *word)
{
    struct storage *second = NULL;
    char *error = NULL;
    assert_int_equal(storage_open(&f->file.backend, f->file.location, "second", &f->env, &second, &error),
                     STORE_LOCKED);
    assert_non_null(strstr(error, word));
    free(error);
}

static void a_lease_is_renewed_and_respected(void **state)
{
    struct fixture *f = *state;
    storage_start(f->store);
    atomic_fetch_add(&f->now, 11 * US_PER_S);
    submit(f, 0, true);
    await(f, 1);
    assert_true(store_number(f->file.location, "SELECT until FROM leases") >
                atomic_load(&f->now) + 29 * US_PER_S);
    assert_int_equal(store_number(f->file.location, "SELECT fence FROM leases"), 1);
    expect_locked(f, "in use by process");
}

/* Without a lock of the file, only the lease says that the holder may still be alive. */
static void a_store_that_daemons_share_is_locked_by_its_lease(void **state)
{
    struct fixture *f = *state;
    storage_close(f->store);
    f->file.backend.shared_by_replicas = true;
    give_lease_away(f, US_PER_S);
    expect_locked(f, "other");
    atomic_fetch_add(&f->now, 2 * US_PER_S);
    open_store(f, "me");
}

static void close_tries_again_before_the_back_off_ends(void **state)
{
    struct fixture *f = *state;
    fail_nth(f, 1, STORE_BROKEN);
    submit(f, 0, false);
    storage_start(f->store);
    while (!storage_is_broken(f->store))
        ;
    storage_close(f->store); /* the close tries again at once, in spite of the back-off */
    assert_int_equal(f->status[0], STORE_OK);
    open_store(f, "me");
}

#define RUN_TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        RUN_TEST(changes_queued_before_the_start_are_one_commit_in_order),
        RUN_TEST(sets_without_a_change_are_not_written),
        RUN_TEST(many_threads_share_commits_and_each_set_is_reported_once),
        RUN_TEST(one_bad_set_does_not_hurt_the_others),
        RUN_TEST(close_commits_what_is_queued),
        RUN_TEST(queries_are_copied_and_answered),
        RUN_TEST(a_broken_store_refuses_some_and_keeps_the_others_in_order),
        RUN_TEST(an_uncertain_commit_is_read_back),
        RUN_TEST(a_failed_commit_that_had_effect_is_no_refusal),
        RUN_TEST(and_its_audit_entry_is_there_once),
        RUN_TEST(unknown_members_are_reported_when_they_are_stored),
        RUN_TEST(unknown_members_are_reported_when_they_are_not_stored),
        RUN_TEST(a_busy_store_is_tried_again_at_once),
        RUN_TEST(a_lost_lease_breaks_for_good_and_nobody_waits),
        RUN_TEST(a_lease_is_renewed_and_respected),
        RUN_TEST(a_store_that_daemons_share_is_locked_by_its_lease),
        RUN_TEST(close_tries_again_before_the_back_off_ends),
    };
    return cmocka_run_group_tests_name("running store", tests, NULL, NULL);
}

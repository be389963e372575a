/* How long ended things are kept: operations, events, deliveries. On a virtual clock. */
#include "tests/support/check.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/attrs.h"
#include "base/log.h"
#include "base/mem.h"
#include "tests/support/running.h"
#include "tests/support/shown.h"

#define HOUR (3600 * US_PER_S)

/*
 * A day of these tests, and how many of them operations are kept. Rows are purged once an hour, so a day
 * of six hours shows the same as a whole one; a month of whole days takes a minute with a sanitizer.
 */
enum { SHORT_DAY_H = 6, SHORT_DAYS_KEPT = 3, FULL_DAY_H = 24, FULL_DAYS_KEPT = 30 };
static int64_t day = SHORT_DAY_H * HOUR;
static int days_kept = SHORT_DAYS_KEPT;

/* The time before and after the end of a period. It is longer than the hour between two purges. */
#define MARGIN (2 * HOUR)

/* Cleura has no shoots and refuses each create. */
static struct canned_answer refuse(void *ctx, const struct seen_request *request)
{
    bool post = !strcmp(request->method, "POST");
    if (strstr(request->url, "/cloud-profiles"))
        return answer_with(200, small_catalog);
    if (strstr(request->url, "/shoots/"))
        return post ? answer_with(400, "{}") : answer_with(200, "[]");
    return answer_with(201, "{\"result\":\"login_ok\",\"token\":\"t1\"}");
}

static size_t operations_shown(struct running *d)
{
    const struct view_snapshot *s = view_enter(d->view);
    size_t count = s->sections[VIEW_OPERATIONS].count;
    view_leave(d->view);
    return count;
}

static void create(struct running *d, const char *name)
{
    struct command *cmd =
        running_command(d, COMMAND_CLUSTER_CREATE, "p00", NULL, json_pack("{ss}", "name", name));
    running_post(d, cmd);
    running_run(d, 60 * US_PER_S);
    assert_true(running_answered(cmd));
    assert_int_equal(cmd->reply.status, 202);
    command_free(cmd);
}

static void ao6_operations_are_kept_as_many_days_as_configured(void **state)
{
    struct running *d = MEM_NEW(struct running);
    const struct polling polling = {12 * HOUR, 12 * HOUR, 12 * HOUR};
    running_init(d, 3, 1, &polling);
    d->config.operations_keep_us = days_kept * day;
    d->respond = refuse;
    running_start(d);
    create(d, "early");
    running_run(d, day);
    create(d, "late");
    running_run(d, (days_kept - 1) * day - MARGIN);
    assert_int_equal(operations_shown(d), 2);
    running_run(d, 2 * MARGIN);
    assert_int_equal(operations_shown(d), 1);
    running_run(d, day);
    assert_int_equal(operations_shown(d), 0);
    (void)running_kill(d, false);
    running_start(d);
    assert_int_equal(operations_shown(d), 0);
    (void)running_kill(d, false);
    running_done(d);
    free(d);
}

/* The shoot "early", which somebody else makes. */
#define STRANGER                                                                        \
    "{\"name\":\"early\",\"uid\":\"11111111-8888-4777-8666-555555555555\","             \
    "\"kubernetes\":{\"version\":\"1.33.7\"},\"shoot_provider\":{\"workers\":[]},"      \
    "\"last_operation\":{\"type\":\"Create\",\"state\":\"Succeeded\",\"progress\":100," \
    "\"description\":\"\",\"last_update_time\":\"2026-03-01T12:00:00Z\"},\"status\":{"  \
    "\"is_hibernated\":false,\"conditions\":[],\"constraints\":[],\"last_errors\":[]}}"

struct stranger {
    bool is_there;
    unsigned deletes; /* the number of DELETE calls */
};

static struct canned_answer refuse_or_show(void *ctx, const struct seen_request *request)
{
    struct stranger *stranger = ctx;
    stranger->deletes += !strcmp(request->method, "DELETE");
    if (stranger->is_there && !strcmp(request->method, "GET") && strstr(request->url, "/shoots/"))
        return answer_with(200, strstr(request->url, "/early") ? STRANGER : "[" STRANGER "]");
    return refuse(NULL, request);
}

static bool is_managed(struct running *d, const char *key)
{
    const struct view_snapshot *s = view_enter(d->view);
    const struct view_blob *blob = view_find(s, VIEW_CLUSTERS, key);
    assert_non_null(blob);
    struct cluster *c CLEANUP_CLUSTER = shown_cluster(blob);
    view_leave(d->view);
    return c->managed;
}

/* The operation of a refused create is removed from the store, and shootd starts again. A shoot that then
 * gets the name of the record belongs to somebody else. */
static void a_shoot_with_the_name_of_a_forgotten_create_is_not_managed(void **state)
{
    struct stranger stranger = {0};
    struct running *d = MEM_NEW(struct running);
    const struct polling polling = {12 * HOUR, 12 * HOUR, 12 * HOUR};
    running_init(d, 3, 1, &polling);
    d->config.operations_keep_us = day;
    d->respond = refuse_or_show;
    d->ctx = &stranger;
    running_start(d);
    create(d, "early");
    assert_true(is_managed(d, "p00/early"));
    running_run(d, day + MARGIN);
    assert_int_equal(operations_shown(d), 0);
    (void)running_kill(d, false);
    stranger.is_there = true;
    running_start(d);
    running_run(d, 60 * US_PER_S);
    assert_false(is_managed(d, "p00/early"));
    struct command *cmd = running_command(d, COMMAND_CLUSTER_DELETE, "p00", "early", NULL);
    running_post(d, cmd);
    running_run(d, HOUR);
    assert_true(running_answered(cmd));
    assert_int_equal(cmd->reply.problem->code, PROBLEM_NOT_MANAGED);
    assert_int_equal(stranger.deletes, 0);
    command_free(cmd);
    (void)running_kill(d, false);
    running_done(d);
    free(d);
}

static size_t audit_count(struct running *d)
{
    struct command *cmd = running_command(d, COMMAND_AUDIT, NULL, NULL, NULL);
    cmd->audit.query.limit = 100;
    running_post(d, cmd);
    for (int i = 0; i < 10000 && !running_answered(cmd); i++) {
        (void)usleep(100); /* waits for the reader of the store, which is a separate thread */
        loop_turn(d->loop, d->world.now);
    }
    assert_true(running_answered(cmd));
    json_t *entries CLEANUP_JSON = json_parse_lenient(cmd->reply.text, strlen(cmd->reply.text), NULL);
    command_free(cmd);
    return json_array_size(entries);
}

static void operations_and_audit_are_kept_as_configured(void **state)
{
    struct running *d = MEM_NEW(struct running);
    const struct polling polling = {12 * HOUR, 12 * HOUR, 12 * HOUR};
    running_init(d, 3, 1, &polling);
    d->config.operations_keep_us = 2 * day;
    d->config.audit_keep_us = 4 * day;
    d->respond = refuse;
    running_start(d);
    create(d, "early");
    const size_t entries = audit_count(d);
    assert_true(entries >= 2);
    running_run(d, 2 * day - MARGIN);
    assert_int_equal(operations_shown(d), 1);
    running_run(d, 2 * MARGIN);
    assert_int_equal(operations_shown(d), 0);
    assert_int_equal(audit_count(d), entries);
    running_run(d, 2 * day);
    assert_int_equal(audit_count(d), 0);
    (void)running_kill(d, false);
    running_done(d);
    free(d);
}

/* Reads the event log as a page. */
static void read_log(struct running *d, int64_t *ret_oldest, int64_t *ret_newest)
{
    struct command *cmd = running_command(d, COMMAND_EVENTS, NULL, NULL, NULL);
    cmd->events.limit = 100;
    running_post(d, cmd);
    for (int i = 0; i < 10000 && !running_answered(cmd); i++) {
        (void)usleep(100); /* waits for the reader of the store, which is a separate thread */
        loop_turn(d->loop, d->world.now);
    }
    assert_true(running_answered(cmd));
    json_t *items CLEANUP_JSON = json_parse_lenient(cmd->reply.text, strlen(cmd->reply.text), NULL);
    size_t i;
    json_t *item;
    *ret_oldest = cmd->events.oldest;
    *ret_newest = cmd->events.newest;
    json_array_foreach (items, i, item)
        assert_int_equal(json_int(item, "sequence", -1), *ret_oldest + (int64_t)i);
    command_free(cmd);
}

static void events_are_kept_as_long_and_as_many_as_configured(void **state)
{
    struct running *d = MEM_NEW(struct running);
    const struct polling polling = {12 * HOUR, 12 * HOUR, 12 * HOUR};
    int64_t oldest, newest, early, late;
    running_init(d, 5, 1, &polling);
    d->config.events.keep_us = 3 * day;
    d->respond = refuse;
    running_start(d);
    create(d, "early");
    read_log(d, &oldest, &early);
    assert_int_equal(oldest, 1);
    assert_true(early >= 2);
    running_run(d, day);
    create(d, "late");
    running_run(d, 2 * day - MARGIN);
    read_log(d, &oldest, &late);
    assert_int_equal(oldest, 1);
    running_run(d, 2 * MARGIN);
    read_log(d, &oldest, &newest);
    assert_int_equal(oldest, early + 1);
    assert_int_equal(newest, late);
    d->config.events.keep_count = 1;
    running_run(d, MARGIN);
    read_log(d, &oldest, &newest);
    assert_int_equal(oldest, late);
    running_run(d, 2 * day);
    read_log(d, &oldest, &newest);
    assert_int_equal(oldest, 0);
    assert_int_equal(newest, late);
    struct feed_numbers numbers;
    feed_numbers(d->feed, &numbers);
    assert_int_equal(numbers.newest, late);
    (void)running_kill(d, false);
    running_start(d); /* the numbers of events continue after the restart */
    assert_int_equal(feed_newest(d->feed), late);
    create(d, "again");
    read_log(d, &oldest, &newest);
    assert_int_equal(oldest, late + 1);
    (void)running_kill(d, false);
    running_done(d);
    free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ao6_operations_are_kept_as_many_days_as_configured),
        cmocka_unit_test(a_shoot_with_the_name_of_a_forgotten_create_is_not_managed),
        cmocka_unit_test(operations_and_audit_are_kept_as_configured),
        cmocka_unit_test(events_are_kept_as_long_and_as_many_as_configured),
    };
    log_set_level(LOG_LEVEL_ERROR);
    if (getenv("FULL")) {
        day = FULL_DAY_H * HOUR;
        days_kept = FULL_DAYS_KEPT;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}

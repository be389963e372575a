/* Records of clusters whose create perhaps never reached Cleura: cancelled deletes, and shoots that appear
 * later. On a virtual clock. */
#include "tests/support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/log.h"
#include "base/mem.h"
#include "tests/support/running.h"
#include "tests/support/shown.h"

#define MINUTE (60 * US_PER_S)

/* Cleura, where only the shoot "web" may exist. */
struct cleura {
    bool away;
    bool loses;               /* the next create gets no answer, then Cleura is away */
    bool arrives;             /* the lost create makes the shoot */
    bool accepts;             /* the next create makes the shoot, and is answered */
    bool hides_uid;           /* the answers have no uid */
    bool is_reconciled;       /* the last operation of the shoot is not the create any more */
    int64_t refuses_after_us; /* creates are refused after this time */
    unsigned stranger_after;  /* after so many single reads of the absent shoot, somebody else makes it */
    const char *version;      /* the version of the shoot; NULL: there is no shoot */
    bool is_blurred;          /* the answers have neither the version nor the pools */
    unsigned creates, deletes;
};

static const char shoot_form[] =
    "%s{\"name\":\"web\",\"uid\":\"%s\","
    "\"kubernetes\":{\"version\":\"%s\"},"
    "\"shoot_provider\":{\"workers\":[{\"name\":\"a\",\"machine\":{\"type\":\"b.2c4gb\",\"image\":"
    "{\"name\":\"gardenlinux\",\"version\":\"1877.9.0\"}},\"minimum\":1,\"maximum\":1,\"max_surge\":1,"
    "\"volume\":{\"size\":\"50Gi\"},\"zones\":[\"nova\"]}]},\"last_operation\":{\"type\":\"%s\","
    "\"state\":\"Succeeded\",\"progress\":100,\"description\":\"\","
    "\"last_update_time\":\"2026-03-01T12:00:00Z\"},\"status\":{\"is_hibernated\":false,"
    "\"conditions\":[],\"constraints\":[],\"last_errors\":[]}}%s";

static const char blurred_form[] =
    "%s{\"name\":\"web\",\"uid\":\"11111111-8888-4777-8666-555555555555\",\"last_operation\":"
    "{\"type\":\"Create\",\"state\":\"Succeeded\",\"progress\":100,\"description\":\"\","
    "\"last_update_time\":\"2026-03-01T12:00:00Z\"},\"status\":{\"is_hibernated\":false,"
    "\"conditions\":[],\"constraints\":[],\"last_errors\":[]}}%s";

static struct canned_answer delete_shoot(struct cleura *cleura)
{
    cleura->deletes++;
    cleura->version = NULL;
    return answer_with(202, "");
}

static struct canned_answer read_shoots(struct cleura *cleura, bool is_list)
{
    static char text[1200];
    const bool was_there = cleura->version;
    if (!was_there && !is_list && cleura->stranger_after && !--cleura->stranger_after)
        cleura->version = "1.34.3";
    if (!was_there)
        return is_list ? answer_with(200, "[]") : answer_with(404, "{}");
    if (cleura->is_blurred)
        (void)snprintf(text, sizeof(text), blurred_form, is_list ? "[" : "", is_list ? "]" : "");
    else
        (void)snprintf(text, sizeof(text), shoot_form, is_list ? "[" : "",
                       cleura->hides_uid ? "" : "11111111-8888-4777-8666-555555555555", cleura->version,
                       cleura->is_reconciled ? "Reconcile" : "Create", is_list ? "]" : "");
    return answer_with(200, text);
}

static struct canned_answer create_shoot(struct cleura *cleura, const struct seen_request *request)
{
    struct canned_answer answer = answer_with(400, "{}");
    cleura->creates++;
    if (cleura->accepts) {
        cleura->version = "1.33.7";
        return read_shoots(cleura, false);
    }
    answer.latency_us = cleura->refuses_after_us;
    if (!cleura->loses)
        return answer;
    cleura->loses = false;
    cleura->away = true;
    cleura->version = cleura->arrives ? "1.33.7" : NULL;
    return (struct canned_answer){HTTP_TIMEOUT, 0, NULL, NULL, request->timeout_us};
}

static struct canned_answer respond(void *ctx, const struct seen_request *request)
{
    struct cleura *cleura = ctx;
    if (cleura->away)
        return (struct canned_answer){HTTP_NOT_SENT, 0, NULL, NULL, US_PER_MS};
    if (strstr(request->url, "/auth/"))
        return answer_with(201, "{\"result\":\"login_ok\",\"token\":\"t1\"}");
    if (strstr(request->url, "/cloud-profiles"))
        return answer_with(200, small_catalog);
    if (strstr(request->url, "/is-name-taken"))
        return answer_with(200, cleura->version ? "{\"is_taken\":true}" : "{\"is_taken\":false}");
    if (!strstr(request->url, "/shoots/"))
        return answer_with(200, "{}");
    if (!strcmp(request->method, "POST"))
        return create_shoot(cleura, request);
    if (!strcmp(request->method, "DELETE"))
        return delete_shoot(cleura);
    return read_shoots(cleura, !strstr(request->url, "/web"));
}

static struct running *start(struct cleura *cleura)
{
    const struct polling polling = {10 * US_PER_S, MINUTE, MINUTE};
    struct running *d = MEM_NEW(struct running);
    running_init(d, 7, 1, &polling);
    d->respond = respond;
    d->ctx = cleura;
    running_start(d);
    running_run(d, MINUTE);
    return d;
}

static void end(struct running *d)
{
    (void)running_kill(d, false);
    running_done(d);
    free(d);
}

/* ---- commands ---- */

static json_t *spec_with(const char *version)
{
    return json_pack("{ss s[{ss ss}]}", "kubernetes_version", version, "node_pools", "name", "a",
                     "machine_type", "b.2c4gb");
}

/* Posts a command, which must be accepted. Returns the id of its operation, which the caller frees. */
static char *post_accepted(struct running *d, struct command *cmd)
{
    running_post(d, cmd);
    running_run(d, 10 * US_PER_S);
    assert_true(running_answered(cmd));
    assert_null(cmd->reply.problem);
    assert_int_equal(cmd->reply.status, 202);
    char *operation = mem_strdup(cmd->reply.operation_id);
    command_free(cmd);
    return operation;
}

static char *post_create(struct running *d)
{
    return post_accepted(d,
                         running_command(d, COMMAND_CLUSTER_CREATE, "p00", NULL,
                                         json_pack("{ss so}", "name", "web", "spec", spec_with("1.33.7"))));
}

static char *post_put(struct running *d, const char *version)
{
    return post_accepted(d, running_command(d, COMMAND_CLUSTER_PUT, "p00", "web",
                                            json_pack("{so}", "spec", spec_with(version))));
}

static char *post_delete(struct running *d)
{
    return post_accepted(d, running_command(d, COMMAND_CLUSTER_DELETE, "p00", "web", NULL));
}

static void cancel(struct running *d, const char *operation)
{
    struct command *cmd = running_command(d, COMMAND_OPERATION_CANCEL, NULL, NULL, NULL);
    (void)snprintf(cmd->id, sizeof(cmd->id), "%s", operation);
    running_post(d, cmd);
    running_run(d, 10 * US_PER_S);
    assert_true(running_answered(cmd));
    assert_null(cmd->reply.problem);
    command_free(cmd);
}

static void expect_not_managed(struct running *d)
{
    struct command *cmd = running_command(d, COMMAND_CLUSTER_DELETE, "p00", "web", NULL);
    running_post(d, cmd);
    running_run(d, 10 * US_PER_S);
    assert_true(running_answered(cmd));
    assert_non_null(cmd->reply.problem);
    assert_int_equal(cmd->reply.problem->code, PROBLEM_NOT_MANAGED);
    command_free(cmd);
}

static void expect_operation(struct running *d, const char *id, enum operation_status status)
{
    const struct view_snapshot *s = view_enter(d->view);
    const struct view_blob *blob = view_find(s, VIEW_OPERATIONS, id);
    assert_non_null(blob);
    const struct operation *op = blob->subject;
    assert_int_equal(op->status, status);
    view_leave(d->view);
}

/* The answer to the create is lost, and Cleura is away. The delete that follows is cancelled. */
static struct running *start_with_cancelled_delete(struct cleura *cleura)
{
    struct running *d = start(cleura);
    cleura->loses = true;
    char *created CLEANUP_FREE = post_create(d);
    running_run(d, 3 * MINUTE);
    assert_int_equal(cleura->creates, 1);
    expect_cluster(d->view, "p00/web", "pending managed");
    char *deleted CLEANUP_FREE = post_delete(d);
    running_run(d, 5 * MINUTE);
    expect_operation(d, created, OPERATION_CANCELLED); /* the delete has replaced it */
    expect_cluster(d->view, "p00/web", "deleting managed");
    cancel(d, deleted);
    running_run(d, 5 * MINUTE);
    expect_operation(d, deleted, OPERATION_CANCELLED);
    expect_cluster(d->view, "p00/web", "failed managed");
    return d;
}

/* ---- expectations ---- */

static void a_create_may_replace_a_record_whose_delete_was_cancelled(void **state)
{
    struct cleura cleura = {0};
    struct running *d = start_with_cancelled_delete(&cleura);
    (void)running_kill(d, false);
    running_start(d);
    cleura.away = false;
    running_run(d, 10 * MINUTE);
    expect_cluster(d->view, "p00/web", "failed managed");
    char *created CLEANUP_FREE = post_put(d, "1.33.7");
    running_run(d, MINUTE);
    assert_int_equal(cleura.creates, 2);
    expect_operation(d, created, OPERATION_FAILED); /* this Cleura refuses it */
    end(d);
}

static void a_lost_create_that_arrived_is_managed_after_a_cancelled_delete(void **state)
{
    struct cleura cleura = {.arrives = true};
    struct running *d = start_with_cancelled_delete(&cleura);
    cleura.away = false;
    running_run(d, 10 * MINUTE);
    expect_cluster(d->view, "p00/web", "ready managed");
    char *deleted CLEANUP_FREE = post_delete(d);
    running_run(d, 10 * MINUTE);
    expect_operation(d, deleted, OPERATION_SUCCEEDED);
    expect_cluster(d->view, "p00/web", "none");
    assert_int_equal(cleura.deletes, 1);
    end(d);
}

/* An answer that shows too little decides nothing, for ten minutes. Then the shoot is shown, but not as
 * shootd's own. */
static void a_lost_create_is_known_when_an_answer_shows_enough(void **state)
{
    for (int is_in_time = 0; is_in_time <= 1; is_in_time++) {
        struct cleura cleura = {.arrives = true, .is_blurred = true};
        struct running *d = start_with_cancelled_delete(&cleura);
        cleura.away = false;
        running_run(d, 9 * MINUTE);
        expect_cluster(d->view, "p00/web", "failed managed");
        cleura.is_blurred = !is_in_time;
        running_run(d, 10 * MINUTE);
        expect_cluster(d->view, "p00/web", is_in_time ? "ready managed" : "ready");
        end(d);
    }
}

static void a_second_delete_knows_the_lost_create(void **state)
{
    struct cleura cleura = {.arrives = true};
    struct running *d = start_with_cancelled_delete(&cleura);
    char *deleted CLEANUP_FREE = post_delete(d);
    cleura.away = false;
    running_run(d, 10 * MINUTE);
    expect_operation(d, deleted, OPERATION_SUCCEEDED);
    expect_cluster(d->view, "p00/web", "none");
    assert_int_equal(cleura.deletes, 1);
    end(d);
}

static void a_strange_shoot_is_not_managed_after_a_cancelled_delete(void **state)
{
    struct cleura cleura = {0};
    struct running *d = start_with_cancelled_delete(&cleura);
    cleura.version = "1.34.3";
    cleura.away = false;
    running_run(d, 10 * MINUTE);
    expect_cluster(d->view, "p00/web", "ready");
    expect_not_managed(d);
    assert_int_equal(cleura.deletes, 0);
    end(d);
}

/* The create had no effect, and its deletion finds nothing. While the deletion waits, in case the create
 * still has its effect, somebody else makes a cluster with the name. */
static void a_delete_ends_although_a_stranger_takes_the_name(void **state)
{
    for (unsigned reads = 1; reads <= 3; reads++) {
        struct cleura cleura = {.loses = true, .stranger_after = reads};
        struct running *d = start(&cleura);
        char *created CLEANUP_FREE = post_create(d);
        char *deleted CLEANUP_FREE = post_delete(d);
        cleura.away = false;
        running_run(d, 15 * MINUTE);
        expect_operation(d, deleted, OPERATION_SUCCEEDED);
        expect_cluster(d->view, "p00/web", "ready");
        expect_not_managed(d);
        assert_int_equal(cleura.deletes, 0);
        end(d);
    }
}

/* The create is on its way when its delete is cancelled. */
static void a_cancelled_delete_lets_the_create_continue(void **state)
{
    struct cleura cleura = {.refuses_after_us = 50 * US_PER_S};
    struct running *d = start(&cleura);
    char *created CLEANUP_FREE = post_create(d);
    char *deleted CLEANUP_FREE = post_delete(d);
    expect_cluster(d->view, "p00/web", "deleting managed");
    cancel(d, deleted);
    expect_operation(d, deleted, OPERATION_CANCELLED);
    expect_operation(d, created, OPERATION_RUNNING);
    expect_cluster(d->view, "p00/web", "pending managed");
    running_run(d, MINUTE);
    expect_operation(d, created, OPERATION_FAILED);
    expect_cluster(d->view, "p00/web", "failed managed");
    end(d);
}

/* The answer to the create is lost, and a repetition is refused. Then the change behind it fails. The create
 * still shows whose shoot it is that appears later. */
static void a_lost_create_is_known_after_the_change_behind_it(void **state)
{
    struct cleura cleura = {.loses = true};
    struct running *d = start(&cleura);
    char *created CLEANUP_FREE = post_create(d);
    running_run(d, 3 * MINUTE);
    char *changed CLEANUP_FREE = post_put(d, "1.34.3");
    cleura.away = false;
    running_run(d, 60 * MINUTE);
    expect_operation(d, created, OPERATION_FAILED);
    expect_operation(d, changed, OPERATION_FAILED);
    expect_cluster(d->view, "p00/web", "failed managed");
    cleura.version = "1.33.7";
    running_run(d, 10 * MINUTE);
    expect_cluster(d->view, "p00/web", "ready managed");
    end(d);
}

/* A change waits for the create, which Cleura refuses. Then somebody else makes the shoot that was
 * requested. */
static void a_refused_create_is_known_after_the_change_behind_it(void **state)
{
    struct cleura cleura = {.refuses_after_us = 30 * US_PER_S};
    struct running *d = start(&cleura);
    char *created CLEANUP_FREE = post_create(d);
    char *changed CLEANUP_FREE = post_put(d, "1.34.3");
    running_run(d, MINUTE);
    expect_operation(d, created, OPERATION_FAILED);
    expect_operation(d, changed, OPERATION_FAILED);
    expect_cluster(d->view, "p00/web", "failed managed");
    cleura.version = "1.33.7";
    running_run(d, 10 * MINUTE);
    expect_cluster(d->view, "p00/web", "ready");
    expect_not_managed(d);
    assert_int_equal(cleura.deletes, 0);
    end(d);
}

/* Cleura accepts the create, and never shows the uid. A later run changes what the create requested. */
static void a_cluster_whose_uid_is_never_shown_stays(void **state)
{
    struct cleura cleura = {.accepts = true, .hides_uid = true};
    struct running *d = start(&cleura);
    char *created CLEANUP_FREE = post_create(d);
    running_run(d, 10 * MINUTE);
    expect_operation(d, created, OPERATION_SUCCEEDED);
    expect_cluster(d->view, "p00/web", "ready managed");
    cleura.is_reconciled = true;
    cleura.version = "1.33.8";
    running_run(d, 30 * MINUTE);
    expect_cluster(d->view, "p00/web", "ready managed");
    end(d);
}

static void a_change_whose_create_cannot_be_read_fails(void **state)
{
    struct cleura cleura = {0};
    struct running *d = start(&cleura);
    cleura.away = true;
    char *created CLEANUP_FREE = post_create(d);
    char *put CLEANUP_FREE = post_put(d, "1.34.3");
    (void)running_kill(d, false);
    char *sql CLEANUP_FREE = mem_printf("DELETE FROM operations WHERE id = '%s'", created);
    store_run_sql(d->store.location, sql);
    running_start(d);
    running_run(d, MINUTE);
    expect_operation(d, put, OPERATION_FAILED);
    end(d);
}

static void a_delete_whose_first_step_is_not_the_call_is_set_aside(void **state)
{
    struct cleura cleura = {0};
    struct running *d = start(&cleura);
    cleura.accepts = true;
    char *created CLEANUP_FREE = post_create(d);
    running_run(d, 5 * MINUTE);
    cleura.away = true;
    char *del CLEANUP_FREE = post_delete(d);
    (void)running_kill(d, false);
    char *sql CLEANUP_FREE = mem_printf(
        "UPDATE operations SET doc = replace(doc, 'delete_shoot', 'wait_gone') WHERE id = '%s'", del);
    store_run_sql(d->store.location, sql);
    cleura.away = false;
    running_start(d);
    running_run(d, 5 * MINUTE);
    end(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_create_may_replace_a_record_whose_delete_was_cancelled),
        cmocka_unit_test(a_lost_create_that_arrived_is_managed_after_a_cancelled_delete),
        cmocka_unit_test(a_lost_create_is_known_when_an_answer_shows_enough),
        cmocka_unit_test(a_second_delete_knows_the_lost_create),
        cmocka_unit_test(a_strange_shoot_is_not_managed_after_a_cancelled_delete),
        cmocka_unit_test(a_delete_ends_although_a_stranger_takes_the_name),
        cmocka_unit_test(a_cancelled_delete_lets_the_create_continue),
        cmocka_unit_test(a_lost_create_is_known_after_the_change_behind_it),
        cmocka_unit_test(a_refused_create_is_known_after_the_change_behind_it),
        cmocka_unit_test(a_cluster_whose_uid_is_never_shown_stays),
        cmocka_unit_test(a_change_whose_create_cannot_be_read_fails),
        cmocka_unit_test(a_delete_whose_first_step_is_not_the_call_is_set_aside),
    };
    log_set_level(LOG_LEVEL_ERROR);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

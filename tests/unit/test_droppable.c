/* No decision depends on a change that the store may still refuse. On a virtual clock; the store answers in
 * the next turn. */
#include "tests/support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/log.h"
#include "base/mem.h"
#include "model/webhook.h"
#include "tests/support/one_shoot.h"
#include "tests/support/shown.h"

#define UID "11111111-8888-4777-8666-555555555555"

static void settle(struct running *d)
{
    running_run(d, US_PER_S);
}

static struct command *make_token(struct running *d, const char *role)
{
    struct command *cmd =
        running_command(d, COMMAND_TOKEN_CREATE, NULL, NULL,
                        json_pack("{sssss[s]}", "name", "other", "role", role, "projects", "*"));
    running_post(d, cmd);
    return cmd;
}

/* Copies the id of the token that the daemon made. There must be no other token. */
static void first_admin(struct running *d, char id[static 40])
{
    const struct view_snapshot *s = view_enter(d->view);
    struct view_cursor place = view_seek(s, VIEW_TOKENS, "");
    assert_int_equal(s->sections[VIEW_TOKENS].count, 1);
    const struct api_token *t = view_next(&place)->blob->subject;
    memcpy(id, t->id, sizeof(t->id));
    view_leave(d->view);
}

static struct command *post_about(struct running *d, const char *id, enum command_type type, json_t *body)
{
    struct command *cmd = running_command(d, type, NULL, NULL, body);
    memcpy(cmd->id, id, sizeof(cmd->id));
    running_post(d, cmd);
    return cmd;
}

static void expect_code(struct command *cmd, int code)
{
    assert_true(running_answered(cmd));
    assert_int_equal(cmd->reply.problem ? (int)cmd->reply.problem->code : -1, code);
    command_free(cmd);
}

static void a_new_admin_counts_when_it_is_stored(void **state)
{
    struct one_shoot cleura = {.uid = UID};
    struct running *d = one_shoot_start(&cleura);
    char admin[40];
    first_admin(d, admin);
    struct command *made = make_token(d, "admin");
    expect_code(post_about(d, admin, COMMAND_TOKEN_DELETE, NULL), PROBLEM_LAST_ADMIN);
    expect_code(post_about(d, admin, COMMAND_TOKEN_PATCH, json_pack("{s[s]}", "projects", "p00")),
                PROBLEM_LAST_ADMIN);
    settle(d);
    expect_code(made, -1);
    struct command *removed = post_about(d, admin, COMMAND_TOKEN_DELETE, NULL);
    settle(d);
    expect_code(removed, -1);
    one_shoot_end(d);
}

/* `text`: the state of the only webhook, such as "disabled revoked". */
static void expect_webhook(struct running *d, const char *text)
{
    const struct view_snapshot *s = view_enter(d->view);
    struct view_cursor place = view_seek(s, VIEW_WEBHOOKS, "");
    assert_int_equal(s->sections[VIEW_WEBHOOKS].count, 1);
    const struct view_blob *blob = view_next(&place)->blob;
    json_t *doc CLEANUP_JSON = json_loadb(blob->body, blob->body_len, 0, NULL);
    char *shown CLEANUP_FREE = mem_printf("%s%s", json_str(json_obj(doc, "status"), "state"),
                                          json_str(doc, "token_revoked_at") ? " revoked" : "");
    view_leave(d->view);
    assert_string_equal(shown, text);
}

/* Requests a webhook with the token that `token_made` made. */
static struct command *request_webhook(struct running *d, const struct command *token_made)
{
    json_t *token CLEANUP_JSON = json_loads(token_made->reply.text, 0, NULL);
    struct command *webhook = running_command(d, COMMAND_WEBHOOK_CREATE, NULL, NULL,
                                              json_pack("{ss}", "url", "https://example.com/"));
    memcpy(webhook->caller.token_id, token_made->id, sizeof(token_made->id));
    token_digest(json_str(token, "token"), webhook->caller.digest);
    running_post(d, webhook);
    return webhook;
}

/* Makes a webhook whose receiver never answers, and copies its id. */
static void make_webhook(struct running *d, char id[static 40])
{
    struct command *token = make_token(d, "operator");
    settle(d);
    struct command *made = request_webhook(d, token);
    settle(d);
    json_t *webhook CLEANUP_JSON = json_loads(made->reply.text, 0, NULL);
    (void)snprintf(id, 40, "%s", json_str(webhook, "id"));
    expect_code(made, -1);
    expect_code(token, -1);
}

/* A token requests a webhook and is revoked directly after that. The webhook must not deliver events. */
static void a_webhook_that_is_being_stored_hears_that_its_token_is_revoked(void **state)
{
    struct one_shoot cleura = {.uid = UID};
    struct running *d = one_shoot_start(&cleura);
    struct command *made = make_token(d, "operator");
    settle(d);
    struct command *webhook = request_webhook(d, made);
    struct command *revoked = running_command(d, COMMAND_TOKEN_DELETE, NULL, NULL, NULL);
    memcpy(revoked->id, made->id, sizeof(made->id));
    revoked->token.disables_webhooks = true;
    running_post(d, revoked);
    settle(d);
    expect_code(webhook, -1);
    expect_code(revoked, -1);
    expect_code(made, -1);
    expect_webhook(d, "disabled revoked");
    one_shoot_end(d);
}

static struct canned_answer never(void *ctx, const struct seen_request *request)
{
    return (struct canned_answer){HTTP_TIMEOUT, 0, NULL, NULL, request->timeout_us};
}

enum { TESTS_AT_ONCE = 100 };

/* Requests this many tests of a webhook together. Returns how many were accepted, the others get 429. Copies
 * the id of the last delivery that was made, if there is one. */
static int post_tests(struct running *d, const char *id, char delivery[static 40])
{
    struct command *tests[TESTS_AT_ONCE];
    int accepted = 0;
    for (int i = 0; i < TESTS_AT_ONCE; i++)
        tests[i] = post_about(d, id, COMMAND_WEBHOOK_TEST, NULL);
    settle(d);
    for (int i = 0; i < TESTS_AT_ONCE; i++) {
        const struct problem *problem = tests[i]->reply.problem;
        json_t *made CLEANUP_JSON = problem ? NULL : json_loads(tests[i]->reply.text, 0, NULL);
        if (made)
            (void)snprintf(delivery, 40, "%s", json_str(made, "id"));
        accepted += !problem;
        assert_int_equal(problem ? problem->retry_after_s : 60, 60);
        expect_code(tests[i], problem ? PROBLEM_TOO_MANY_REQUESTS : -1);
    }
    return accepted;
}

static struct command *post_redeliver(struct running *d, const char *id, const char *delivery)
{
    struct command *cmd = running_command(d, COMMAND_REDELIVER, NULL, NULL, NULL);
    memcpy(cmd->id, id, sizeof(cmd->id));
    cmd->webhook.delivery = mem_strdup(delivery);
    running_post(d, cmd);
    settle(d);
    return cmd;
}

/* A client requests one test after the other. The deliveries that wait stay in memory, so they have a bound.
 */
static void tests_of_a_webhook_that_does_not_answer_have_a_bound(void **state)
{
    enum { ROUNDS = 12, MAX = 1000, ENDED_MEANWHILE = 50 };
    struct one_shoot cleura = {.uid = UID};
    struct running *d = one_shoot_start(&cleura);
    int accepted = 0;
    char id[40], ended[40], waiting[40], other[40];
    d->receivers->respond = never;
    make_webhook(d, id);
    struct command *first = post_about(d, id, COMMAND_WEBHOOK_TEST, NULL);
    settle(d);
    json_t *made CLEANUP_JSON = json_loads(first->reply.text, 0, NULL);
    (void)snprintf(ended, sizeof(ended), "%s", json_str(made, "id"));
    expect_code(first, -1);
    running_run(d, MINUTE); /* a test has one attempt */
    accepted += post_tests(d, id, waiting);
    for (int i = 1; i < ROUNDS; i++)
        accepted += post_tests(d, id, other);
    assert_in_range(accepted, MAX, MAX + ENDED_MEANWHILE);
    (void)post_tests(d, id, other);
    expect_code(post_redeliver(d, id, waiting), -1);
    expect_code(post_redeliver(d, id, ended), PROBLEM_TOO_MANY_REQUESTS);
    one_shoot_end(d);
}

/* Cleura shows another progress in each answer. Each observation is a change set, but only a few of them
 * wait. */
static void observations_do_not_pile_up_while_the_store_stands_still(void **state)
{
    char raw[600];
    struct storage_metrics store;
    struct one_shoot cleura = {.uid = UID, .state = "Processing"};
    struct running *d = one_shoot_start(&cleura);
    cleura.raw = raw;
    d->store.is_held = true;
    for (int i = 0; i < 100; i++) {
        (void)snprintf(raw, sizeof(raw),
                       "{\"name\":\"dev\",\"uid\":\"" UID "\",\"kubernetes\":{\"version\":\"1.33.7\"},"
                       "\"shoot_provider\":{\"workers\":[]},\"last_operation\":{\"type\":\"Reconcile\","
                       "\"state\":\"Processing\",\"progress\":%d,\"description\":\"\","
                       "\"last_update_time\":\"2026-03-01T12:00:00Z\"},\"status\":{\"is_hibernated\":false,"
                       "\"conditions\":[],\"constraints\":[],\"last_errors\":[]}}",
                       i);
        running_run(d, MINUTE / 6);
        storage_metrics(d->storage, &store);
        assert_true(store.queue_depth <= 3);
    }
    assert_true(store.queue_depth > 0);
    cleura.raw = NULL;
    cleura.state = "Succeeded";
    d->store.is_held = false;
    running_run(d, 10 * MINUTE);
    storage_metrics(d->storage, &store);
    assert_int_equal(store.queue_depth, 0);
    const struct view_snapshot *s = view_enter(d->view);
    struct cluster *c CLEANUP_CLUSTER = shown_cluster(view_find(s, VIEW_CLUSTERS, "p00/dev"));
    view_leave(d->view);
    assert_int_equal(c->phase, PHASE_READY);
    one_shoot_end(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_admin_counts_when_it_is_stored),
        cmocka_unit_test(a_webhook_that_is_being_stored_hears_that_its_token_is_revoked),
        cmocka_unit_test(tests_of_a_webhook_that_does_not_answer_have_a_bound),
        cmocka_unit_test(observations_do_not_pile_up_while_the_store_stands_still),
    };
    log_set_level(LOG_LEVEL_ERROR);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

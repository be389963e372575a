/* The shares of a caller and of a project: in the audit log, in the event log, of webhooks and of tokens. On
 * a virtual clock. */
#include "tests/support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "reconcile/world/event_share.h"
#include "tests/support/one_shoot.h"

#define DAY (24 * 3600 * US_PER_S)

struct test {
    struct one_shoot cleura;
    struct running *d;
    struct canned_answer (*others)(void *ctx, const struct seen_request *request);
};

static struct canned_answer respond(void *ctx, const struct seen_request *request)
{
    static const char text[] = "{\"kubeconfig\":\"kind: Config\\nclusters: []\\n\","
                               "\"expires_at\":\"2199-01-01T00:00:00Z\"}";
    struct test *t = ctx;
    return strstr(request->url, "kubeconfig") ? (struct canned_answer){HTTP_ANSWERED, 200, text, NULL, 0}
                                              : t->others(&t->cleura, request);
}

static int set_up(void **state)
{
    struct test *t = MEM_NEW(struct test);
    t->cleura.uid = "11111111-8888-4777-8666-555555555555";
    t->cleura.has_second_project = true;
    t->d = one_shoot_start(&t->cleura);
    t->others = t->d->cleura->respond;
    t->d->cleura->respond = respond;
    t->d->cleura->ctx = t;
    *state = t;
    return 0;
}

static int tear_down(void **state)
{
    struct test *t = *state;
    one_shoot_end(t->d);
    free(t);
    return 0;
}

/* Returns the code of the problem in the answer; -1: there is no problem. */
static int answer(struct test *t, struct command *cmd, int *ret_retry_after_s)
{
    running_post(t->d, cmd);
    running_run(t->d, US_PER_S / 10);
    assert_true(running_answered(cmd));
    const int code = cmd->reply.problem ? (int)cmd->reply.problem->code : -1;
    if (ret_retry_after_s)
        *ret_retry_after_s = cmd->reply.problem ? cmd->reply.problem->retry_after_s : 0;
    command_free(cmd);
    return code;
}

/* ---- the audit log ---- */

static bool holds(const struct command_caller *caller)
{
    return true;
}

static void read_kubeconfig(struct test *t, const char *address)
{
    struct command *cmd = running_command(t->d, COMMAND_KUBECONFIG, "p00", "dev", NULL);
    (void)snprintf(cmd->caller.token_id, sizeof(cmd->caller.token_id), "oidc_reader");
    (void)snprintf(cmd->caller.address, sizeof(cmd->caller.address), "%s", address);
    cmd->caller.expires_at = env_wall(&t->d->world.env) + 30 * DAY;
    cmd->caller.holds = holds;
    cmd->kubeconfig.ttl_seconds = 3600;
    cmd->action_name = "getKubeconfig";
    assert_int_equal(answer(t, cmd, NULL), -1);
}

/* `text`: "action left_out" of each entry of the reader, the newest first. */
static void expect_entries(struct test *t, const char *text)
{
    struct command *cmd = running_command(t->d, COMMAND_AUDIT, NULL, NULL, NULL);
    cmd->audit.query = (struct audit_query){.limit = 100, .tokens = mem_calloc(2, sizeof(char *))};
    cmd->audit.query.tokens[0] = mem_strdup("oidc_reader");
    running_post(t->d, cmd);
    running_run(t->d, US_PER_S / 10);
    assert_true(running_answered(cmd));
    json_t *entries CLEANUP_JSON = json_loads(cmd->reply.text, 0, NULL);
    char *found CLEANUP_FREE = mem_strdup("");
    size_t i;
    json_t *entry;
    json_array_foreach (entries, i, entry) {
        char *before CLEANUP_FREE = found;
        found = mem_printf("%s%s%s %d", before, *before ? ", " : "", json_str(entry, "address"),
                           (int)json_int(entry, "left_out", 0));
        assert_string_equal(json_str(entry, "action"), "getKubeconfig");
        assert_string_equal(json_str(entry, "cluster"), "dev");
    }
    command_free(cmd);
    assert_string_equal(found, text);
}

static void repeated_reads_of_a_secret_have_one_entry_a_minute(void **state)
{
    struct test *t = *state;
    for (int i = 0; i < 100; i++)
        read_kubeconfig(t, "192.0.2.1");
    read_kubeconfig(t, "192.0.2.2");
    expect_entries(t, "192.0.2.2 0, 192.0.2.1 0");
    running_run(t->d, MINUTE);
    expect_entries(t, "192.0.2.1 99, 192.0.2.2 0, 192.0.2.1 0");
    for (int i = 0; i < 50; i++)
        read_kubeconfig(t, "192.0.2.1");
    expect_entries(t, "192.0.2.1 99, 192.0.2.2 0, 192.0.2.1 0"); /* the minute is not over */
    running_run(t->d, 3 * MINUTE);
    expect_entries(t, "192.0.2.1 50, 192.0.2.1 99, 192.0.2.2 0, 192.0.2.1 0");
    read_kubeconfig(t, "192.0.2.1"); /* after a quiet minute the first read has an entry at once */
    expect_entries(t, "192.0.2.1 0, 192.0.2.1 50, 192.0.2.1 99, 192.0.2.2 0, 192.0.2.1 0");
}

/* ---- the event log ---- */

static struct command *label(struct test *t, const char *project, const char *name)
{
    return running_command(t->d, COMMAND_CLUSTER_PUT, project, name,
                           json_pack("{s{ss}}", "labels", "a", "b"));
}

static void a_project_waits_when_its_share_of_the_events_is_used_up(void **state)
{
    enum { SHARE = 20000 };
    struct test *t = *state;
    int retry_after_s;
    t->d->config.events.keep_count = 10 * SHARE;
    for (int i = 0; i < SHARE + 2; i++)
        event_share_spend(t->d->reconcile, "p00");
    event_share_spend(t->d->reconcile, NULL);
    event_share_spend(t->d->reconcile, "unknown");
    struct command *dry = label(t, "p00", "dev");
    dry->write.dry_run = true;
    assert_int_equal(answer(t, dry, NULL), -1);
    assert_int_equal(answer(t, label(t, "p00", "dev"), &retry_after_s), PROBLEM_TOO_MANY_REQUESTS);
    assert_in_range(retry_after_s, 1, 60);
    assert_int_equal(answer(t, label(t, "p01", "other"), NULL), -1);
    assert_int_equal(answer(t, running_command(t->d, COMMAND_CLUSTER_DELETE, "p00", "dev", NULL), NULL), -1);
}

static struct command *hook(struct test *t, const char *project)
{
    return running_command(t->d, COMMAND_WEBHOOK_CREATE, NULL, NULL,
                           json_pack("{sss[s]}", "url", "https://hooks.example.com/x", "projects", project));
}

static void webhooks_are_changed_within_the_share(void **state)
{
    enum { SHARE = 10000 }; /* the least one */
    struct test *t = *state;
    t->d->config.events.keep_count = 10;
    struct command *made = hook(t, "p00");
    running_post(t->d, made);
    running_run(t->d, US_PER_S);
    assert_true(running_answered(made) && !made->reply.problem);
    for (int i = 0; i < SHARE + 10; i++)
        event_share_spend(t->d->reconcile, "p00");
    static const enum command_type types[] = {COMMAND_WEBHOOK_PATCH, COMMAND_WEBHOOK_TEST,
                                              COMMAND_WEBHOOK_ENABLE};
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        for (int of_all = 0; of_all < 2; of_all++) {
            struct command *cmd =
                running_command(t->d, types[i], NULL, NULL, json_pack("{ss}", "description", "x"));
            mem_set_str(&cmd->caller.projects[0], of_all ? "*" : "p00");
            memcpy(cmd->id, made->id, sizeof(cmd->id));
            assert_int_equal(answer(t, cmd, NULL), of_all ? -1 : (int)PROBLEM_TOO_MANY_REQUESTS);
        }
    struct command *removed = running_command(t->d, COMMAND_WEBHOOK_DELETE, NULL, NULL, NULL);
    mem_set_str(&removed->caller.projects[0], "p00");
    memcpy(removed->id, made->id, sizeof(removed->id));
    assert_int_equal(answer(t, removed, NULL), -1);
    for (int i = 0; i < SHARE + 10; i++)
        event_share_spend(t->d->reconcile, NULL);
    assert_int_equal(answer(t, hook(t, "*"), NULL), PROBLEM_TOO_MANY_REQUESTS);
    command_free(made);
}

static void the_share_grows_back(void **state)
{
    enum { SHARE = 10000 }; /* the least one */
    struct test *t = *state;
    int retry_after_s;
    t->d->config.events.keep_count = 10;
    for (int i = 0; i < SHARE + 10; i++)
        event_share_spend(t->d->reconcile, "p00");
    assert_int_equal(answer(t, label(t, "p00", "dev"), &retry_after_s), PROBLEM_TOO_MANY_REQUESTS);
    running_run(t->d, retry_after_s * US_PER_S);
    assert_int_equal(answer(t, label(t, "p00", "dev"), NULL), -1);
}

/* ---- webhooks ---- */

static void a_project_has_a_share_of_the_webhooks(void **state)
{
    enum { SHARE = 100, SHARE_OF_ALL = 500 };
    struct test *t = *state;
    for (int i = 0; i < SHARE; i++)
        assert_int_equal(answer(t, hook(t, "p00"), NULL), -1);
    assert_int_equal(answer(t, hook(t, "p00"), NULL), PROBLEM_ACTION_NOT_POSSIBLE);
    for (int i = 0; i < SHARE_OF_ALL; i++)
        assert_int_equal(answer(t, hook(t, "*"), NULL), -1);
    assert_int_equal(answer(t, hook(t, "*"), NULL), PROBLEM_ACTION_NOT_POSSIBLE);
    struct command *other = hook(t, "p01");
    running_post(t->d, other);
    running_run(t->d, US_PER_S);
    assert_true(running_answered(other) && !other->reply.problem);
    struct command *move = running_command(t->d, COMMAND_WEBHOOK_PATCH, NULL, NULL,
                                           json_pack("{s[ss]}", "projects", "p01", "p00"));
    memcpy(move->id, other->id, sizeof(move->id));
    assert_int_equal(answer(t, move, NULL), PROBLEM_ACTION_NOT_POSSIBLE);
    struct command *same =
        running_command(t->d, COMMAND_WEBHOOK_PATCH, NULL, NULL, json_pack("{s[s]}", "projects", "p01"));
    memcpy(same->id, other->id, sizeof(same->id));
    assert_int_equal(answer(t, same, NULL), -1);
    command_free(other);
}

/* ---- tokens ---- */

static struct command *token(struct test *t, const char *maker)
{
    struct command *cmd = running_command(
        t->d, COMMAND_TOKEN_CREATE, NULL, NULL,
        json_pack("{sssss[s]si}", "name", "ci", "role", "viewer", "projects", "*", "expires_in_days", 1));
    cmd->caller.role = ROLE_ADMIN;
    mem_set_str(&cmd->caller.token_name, maker);
    return cmd;
}

static void a_maker_has_at_most_1000_valid_tokens(void **state)
{
    enum { MOST = 1000 };
    struct test *t = *state;
    for (int i = 0; i < MOST; i++)
        assert_int_equal(answer(t, token(t, "maker"), NULL), -1);
    assert_int_equal(answer(t, token(t, "maker"), NULL), PROBLEM_ACTION_NOT_POSSIBLE);
    assert_int_equal(answer(t, token(t, "other"), NULL), -1);
    running_run(t->d, DAY);
    assert_int_equal(answer(t, token(t, "maker"), NULL), -1); /* the others have expired */
}

#define SHARE_TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SHARE_TEST(repeated_reads_of_a_secret_have_one_entry_a_minute),
        SHARE_TEST(a_project_waits_when_its_share_of_the_events_is_used_up),
        SHARE_TEST(webhooks_are_changed_within_the_share),
        SHARE_TEST(the_share_grows_back),
        SHARE_TEST(a_project_has_a_share_of_the_webhooks),
        SHARE_TEST(a_maker_has_at_most_1000_valid_tokens),
    };
    log_set_level(LOG_LEVEL_ERROR);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

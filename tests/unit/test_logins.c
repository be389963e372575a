/* Manual logins while the store is slow, and work that waits for a login. On a virtual clock. */
#include "tests/support/check.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/attrs.h"
#include "base/log.h"
#include "base/mem.h"
#include "reconcile/reload.h"
#include "tests/support/one_shoot.h"

#define UID "11111111-8888-4777-8666-555555555555"

static struct canned_answer (*respond_of_cleura)(void *ctx, const struct seen_request *request);
static int64_t login_takes_us;
static unsigned logins;

static struct canned_answer respond_slowly(void *ctx, const struct seen_request *request)
{
    struct canned_answer answer = respond_of_cleura(ctx, request);
    if (strstr(request->url, "/auth/")) {
        logins++;
        answer.latency_us = login_takes_us;
    }
    return answer;
}

static struct command *post_login(struct running *d, int64_t patience_us)
{
    struct command *cmd = running_command(d, COMMAND_ACCOUNT_LOGIN, NULL, "main", NULL);
    cmd->deadline = d->world.now + patience_us;
    running_post(d, cmd);
    return cmd;
}

/* The first login succeeded, but its caller leaves before the token is stored. The save of the first login
 * returns while the second login is still running at Cleura, and must not answer the second login. */
static void a_login_is_answered_by_its_own_end(void **state)
{
    struct one_shoot cleura = {.uid = UID};
    struct running *d = one_shoot_start(&cleura);
    respond_of_cleura = d->cleura->respond;
    d->cleura->respond = respond_slowly;
    login_takes_us = US_PER_S;
    d->store.is_held = true;
    struct command *first = post_login(d, 10 * US_PER_S);
    running_run(d, 20 * US_PER_S);
    assert_int_equal(logins, 1);
    assert_true(running_answered(first));
    assert_int_equal(first->reply.problem->code, PROBLEM_UPSTREAM_TIMEOUT);
    running_run(d, 10 * MINUTE); /* a younger token would answer the second login at once */
    login_takes_us = MINUTE;
    struct command *second = post_login(d, 5 * MINUTE);
    running_run(d, US_PER_S);
    assert_int_equal(logins, 2);
    d->store.is_held = false;
    running_run(d, MINUTE / 2);
    assert_false(running_answered(second));
    running_run(d, MINUTE);
    assert_true(running_answered(second));
    assert_int_equal(second->reply.status, 200);
    command_free(first);
    command_free(second);
    one_shoot_end(d);
}

/* ---- work that waits for a login ---- */

static bool is_locked_out;   /* Cleura refuses logins, and rejects the token of earlier logins */
static unsigned other_calls; /* the number of calls that are no logins */
static mono_us written_at;   /* when the shoot was last changed */

static struct canned_answer respond_locked(void *ctx, const struct seen_request *request)
{
    static const char denied[] = "{\"error\":{\"code\":401,\"message\":\"Denied\"}}",
                      invalid[] = "{\"error\":{\"code\":403,\"message\":\"Invalid token\"}}";
    const int64_t latency = 10 * US_PER_MS;
    if (!strcmp(strrchr(request->url, '/'), "/tokens")) {
        logins++;
        if (is_locked_out)
            return (struct canned_answer){HTTP_ANSWERED, 401, denied, NULL, latency};
        return respond_of_cleura(ctx, request);
    }
    other_calls++;
    if (is_locked_out && !strcmp(request->token, "t1"))
        return (struct canned_answer){HTTP_ANSWERED, 403, invalid, NULL, latency};
    if (strstr(request->url, "/dev") && strcmp(request->method, "GET") != 0)
        written_at = request->at;
    return respond_of_cleura(ctx, request);
}

/* Cleura refuses all logins for two hours, while an accepted action waits. The login guard is then closed for
 * ten minutes after each login. */
static struct running *start_locked_out(struct one_shoot *cleura)
{
    struct running *d = one_shoot_start(cleura);
    respond_of_cleura = d->cleura->respond;
    d->cleura->respond = respond_locked;
    is_locked_out = true;
    logins = other_calls = 0;
    struct command *cmd = running_command(d, COMMAND_CLUSTER_ACTION, "p00", "dev", NULL);
    cmd->write.action = OPERATION_HIBERNATE;
    running_post(d, cmd);
    running_run(d, 120 * MINUTE);
    assert_true(running_answered(cmd));
    assert_int_equal(cmd->reply.status, 202);
    command_free(cmd);
    assert_in_range(logins, 12, 22);
    assert_in_range(other_calls, 1, 2); /* nothing else is sent without a login */
    assert_int_equal(cleura->writes, 0);
    return d;
}

static void on_in_force(void *ctx)
{
    ++*(unsigned *)ctx;
}

/* Runs until a login has just been refused, so the guard is closed for ten minutes. */
static void run_until_refused(struct running *d)
{
    const unsigned before = logins;
    for (int i = 0; i < 20 * 60 && logins == before; i++)
        running_run(d, US_PER_S);
    assert_int_equal(logins, before + 1);
    running_run(d, MINUTE);
}

static void a_new_password_is_used_at_once(void **state)
{
    struct one_shoot cleura = {.uid = UID};
    struct running *d = start_locked_out(&cleura);
    struct config_account account = d->config.accounts[0];
    struct config_project project = d->config.projects[0];
    struct config config = d->config;
    unsigned ended = 0;
    account.password = (char[]){"new"};
    project.account = &account;
    config.accounts = &account;
    config.projects = &project;
    run_until_refused(d);
    is_locked_out = false;
    reconcile_configure(d->reconcile, &config, on_in_force, &ended);
    loop_end_turn(d->loop);
    running_run(d, 10 * US_PER_S);
    assert_int_equal(ended, 1);
    assert_int_equal(cleura.writes, 1);
    one_shoot_end(d);
}

/* Writes a new file with the token, and returns its path, which the caller frees. */
static char *write_token(const char *token)
{
    char *path = mem_strdup("/tmp/test_logins.XXXXXX");
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, token, strlen(token)), strlen(token));
    assert_int_equal(close(fd), 0);
    return path;
}

static void a_new_token_file_is_read_within_half_a_minute(void **state)
{
    struct one_shoot cleura = {.uid = UID};
    struct running *d = start_locked_out(&cleura);
    run_until_refused(d);
    char *path CLEANUP_FREE = write_token("token-of-a-person");
    const mono_us appeared_at = d->world.now;
    d->config.accounts[0].token_file = path;
    running_run(d, 2 * MINUTE);
    assert_int_equal(cleura.writes, 1);
    assert_in_range(written_at - appeared_at, 0, 35 * US_PER_S);
    assert_int_equal(unlink(path), 0);
    d->config.accounts[0].token_file = NULL;
    one_shoot_end(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_login_is_answered_by_its_own_end),
        cmocka_unit_test(a_new_password_is_used_at_once),
        cmocka_unit_test(a_new_token_file_is_read_within_half_a_minute),
    };
    log_set_level(LOG_LEVEL_ERROR);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

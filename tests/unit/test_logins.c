/* Manual logins, while the store is slow. On a virtual clock. */
#include "tests/support/check.h"

#include <string.h>

#include "base/log.h"
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
    (void)state;
    struct one_shoot cleura = {.uid = UID};
    struct running *d = one_shoot_start(&cleura);
    respond_of_cleura = d->cleura->respond;
    d->cleura->respond = respond_slowly;
    login_takes_us = US_PER_S;
    running_hold_store(true);
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
    running_hold_store(false);
    running_run(d, MINUTE / 2);
    assert_false(running_answered(second));
    running_run(d, MINUTE);
    assert_true(running_answered(second));
    assert_int_equal(second->reply.status, 200);
    command_free(first);
    command_free(second);
    one_shoot_end(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_login_is_answered_by_its_own_end)};
    log_set_level(LOG_LEVEL_ERROR);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

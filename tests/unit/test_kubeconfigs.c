/* How many kubeconfigs stay in memory, and which. On a virtual clock. */
#include "tests/support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "reconcile/lookups/lookup.h"
#include "tests/support/one_shoot.h"

#define DAY_S 86400

struct test {
    struct one_shoot cleura;
    struct running *d;
    struct fake_transport *transport;
    struct canned_answer (*others)(void *ctx, const struct seen_request *request);
    const char *padding; /* a part of each kubeconfig, or NULL */
    bool is_down;        /* Cleura answers no request for a kubeconfig */
};

static struct canned_answer respond(void *ctx, const struct seen_request *request)
{
    static char text[300 * 1024];
    struct test *t = ctx;
    char at[TIME_TEXT_BYTES];
    if (!strstr(request->url, "kubeconfig"))
        return t->others(&t->cleura, request);
    if (t->is_down)
        return (struct canned_answer){HTTP_NOT_SENT, 0, NULL, NULL, US_PER_MS};
    const long ttl_s = strtol(request->body + strcspn(request->body, "0123456789"), NULL, 10);
    (void)time_rfc3339(env_wall(&t->d->world.env) + ttl_s * US_PER_S, false, at);
    (void)snprintf(text, sizeof(text),
                   "{\"kubeconfig\":\"kind: Config\\nclusters: []\\n%s\",\"expires_at\":\"%s\"}",
                   t->padding ? t->padding : "", at);
    return (struct canned_answer){HTTP_ANSWERED, 200, text, NULL, 10 * US_PER_MS};
}

static int set_up(void **state)
{
    struct test *t = MEM_NEW(struct test);
    t->cleura.uid = "11111111-8888-4777-8666-555555555555";
    t->d = one_shoot_start(&t->cleura);
    t->transport = t->d->cleura;
    t->others = t->transport->respond;
    t->transport->respond = respond;
    t->transport->ctx = t;
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

static bool holds(const struct command_caller *caller)
{
    return true;
}

/* Posts a request of the caller with this number. */
static struct command *ask(struct test *t, int caller, int ttl_s, int min_remaining_s)
{
    struct command *cmd = running_command(t->d, COMMAND_KUBECONFIG, "p00", "dev", NULL);
    cmd->action_name = NULL; /* these 16,000 callers need no entries of the audit log */
    (void)snprintf(cmd->caller.token_id, sizeof(cmd->caller.token_id), "oidc_%d", caller);
    cmd->caller.expires_at = env_wall(&t->d->world.env) + 2 * DAY_S * US_PER_S;
    cmd->caller.holds = holds;
    cmd->kubeconfig.ttl_seconds = ttl_s;
    cmd->kubeconfig.min_remaining_seconds = min_remaining_s;
    running_post(t->d, cmd);
    return cmd;
}

static bool was_answered(const struct command *cmd)
{
    return running_answered(cmd) && cmd->reply.status == 200;
}

static void get(struct test *t, int caller, int ttl_s)
{
    struct command *cmd = ask(t, caller, ttl_s, 0);
    running_run(t->d, US_PER_S / 5);
    assert_true(was_answered(cmd));
    command_free(cmd);
}

/* Whether shootd has this kubeconfig in memory. Called while Cleura is down, so that the question changes
 * nothing. */
static bool is_kept(struct test *t, int caller, int ttl_s)
{
    assert_true(t->is_down);
    struct command *cmd = ask(t, caller, ttl_s, 0);
    const bool kept = was_answered(cmd);
    running_run(t->d, kept ? 0 : 11 * MINUTE); /* the deadline of the command */
    assert_true(running_answered(cmd));
    command_free(cmd);
    return kept;
}

/* ---- tests ---- */

/* The lifetimes grow, so the last ones expire last. */
static void a_caller_keeps_few_of_a_cluster(void **state)
{
    enum { ASKED = 1000, FIRST_S = DAY_S - ASKED };
    struct test *t = *state;
    for (int i = 0; i < ASKED; i++)
        get(t, 1, FIRST_S + i);
    get(t, 2, FIRST_S);
    t->is_down = true;
    for (int i = ASKED - KUBECONFIGS_PER_CALLER; i < ASKED; i++)
        assert_true(is_kept(t, 1, FIRST_S + i));
    assert_true(is_kept(t, 2, FIRST_S));
    struct command *others[ASKED - KUBECONFIGS_PER_CALLER];
    for (int i = 0; i < (int)ARRAY_LEN(others); i++)
        others[i] = ask(t, 1, FIRST_S + i, 0);
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        assert_false(was_answered(others[i]));
    running_run(t->d, 11 * MINUTE);
    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        assert_true(running_answered(others[i]) && !was_answered(others[i]));
        command_free(others[i]);
    }
}

/* A kubeconfig that is being read again is not the one that is dropped, although it expires first. */
static void one_that_is_in_use_stays(void **state)
{
    enum { FIRST_S = 3600 };
    struct test *t = *state;
    for (int i = 0; i < KUBECONFIGS_PER_CALLER; i++)
        get(t, 1, FIRST_S + i);
    struct command *one_more = ask(t, 1, 2 * FIRST_S, 0), *again = ask(t, 1, FIRST_S, FIRST_S);
    running_run(t->d, US_PER_S);
    assert_true(was_answered(one_more) && was_answered(again));
    command_free(one_more);
    command_free(again);
    t->is_down = true;
    assert_true(is_kept(t, 1, FIRST_S) && is_kept(t, 1, 2 * FIRST_S) && is_kept(t, 1, FIRST_S + 2));
    assert_false(is_kept(t, 1, FIRST_S + 1));
}

/* Also a short-lived one is kept when it is new. */
static void a_new_one_is_kept(void **state)
{
    struct test *t = *state;
    for (int i = 0; i < KUBECONFIGS_PER_CALLER; i++)
        get(t, 1, DAY_S - i);
    get(t, 1, 3600);
    t->is_down = true;
    assert_true(is_kept(t, 1, 3600));
}

/* The wall clock is set back by a day: a kubeconfig is not kept longer than it is valid. */
static void a_clock_that_is_set_back_keeps_none_longer(void **state)
{
    struct test *t = *state;
    get(t, 1, 3600);
    get(t, 1, DAY_S);
    t->d->world.wall_offset -= DAY_S * US_PER_S;
    running_run(t->d, 61 * MINUTE);
    t->is_down = true;
    assert_false(is_kept(t, 1, 3600));
    assert_true(is_kept(t, 1, DAY_S));
}

static void all_callers_together_keep_a_limited_number(void **state)
{
    enum { MORE = 100, IN_A_ROUND = 200, ASKED = KUBECONFIGS_MAX + MORE };
    struct test *t = *state;
    struct command *asked[IN_A_ROUND];
    unsigned kept = 0;
    for (int first = 0; first < ASKED; first += IN_A_ROUND) {
        for (int i = first; i < first + IN_A_ROUND && i < ASKED; i++)
            asked[i - first] = ask(t, i, DAY_S, 0);
        running_run(t->d, IN_A_ROUND * 150 * US_PER_MS);
        for (int i = first; i < first + IN_A_ROUND && i < ASKED; i++) {
            assert_true(was_answered(asked[i - first]));
            command_free(asked[i - first]);
        }
    }
    t->is_down = true;
    for (int first = 0; first < ASKED; first += IN_A_ROUND) {
        for (int i = first; i < first + IN_A_ROUND && i < ASKED; i++) {
            asked[i - first] = ask(t, i, DAY_S, 0);
            kept += was_answered(asked[i - first]);
        }
        running_run(t->d, 11 * MINUTE);
        for (int i = first; i < first + IN_A_ROUND && i < ASKED; i++)
            command_free(asked[i - first]);
    }
    assert_int_equal(kept, KUBECONFIGS_MAX);
}

static void all_together_keep_a_limited_number_of_bytes(void **state)
{
    enum { LARGE = 200 * 1024, FIT = KUBECONFIGS_BYTES_MAX / (LARGE + 30), ASKED = FIT + 20 };
    struct test *t = *state;
    char *padding CLEANUP_FREE = mem_calloc(LARGE + 1, 1);
    padding[0] = '#';
    memset(padding + 1, 'x', LARGE - 1);
    t->padding = padding;
    for (int i = 0; i < ASKED; i++)
        get(t, i, DAY_S - i); /* the last ones expire first */
    t->is_down = true;
    assert_true(is_kept(t, ASKED - 1, DAY_S - ASKED + 1));
    assert_true(is_kept(t, ASKED - FIT, DAY_S - ASKED + FIT));
    assert_false(is_kept(t, ASKED - FIT - 1, DAY_S - ASKED + FIT + 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_caller_keeps_few_of_a_cluster, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_that_is_in_use_stays, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_new_one_is_kept, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_clock_that_is_set_back_keeps_none_longer, set_up, tear_down),
        cmocka_unit_test_setup_teardown(all_callers_together_keep_a_limited_number, set_up, tear_down),
        cmocka_unit_test_setup_teardown(all_together_keep_a_limited_number_of_bytes, set_up, tear_down),
    };
    log_set_level(LOG_LEVEL_ERROR);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

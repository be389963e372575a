/* The effects on an operation when Cleura refuses a call, or accepts a call without effect. On a virtual
 * clock. */
#include "tests/support/check.h"

#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/log.h"
#include "base/mem.h"
#include "tests/support/one_shoot.h"
#include "view/cluster_facts.h"

#define UID "11111111-8888-4777-8666-555555555555"

/* Returns the only operation as "status progress code: message". The caller frees the text. */
static char *seen_operation(struct running *d)
{
    const struct view_snapshot *s = view_enter(d->view);
    assert_int_equal(s->sections[VIEW_OPERATIONS].count, 1);
    struct view_cursor place = view_seek(s, VIEW_OPERATIONS, "");
    const struct operation *op = view_next(&place)->blob->subject;
    char *text = mem_printf("%s %d %s: %s", operation_status_name(op->status), op->progress,
                            json_str_or(op->error, "code", "-"), op->message);
    view_leave(d->view);
    return text;
}

static void expect_operation(struct running *d, const char *begin, const char *part)
{
    char *there CLEANUP_FREE = seen_operation(d);
    if (strncmp(there, begin, strlen(begin)) != 0 || !strstr(there, part))
        fail_msg("'%s' is not '%s ... %s'", there, begin, part);
}

/* Cleura answers nine times that it is busy, then refuses without a reason. The two kinds are counted
 * separately, and neither count reaches its limit. */
static void busy_answers_and_refusals_are_counted_apart(void **state)
{
    static const int refusals[] = {409, 409, 409, 409, 409, 409, 409, 409, 409, 403, 403, 0};
    struct one_shoot cleura = {.uid = UID, .refusals = refusals};
    struct running *d = one_shoot_start(&cleura);
    struct command *cmd = running_command(d, COMMAND_CLUSTER_ACTION, "p00", "dev", NULL);
    cmd->write.action = OPERATION_HIBERNATE;
    running_post(d, cmd);
    running_run(d, 10 * MINUTE);
    assert_int_equal(*cleura.refusals, 0);
    assert_true(cleura.writes > 11);
    expect_operation(d, "running", "Accepted");
    command_free(cmd);
    one_shoot_end(d);
}

/* A 2xx without an effect is reported while the operation waits, and at its end. */
static void a_promise_without_effect_is_reported(void **state)
{
    struct one_shoot cleura = {.uid = UID, .ineffective = true};
    struct running *d = one_shoot_start(&cleura);
    struct command *cmd = one_shoot_post_version(d);
    running_run(d, 30 * US_PER_S);
    expect_operation(d, "running 0 -: Accepted by Cleura at ", ", but no effect is visible yet");
    running_run(d, 3 * MINUTE);
    expect_operation(d, "running 0 -: Accepted by Cleura at ", "times at ");
    running_run(d, 30 * MINUTE);
    expect_operation(d, "failed 0 upstream_no_effect: ", "attempts of patch_cluster since ");
    command_free(cmd);
    one_shoot_end(d);
}

static void expect_phase(struct running *d, const char *phase)
{
    const struct view_snapshot *s = view_enter(d->view);
    const struct view_blob *blob = view_find(s, VIEW_CLUSTERS, "p00/dev");
    assert_non_null(blob);
    const char *there = phase_name(cluster_facts_of(blob)->phase);
    view_leave(d->view);
    assert_string_equal(there, phase);
}

/* Cleura accepts deletions, and deletes nothing. The delete ends after six requests and ten minutes, like a
 * change. */
static void a_deletion_without_effect_ends(void **state)
{
    struct one_shoot cleura = {.uid = UID, .ineffective = true};
    struct running *d = one_shoot_start(&cleura);
    struct command *cmd = one_shoot_post(d, COMMAND_CLUSTER_DELETE);
    running_run(d, 9 * MINUTE);
    expect_operation(d, "running", "");
    expect_phase(d, "deleting");
    running_run(d, 51 * MINUTE);
    expect_operation(d, "failed", " upstream_no_effect: ");
    expect_operation(d, "failed", " attempts of delete_shoot since ");
    assert_in_range(cleura.writes, 6, 11);
    expect_phase(d, "ready");
    command_free(cmd);
    cleura.ineffective = false;
    cmd = one_shoot_post(d, COMMAND_CLUSTER_DELETE);
    running_run(d, MINUTE);
    assert_int_equal(cmd->reply.status, 202);
    expect_phase(d, "deleting");
    command_free(cmd);
    one_shoot_end(d);
}

/* The message of the waiting operation names the host, the beginning of the outage, and the reason. */
static void an_outage_is_reported(void **state)
{
    struct one_shoot cleura = {.uid = UID};
    struct running *d = one_shoot_start(&cleura);
    cleura.away = true;
    struct command *cmd = running_command(d, COMMAND_CLUSTER_ACTION, "p00", "dev", NULL);
    cmd->write.action = OPERATION_HIBERNATE;
    running_post(d, cmd);
    running_run(d, 5 * MINUTE);
    expect_operation(d, "pending", "Waiting: ");
    expect_operation(d, "pending", "Cleura (127.0.0.1:1) cannot be reached since 20");
    command_free(cmd);
    one_shoot_end(d);
}

static unsigned answers;

/* Does the same as the HTTP thread: frees the content of an answered command at once. */
static void take_and_wipe(struct command *cmd)
{
    answers++;
    assert_int_equal(cmd->reply.problem->code, PROBLEM_CLUSTER_NOT_FOUND);
    char **texts[] = {&cmd->project, &cmd->name, &cmd->request_id};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        free(*texts[i]);
        *texts[i] = NULL;
    }
}

/* Formerly the decider read the command after the command was answered. This was a use of freed memory when
 * the HTTP thread was fast. */
static void answered_request_is_not_read_again_D8(void **state)
{
    static const enum command_type types[] = {COMMAND_CLUSTER_PATCH, COMMAND_CLUSTER_DELETE,
                                              COMMAND_NODE_POOL,     COMMAND_CLUSTER_ACTION,
                                              COMMAND_KUBECONFIG,    COMMAND_UPGRADES};
    struct one_shoot cleura = {.uid = UID};
    struct running *d = one_shoot_start(&cleura);
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        struct command *cmd = running_command(d, types[i], "p00", "nobody", json_object());
        if (types[i] == COMMAND_CLUSTER_ACTION)
            cmd->write.action = OPERATION_HIBERNATE;
        cmd->give_back = take_and_wipe;
        running_post(d, cmd);
        assert_int_equal(answers, i + 1);
        command_free(cmd);
    }
    one_shoot_end(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(busy_answers_and_refusals_are_counted_apart),
        cmocka_unit_test(a_promise_without_effect_is_reported),
        cmocka_unit_test(a_deletion_without_effect_ends),
        cmocka_unit_test(an_outage_is_reported),
        cmocka_unit_test(answered_request_is_not_read_again_D8),
    };
    log_set_level(LOG_LEVEL_ERROR);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

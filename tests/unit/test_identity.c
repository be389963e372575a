/* A call that changes or destroys reaches the shoot that was meant, or it is not sent: on a virtual clock. */
#include "tests/support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/log.h"
#include "base/mem.h"
#include "tests/support/one_shoot.h"

#define UID_OURS     "11111111-8888-4777-8666-555555555555"
#define UID_STRANGER "99999999-8888-4777-8666-555555555555"

/* Of the cluster that readers see as "dev"; "" when there is none. The caller frees it. */
static char *seen_uid(struct running *d, bool *ret_managed)
{
    const struct view_snapshot *s = view_enter(d->view);
    const struct view_blob *blob = view_find(s, VIEW_CLUSTERS, "p00/dev");
    const struct cluster *c = blob ? blob->subject : NULL;
    char *uid = mem_strdup(c && c->shoot ? json_str_or(c->shoot->observed, "uid", "?") : "");
    *ret_managed = c && c->managed;
    view_leave(d->view);
    return uid;
}

static void expect_seen(struct running *d, const char *uid, bool managed)
{
    bool is_managed;
    char *there CLEANUP_FREE = seen_uid(d, &is_managed);
    assert_string_equal(there, uid);
    assert_int_equal(is_managed, managed);
}

/* ---- destroying ---- */

static void a_delete_looks_first_and_is_sent(void **state)
{
    (void)state;
    struct one_shoot cleura = {.uid = UID_OURS};
    struct running *d = one_shoot_start(&cleura);
    unsigned reads = cleura.reads;
    struct command *cmd = one_shoot_post(d, COMMAND_CLUSTER_DELETE);
    running_run(d, 5 * US_PER_S);
    assert_int_equal(cleura.writes, 1);
    assert_memory_equal(cleura.last_write, "DELETE ", 7);
    assert_true(cleura.reads > reads);
    cleura.uid = NULL;
    running_run(d, MINUTE);
    expect_seen(d, "", false);
    command_free(cmd);
    one_shoot_end(d);
}

/* It was replaced between two polls, an hour apart. */
static void a_delete_never_reaches_what_replaced_the_shoot(void **state)
{
    (void)state;
    struct one_shoot cleura = {.uid = UID_OURS};
    struct running *d = one_shoot_start(&cleura);
    cleura.uid = UID_STRANGER;
    struct command *cmd = one_shoot_post(d, COMMAND_CLUSTER_DELETE);
    running_run(d, 10 * MINUTE);
    assert_int_equal(cleura.writes, 0);
    expect_seen(d, UID_STRANGER, false);
    command_free(cmd);
    one_shoot_end(d);
}

static void nor_after_an_outage_and_a_kill(void **state)
{
    (void)state;
    struct one_shoot cleura = {.uid = UID_OURS};
    struct running *d = one_shoot_start(&cleura);
    cleura.away = true;
    struct command *cmd = one_shoot_post(d, COMMAND_CLUSTER_DELETE);
    running_run(d, 20 * MINUTE);
    (void)running_kill(d, false);
    command_free(cmd);
    cleura.uid = UID_STRANGER;
    cleura.away = false;
    running_start(d);
    running_run(d, 10 * MINUTE);
    assert_int_equal(cleura.writes, 0);
    expect_seen(d, UID_STRANGER, false);
    one_shoot_end(d);
}

/* Without a uid nobody knows whose it is. */
static void a_delete_waits_until_cleura_tells_the_uid(void **state)
{
    (void)state;
    struct one_shoot cleura = {.uid = UID_OURS};
    struct running *d = one_shoot_start(&cleura);
    cleura.uid = "";
    struct command *cmd = one_shoot_post(d, COMMAND_CLUSTER_DELETE);
    running_run(d, 2 * MINUTE);
    assert_int_equal(cleura.writes, 0);
    cleura.uid = UID_OURS;
    running_run(d, MINUTE);
    assert_int_equal(cleura.writes, 1);
    command_free(cmd);
    one_shoot_end(d);
}

/* ---- another place ---- */

static void move_project(struct running *d, const char *project_id)
{
    free(d->config.projects[0].project_id);
    d->config.projects[0].project_id = mem_strdup(project_id);
}

static int confirm(struct running *d, const char *clusters)
{
    struct command *cmd =
        running_command(d, COMMAND_LOCATION_CONFIRM, "p00", NULL, json_pack("{ss}", "clusters", clusters));
    running_post(d, cmd);
    running_run(d, MINUTE);
    assert_true(running_answered(cmd));
    int status = cmd->reply.problem ? problem_kind(cmd->reply.problem->code)->status : cmd->reply.status;
    command_free(cmd);
    return status;
}

/* A delete is open; the new place has a cluster of the same name. */
static struct running *start_elsewhere(struct one_shoot *cleura)
{
    struct running *d = one_shoot_start(cleura);
    cleura->away = true;
    struct command *cmd = one_shoot_post(d, COMMAND_CLUSTER_DELETE);
    running_run(d, MINUTE);
    (void)running_kill(d, false);
    command_free(cmd);
    *cleura = (struct one_shoot){.uid = UID_STRANGER};
    move_project(d, "id77");
    running_start(d);
    running_run(d, 20 * MINUTE);
    return d;
}

static void a_moved_project_is_set_aside_with_its_open_operations(void **state)
{
    (void)state;
    struct one_shoot cleura = {.uid = UID_OURS};
    struct running *d = start_elsewhere(&cleura);
    assert_int_equal(cleura.calls, 0);
    struct command *cmd = one_shoot_post(d, COMMAND_CLUSTER_DELETE);
    assert_int_equal(cmd->reply.problem->code, PROBLEM_PROJECT_SET_ASIDE);
    command_free(cmd);
    /* The old configuration is back: the delete goes on. */
    (void)running_kill(d, false);
    cleura.uid = UID_OURS;
    move_project(d, "id00");
    running_start(d);
    running_run(d, MINUTE);
    assert_int_equal(cleura.writes, 1);
    one_shoot_end(d);
}

static void an_admin_says_that_they_are_not_there(void **state)
{
    (void)state;
    struct one_shoot cleura = {.uid = UID_OURS};
    struct running *d = start_elsewhere(&cleura);
    assert_int_equal(confirm(d, "perhaps"), 422);
    assert_int_equal(confirm(d, "forget"), 200);
    assert_int_equal(cleura.writes, 0);
    expect_seen(d, UID_STRANGER, false);
    assert_int_equal(confirm(d, "forget"), 409);
    one_shoot_end(d);
}

/* Even then the uid decides. */
static void an_admin_says_that_they_are(void **state)
{
    (void)state;
    struct one_shoot cleura = {.uid = UID_OURS};
    struct running *d = start_elsewhere(&cleura);
    assert_int_equal(confirm(d, "keep"), 200);
    running_run(d, 10 * MINUTE);
    assert_int_equal(cleura.writes, 0);
    expect_seen(d, UID_STRANGER, false);
    one_shoot_end(d);
}

/* ---- absence ---- */

static char *seen_phase(struct running *d)
{
    const struct view_snapshot *s = view_enter(d->view);
    const struct view_blob *blob = view_find(s, VIEW_CLUSTERS, "p00/dev");
    const struct cluster *c = blob ? blob->subject : NULL;
    char *text = mem_printf("%s%s%s", c ? phase_name(c->phase) : "none", c && c->spec ? " managed" : "",
                            c && c->absent_since ? " absent" : "");
    view_leave(d->view);
    return text;
}

static void expect_phase(struct running *d, const char *text)
{
    char *there CLEANUP_FREE = seen_phase(d);
    assert_string_equal(there, text);
}

static void look_soon(struct running *d)
{
    struct command *fresh = one_shoot_post(d, COMMAND_FRESH);
    running_run(d, MINUTE);
    command_free(fresh);
}

static char *seen_id(struct running *d)
{
    const struct view_snapshot *s = view_enter(d->view);
    const struct view_blob *blob = view_find(s, VIEW_CLUSTERS, "p00/dev");
    const struct cluster *c = blob ? blob->subject : NULL;
    char *id = mem_strdup(c ? c->id : "");
    view_leave(d->view);
    return id;
}

static void a_moment_of_blindness_changes_nothing(void **state)
{
    (void)state;
    struct one_shoot cleura = {.uid = UID_OURS};
    struct running *d = one_shoot_start(&cleura);
    char *before CLEANUP_FREE = seen_id(d);
    cleura.uid = NULL;
    look_soon(d);
    expect_phase(d, "unknown managed absent");
    cleura.uid = UID_OURS;
    running_run(d, 2 * MINUTE);
    expect_phase(d, "ready managed");
    char *after CLEANUP_FREE = seen_id(d);
    assert_string_equal(before, after);
    one_shoot_end(d);
}

/* Also over a restart. */
static void what_is_absent_for_long_is_gone_and_comes_back_whole(void **state)
{
    (void)state;
    struct one_shoot cleura = {.uid = UID_OURS};
    struct running *d = one_shoot_start(&cleura);
    char *before CLEANUP_FREE = seen_id(d);
    cleura.uid = NULL;
    look_soon(d);
    expect_phase(d, "unknown managed absent");
    running_run(d, 6 * MINUTE);
    expect_phase(d, "none");
    (void)running_kill(d, false);
    running_start(d);
    running_run(d, MINUTE);
    expect_phase(d, "none");
    cleura.uid = UID_OURS;
    running_run(d, 61 * MINUTE);
    expect_phase(d, "ready managed");
    char *after CLEANUP_FREE = seen_id(d);
    assert_string_equal(before, after);
    one_shoot_end(d);
}

/* An outage in between says nothing: only reads that found nothing count. */
static void an_outage_is_no_absence(void **state)
{
    (void)state;
    struct one_shoot cleura = {.uid = UID_OURS};
    struct running *d = one_shoot_start(&cleura);
    cleura.uid = NULL;
    look_soon(d);
    expect_phase(d, "unknown managed absent");
    cleura.away = true;
    running_run(d, 20 * MINUTE);
    cleura.away = false;
    running_run(d, 2 * MINUTE);
    expect_phase(d, "unknown managed absent");
    cleura.uid = UID_OURS;
    running_run(d, 10 * MINUTE);
    expect_phase(d, "ready managed");
    one_shoot_end(d);
}

/* One 404 of a gateway, of a cluster whose deletion Cleura gave up long ago. */
static void a_deletion_that_failed_is_no_proof(void **state)
{
    (void)state;
    struct one_shoot cleura = {.uid = UID_OURS};
    struct running *d = one_shoot_start(&cleura);
    cleura.type = "Delete";
    cleura.state = "Failed";
    look_soon(d);
    expect_phase(d, "failed managed");
    cleura.uid = NULL;
    struct command *fresh = one_shoot_post(d, COMMAND_FRESH);
    running_run(d, 2 * US_PER_S);
    cleura.uid = UID_OURS;
    running_run(d, 2 * MINUTE);
    expect_phase(d, "failed managed");
    command_free(fresh);
    one_shoot_end(d);
}

/* The answer to a change tells no uid: which shoot is meant stays known. */
static void an_answer_without_a_uid_makes_nobody_forget(void **state)
{
    (void)state;
    struct one_shoot cleura = {.uid = UID_OURS, .ineffective = true, .writes_tell_no_uid = true};
    struct running *d = one_shoot_start(&cleura);
    struct command *put = running_command(d, COMMAND_CLUSTER_PUT, "p00", "dev",
                                          json_pack("{s{ss}}", "spec", "kubernetes_version", "1.34.3"));
    running_post(d, put);
    running_run(d, 5 * US_PER_S);
    assert_int_equal(cleura.writes, 1);
    (void)running_kill(d, false);
    command_free(put);
    cleura.uid = UID_STRANGER;
    running_start(d);
    struct command *cmd = one_shoot_post(d, COMMAND_CLUSTER_DELETE);
    running_run(d, 10 * MINUTE);
    assert_int_equal(cleura.writes, 1);
    expect_seen(d, UID_STRANGER, false);
    command_free(cmd);
    one_shoot_end(d);
}

static void another_uid_gets_a_record_of_its_own(void **state)
{
    (void)state;
    struct one_shoot cleura = {.uid = UID_OURS};
    struct running *d = one_shoot_start(&cleura);
    cleura.uid = NULL;
    look_soon(d);
    running_run(d, 6 * MINUTE);
    cleura.uid = UID_STRANGER;
    running_run(d, 61 * MINUTE);
    expect_phase(d, "ready");
    one_shoot_end(d);
}

/* The delete was not sent, for there was nothing to be seen: that is no proof. */
static void a_delete_in_a_moment_of_blindness_is_sent_later(void **state)
{
    (void)state;
    struct one_shoot cleura = {.uid = UID_OURS};
    struct running *d = one_shoot_start(&cleura);
    cleura.uid = NULL;
    struct command *cmd = one_shoot_post(d, COMMAND_CLUSTER_DELETE);
    running_run(d, 2 * MINUTE);
    assert_int_equal(cleura.writes, 0);
    expect_phase(d, "deleting managed absent");
    cleura.uid = UID_OURS;
    running_run(d, 2 * MINUTE);
    assert_int_equal(cleura.writes, 1);
    cleura.uid = NULL;
    running_run(d, MINUTE);
    expect_phase(d, "none");
    command_free(cmd);
    one_shoot_end(d);
}

/* ---- changing ---- */

static void actions_never_reach_it_either(void **state)
{
    (void)state;
    struct one_shoot cleura = {.uid = UID_OURS};
    struct running *d = one_shoot_start(&cleura);
    cleura.uid = UID_STRANGER;
    struct command *cmd = running_command(d, COMMAND_CLUSTER_ACTION, "p00", "dev", NULL);
    cmd->write.action = OPERATION_HIBERNATE;
    running_post(d, cmd);
    running_run(d, 10 * MINUTE);
    assert_int_equal(cleura.writes, 0);
    expect_seen(d, UID_STRANGER, false);
    command_free(cmd);
    one_shoot_end(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_delete_looks_first_and_is_sent),
        cmocka_unit_test(a_delete_never_reaches_what_replaced_the_shoot),
        cmocka_unit_test(nor_after_an_outage_and_a_kill),
        cmocka_unit_test(a_delete_waits_until_cleura_tells_the_uid),
        cmocka_unit_test(actions_never_reach_it_either),
        cmocka_unit_test(a_moved_project_is_set_aside_with_its_open_operations),
        cmocka_unit_test(an_admin_says_that_they_are_not_there),
        cmocka_unit_test(an_admin_says_that_they_are),
        cmocka_unit_test(a_moment_of_blindness_changes_nothing),
        cmocka_unit_test(what_is_absent_for_long_is_gone_and_comes_back_whole),
        cmocka_unit_test(an_outage_is_no_absence),
        cmocka_unit_test(a_deletion_that_failed_is_no_proof),
        cmocka_unit_test(an_answer_without_a_uid_makes_nobody_forget),
        cmocka_unit_test(another_uid_gets_a_record_of_its_own),
        cmocka_unit_test(a_delete_in_a_moment_of_blindness_is_sent_later),
    };
    log_set_level(LOG_LEVEL_ERROR);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

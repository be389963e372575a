/*
 * Members of Cleura's answers that cannot be read, and unknown enum values. A delete needs uid and name, a
 * change needs uid and state. After a 2xx an unknown value means "in progress". On a virtual clock.
 */
#include "tests/support/check.h"

#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/log.h"
#include "base/mem.h"
#include "reconcile/operations/plan.h"
#include "reconcile/operations/proof.h"
#include "tests/support/one_shoot.h"
#include "tests/support/shown.h"

#define UID "11111111-8888-4777-8666-555555555555"

/* Only name and uid can be read. */
#define ODD                                                                                               \
    "{\"name\":\"dev\",\"uid\":\"" UID "\",\"generation\":18446744073709551615,\"purpose\":\"\\ud83d\","  \
    "\"kubernetes\":[],\"shoot_provider\":{\"workers\":null},\"networking\":1e400,\"maintenance\":\"x\"," \
    "\"allowed_cidrs\":{},\"control_plane\":7,\"last_operation\":[],\"status\":[]}"

/* Returns state and message of the newest operation, such as "running: Waiting ...". The caller frees the
 * text. */
static char *seen_operation(struct running *d)
{
    const struct view_snapshot *s = view_enter(d->view);
    struct view_cursor place = view_seek(s, VIEW_OPERATIONS, "");
    const struct view_entry *entry = view_next(&place);
    const struct operation *op = entry ? entry->blob->subject : NULL;
    char *text =
        op ? mem_printf("%s: %s", operation_status_name(op->status), op->message) : mem_strdup("none");
    view_leave(d->view);
    return text;
}

static void expect_operation(struct running *d, const char *status, const char *says)
{
    char *text CLEANUP_FREE = seen_operation(d);
    if (strncmp(text, status, strlen(status)) != 0 || !strstr(text, says))
        fail_msg("%s, wanted %s: ...%s...", text, status, says);
}

static void expect_phase(struct running *d, const char *phase)
{
    const struct view_snapshot *s = view_enter(d->view);
    const struct view_blob *blob = view_find(s, VIEW_CLUSTERS, "p00/dev");
    struct cluster *c CLEANUP_CLUSTER = blob ? shown_cluster(blob) : NULL;
    view_leave(d->view);
    assert_string_equal(c ? phase_name(c->phase) : "none", phase);
}

static struct command *act(struct running *d, enum operation_type action)
{
    struct command *cmd = running_command(d, COMMAND_CLUSTER_ACTION, "p00", "dev", NULL);
    cmd->write.action = action;
    running_post(d, cmd);
    running_run(d, 5 * US_PER_S);
    assert_true(running_answered(cmd));
    assert_null(cmd->reply.problem);
    assert_int_equal(cmd->reply.status, 202);
    return cmd;
}

static void a_delete_needs_uid_and_name_only(void **state)
{
    struct one_shoot cleura = {.uid = UID};
    struct running *d = one_shoot_start(&cleura);
    cleura.raw = ODD;
    struct command *cmd = one_shoot_post(d, COMMAND_CLUSTER_DELETE);
    running_run(d, MINUTE);
    assert_int_equal(cmd->reply.status, 202);
    assert_int_equal(cleura.writes, 1);
    assert_non_null(strstr(cleura.last_write, "DELETE "));
    running_run(d, 5 * MINUTE);
    assert_int_equal(cleura.writes, 1); /* an unreadable answer does not cause a second call */
    running_run(d, 6 * MINUTE);
    assert_int_equal(cleura.writes, 2); /* after a while a second call is sent: the uid is still the same */
    assert_non_null(strstr(cleura.last_write, "DELETE "));
    cleura.raw = NULL;
    cleura.uid = NULL;
    running_run(d, 5 * MINUTE);
    expect_operation(d, "succeeded", "");
    command_free(cmd);
    one_shoot_end(d);
}

static void a_shoot_of_which_nothing_else_can_be_read_is_found(void **state)
{
    struct one_shoot cleura = {.uid = UID, .raw = ODD};
    struct running *d = one_shoot_start(&cleura); /* the daemon adopts the shoot */
    expect_phase(d, "unknown");
    struct command *cmd = one_shoot_post(d, COMMAND_CLUSTER_DELETE);
    running_run(d, MINUTE);
    assert_int_equal(cleura.writes, 1);
    command_free(cmd);
    one_shoot_end(d);
}

static void a_change_waits_for_a_state_that_can_be_read(void **state)
{
    struct one_shoot cleura = {.uid = UID};
    struct running *d = one_shoot_start(&cleura);
    cleura.raw = ODD;
    struct command *cmd = act(d, OPERATION_RECONCILE);
    running_run(d, 5 * MINUTE);
    assert_int_equal(cleura.writes, 0);
    expect_operation(d, "pending", "Cleura does not show the state of the cluster");
    /* Uid and state are sufficient. */
    cleura.raw =
        "{\"name\":\"dev\",\"uid\":\"" UID "\",\"shoot_provider\":5,\"kubernetes\":1e400,\"status\":[],"
        "\"last_operation\":{\"state\":\"Succeeded\",\"type\":7,\"progress\":\"most\"}}";
    running_run(d, MINUTE);
    assert_int_equal(cleura.writes, 1);
    command_free(cmd);
    one_shoot_end(d);
}

static void an_unheard_state_counts_as_in_progress(void **state)
{
    struct one_shoot cleura = {.uid = UID};
    struct running *d = one_shoot_start(&cleura);
    cleura.state = "Levitating";
    struct command *cmd = act(d, OPERATION_RECONCILE);
    running_run(d, 5 * MINUTE);
    assert_int_equal(cleura.writes, 0);
    expect_operation(d, "pending", "Levitating");
    cleura.state = "Succeeded";
    running_run(d, MINUTE);
    assert_int_equal(cleura.writes, 1);
    command_free(cmd);
    one_shoot_end(d);
}

static void a_deletion_in_an_unheard_word_is_not_asked_for_again(void **state)
{
    struct one_shoot cleura = {.uid = UID};
    struct running *d = one_shoot_start(&cleura);
    struct command *cmd = one_shoot_post(d, COMMAND_CLUSTER_DELETE);
    running_run(d, MINUTE);
    assert_int_equal(cleura.writes, 1);
    cleura.type = "Unmaking";
    running_run(d, 8 * MINUTE);
    assert_int_equal(cleura.writes, 1);
    expect_phase(d, "deleting");
    expect_operation(d, "running", "Unmaking");
    cleura.type = "Reconcile"; /* a known word that is no deletion */
    cleura.state = "Succeeded";
    running_run(d, 10 * MINUTE);
    assert_true(cleura.writes > 1);
    command_free(cmd);
    one_shoot_end(d);
}

/* Gardener has more stages than Cleura's contract. The second Prepare formerly ended the operation as
 * failed. */
static void an_unheard_stage_of_a_rotation_counts_as_in_progress(void **state)
{
    struct one_shoot cleura = {.uid = UID, .stage = "NotInitiated"};
    struct running *d = one_shoot_start(&cleura);
    struct command *cmd = act(d, OPERATION_ROTATE_CA_PREPARE);
    assert_int_equal(cleura.writes, 1);
    cleura.stage = "PreparingWithoutWorkersRollout";
    running_run(d, 60 * MINUTE);
    assert_int_equal(cleura.writes, 1);
    expect_operation(d, "running", "PreparingWithoutWorkersRollout");
    cleura.stage = "Prepared";
    running_run(d, 5 * MINUTE);
    assert_int_equal(cleura.writes, 1);
    expect_operation(d, "succeeded", "");
    command_free(cmd);
    one_shoot_end(d);
}

/* Nothing shows whether Cleura accepted the call. The call is not sent again, and does not count as accepted.
 */
static void an_unheard_stage_after_a_lost_answer_is_looked_at_again(void **state)
{
    static const int lost[] = {504, 0};
    struct one_shoot cleura = {.uid = UID,
                               .stage = "NotInitiated",
                               .stage_then = "PreparingWithoutWorkersRollout",
                               .refusals = lost};
    struct running *d = one_shoot_start(&cleura);
    struct command *cmd = act(d, OPERATION_ROTATE_CA_PREPARE);
    running_run(d, 5 * MINUTE);
    assert_int_equal(cleura.writes, 1);
    expect_operation(d, "running", "does not show whether it had effect");
    cleura.stage = ""; /* has the same meaning as NotInitiated */
    running_run(d, MINUTE);
    assert_int_equal(cleura.writes, 2);
    cleura.stage = "Prepared";
    running_run(d, 60 * MINUTE);
    expect_operation(d, "succeeded", "Done");
    assert_int_equal(cleura.writes, 2);
    command_free(cmd);
    one_shoot_end(d);
}

static void a_stage_after_a_lost_answer_is_not_waited_for_without_end(void **state)
{
    static const int lost[] = {504, 0};
    static const char *const stages[] = {"PreparingWithoutWorkersRollout",
                                         "\\ud83d"}; /* unknown, and not valid as text */
    for (size_t i = 0; i < ARRAY_LEN(stages); i++) {
        struct one_shoot cleura = {
            .uid = UID, .stage = "NotInitiated", .stage_then = stages[i], .refusals = lost};
        struct running *d = one_shoot_start(&cleura);
        struct command *cmd = act(d, OPERATION_ROTATE_CA_PREPARE);
        running_run(d, 15 * MINUTE);
        assert_int_equal(cleura.writes, 1);
        expect_operation(d, "failed", "does not show whether it had effect");
        command_free(cmd);
        one_shoot_end(d);
    }
}

static struct command *change(struct running *d, enum command_type type, json_t *body)
{
    struct command *cmd = running_command(d, type, "p00", "dev", body);
    running_post(d, cmd);
    running_run(d, MINUTE / 2);
    assert_true(running_answered(cmd));
    assert_null(cmd->reply.problem);
    return cmd;
}

#define SHOOT(VERSION, MAXIMUM)                                                                           \
    "{\"name\":\"dev\",\"uid\":\"" UID "\",\"kubernetes\":{\"version\":" VERSION "},\"shoot_provider\":{" \
    "\"workers\":[{\"name\":\"a\",\"minimum\":1,\"maximum\":" MAXIMUM "}]},\"last_operation\":{\"type\":" \
    "\"Reconcile\",\"state\":\"Succeeded\",\"progress\":100,\"description\":\"\",\"last_update_time\":"   \
    "\"2026-03-01T12:00:00Z\"},\"status\":{\"is_hibernated\":false}}"

/* An unreadable version of Kubernetes does not cause an upgrade. */
static void a_change_sends_what_it_is_about(void **state)
{
    struct one_shoot cleura = {.uid = UID, .raw = SHOOT("\"1.33.7\"", "3"), .ineffective = true};
    struct running *d = one_shoot_start(&cleura);
    struct command *put = change(d, COMMAND_CLUSTER_PUT,
                                 json_pack("{s{ss s[{ss si}]}}", "spec", "kubernetes_version", "1.33",
                                           "node_pools", "name", "a", "maximum", 3));
    assert_int_equal(put->reply.status, 200);
    assert_int_equal(cleura.writes, 0);
    cleura.raw = SHOOT("133", "3");
    running_run(d, 5 * MINUTE);
    struct command *patch =
        change(d, COMMAND_CLUSTER_PATCH,
               json_pack("{s{s[{ss si}]}}", "spec", "node_pools", "name", "a", "maximum", 5));
    assert_int_equal(patch->reply.status, 202);
    assert_int_equal(cleura.writes, 1);
    assert_non_null(strstr(cleura.last_write, "/workers/a"));
    cleura.raw = SHOOT("133", "5");
    running_run(d, 60 * MINUTE);
    assert_int_equal(cleura.writes, 1);
    expect_operation(d, "succeeded", "Done");
    command_free(put);
    command_free(patch);
    one_shoot_end(d);
}

/* A change that Cleura refused did not happen, even when the present state cannot be read. */
static void a_change_in_vain_is_no_proof_of_what_is_there(void **state)
{
    static const int refused[] = {422, 0};
    struct one_shoot cleura = {.uid = UID, .raw = SHOOT("\"1.33.7\"", "3"), .refusals = refused};
    struct running *d = one_shoot_start(&cleura);
    static const char body[] = "{\"spec\":{\"kubernetes_version\":\"1.34.3\"}}";
    struct command *put = change(d, COMMAND_CLUSTER_PUT, json_loads(body, 0, NULL));
    assert_int_equal(put->reply.status, 202);
    expect_operation(d, "failed", "");
    assert_int_equal(cleura.writes, 1);
    cleura.raw = SHOOT("133", "3");
    running_run(d, 5 * MINUTE);
    struct command *again = change(d, COMMAND_CLUSTER_PUT, json_loads(body, 0, NULL));
    assert_int_equal(again->reply.status, 202);
    assert_int_equal(cleura.writes, 2);
    command_free(put);
    command_free(again);
    one_shoot_end(d);
}

static void an_end_that_nobody_could_read_says_so(void **state)
{
    struct one_shoot cleura = {.uid = UID};
    struct running *d = one_shoot_start(&cleura);
    cleura.raw = "{\"name\":\"dev\",\"uid\":\"" UID "\",\"last_operation\":{\"type\":\"Reconcile\",\"state\":"
                 "\"Succeeded\",\"progress\":100},\"status\":{\"is_hibernated\":\"perhaps\"}}";
    struct command *cmd = act(d, OPERATION_HIBERNATE);
    running_run(d, 30 * MINUTE);
    assert_int_equal(cleura.writes, 1);
    expect_operation(d, "succeeded", "cannot be read");
    command_free(cmd);
    one_shoot_end(d);
}

/* A delete destroys a shoot that counts as shootd's own. */
static void a_shoot_is_ours_when_enough_of_it_can_be_read(void **state)
{
    static const struct {
        const char *type; /* "": there is no operation; NULL: the type cannot be read */
        const char *version, *pools;
        enum likeness likeness;
    } rows[] = {
        {"Create", "\"1.33.7\"", "[{\"name\":\"a\",\"machine_type\":\"t\"}]", LIKENESS_PROVEN},
        {"", "\"1.33.7\"", "null", LIKENESS_PROVEN},
        {"Create", "null", "[{\"name\":\"a\",\"machine_type\":\"t\"}]", LIKENESS_PROVEN},
        {"Create", "\"1.33.7\"", "[{\"name\":null,\"machine_type\":null}]", LIKENESS_PROVEN},
        {"Create", "null", "null", LIKENESS_UNPROVEN},
        {"Create", "null", "[{\"name\":\"a\",\"machine_type\":null}]", LIKENESS_UNPROVEN},
        {"Create", "null", "[{\"name\":null,\"machine_type\":null}]", LIKENESS_UNPROVEN},
        {NULL, "\"1.33.7\"", "[{\"name\":\"a\",\"machine_type\":\"t\"}]", LIKENESS_UNPROVEN},
        {"Reconcile", "\"1.33.7\"", "[{\"name\":\"a\",\"machine_type\":\"t\"}]", LIKENESS_NONE},
        {"Create", "\"1.33.6\"", "[{\"name\":\"a\",\"machine_type\":\"t\"}]", LIKENESS_NONE},
        {"Create", "\"1.33.7\"", "[{\"name\":\"b\",\"machine_type\":\"t\"}]", LIKENESS_NONE},
        {"Create", "\"1.33.7\"", "[]", LIKENESS_NONE},
        {NULL, "\"1.33.6\"", "null", LIKENESS_NONE},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct shoot *s = MEM_NEW(struct shoot);
        char *text CLEANUP_FREE =
            mem_printf("{\"kubernetes_version\":%s,\"node_pools\":%s}", rows[i].version, rows[i].pools);
        shoot_set_observed(s, json_loads(text, 0, NULL));
        s->has_operation = !rows[i].type || *rows[i].type;
        s->operation_type = s->has_operation ? mem_strdup(rows[i].type) : NULL;
        struct operation op = {.body = json_pack("{ss s[{ss ss}]}", "kubernetes_version", "1.33.7",
                                                 "node_pools", "name", "a", "machine_type", "t")};
        const struct entity e = {.op = &op};
        if (proof_likeness(&e, s) != rows[i].likeness)
            fail_msg("row %zu", i);
        assert_int_equal(proof_is_ours(&e, s), rows[i].likeness == LIKENESS_PROVEN);
        json_decref(op.body);
        shoot_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_delete_needs_uid_and_name_only),
        cmocka_unit_test(a_shoot_of_which_nothing_else_can_be_read_is_found),
        cmocka_unit_test(a_change_waits_for_a_state_that_can_be_read),
        cmocka_unit_test(an_unheard_state_counts_as_in_progress),
        cmocka_unit_test(a_deletion_in_an_unheard_word_is_not_asked_for_again),
        cmocka_unit_test(an_unheard_stage_of_a_rotation_counts_as_in_progress),
        cmocka_unit_test(an_unheard_stage_after_a_lost_answer_is_looked_at_again),
        cmocka_unit_test(a_stage_after_a_lost_answer_is_not_waited_for_without_end),
        cmocka_unit_test(a_change_sends_what_it_is_about),
        cmocka_unit_test(a_change_in_vain_is_no_proof_of_what_is_there),
        cmocka_unit_test(an_end_that_nobody_could_read_says_so),
        cmocka_unit_test(a_shoot_is_ours_when_enough_of_it_can_be_read),
    };
    log_set_level(LOG_LEVEL_ERROR);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* A call that changes or destroys a shoot is sent only to the shoot that the caller meant. On a virtual
 * clock. */
#include "tests/support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/log.h"
#include "base/mem.h"
#include "reconcile/operations/action_kinds.h"
#include "reconcile/operations/step_kind.h"
#include "tests/support/one_shoot.h"
#include "tests/support/shown.h"

#define UID_OURS     "11111111-8888-4777-8666-555555555555"
#define UID_STRANGER "99999999-8888-4777-8666-555555555555"

/* Returns the uid of the cluster that readers see under the name "dev"; "" when there is none. The caller
 * frees it. */
static char *seen_uid(struct running *d, bool *ret_managed)
{
    const struct view_snapshot *s = view_enter(d->view);
    const struct view_blob *blob = view_find(s, VIEW_CLUSTERS, "p00/dev");
    struct cluster *c CLEANUP_CLUSTER = blob ? shown_cluster(blob) : NULL;
    char *uid = mem_strdup(c && c->shoot ? json_str_or(shoot_observed(c->shoot), "uid", "?") : "");
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

static char *seen_phase(struct running *d)
{
    const struct view_snapshot *s = view_enter(d->view);
    const struct view_blob *blob = view_find(s, VIEW_CLUSTERS, "p00/dev");
    struct cluster *c CLEANUP_CLUSTER = blob ? shown_cluster(blob) : NULL;
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
    struct cluster *c CLEANUP_CLUSTER = blob ? shown_cluster(blob) : NULL;
    char *id = mem_strdup(c ? c->id : "");
    view_leave(d->view);
    return id;
}

/* ---- destroying ---- */

static void a_delete_looks_first_and_is_sent(void **state)
{
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

/* The same uid in upper case. */
static void the_uid_in_upper_case_is_the_same_shoot(void **state)
{
    struct one_shoot cleura = {.uid = "abcdef11-8888-4777-8666-5555deadbeef"};
    struct running *d = one_shoot_start(&cleura);
    char *before CLEANUP_FREE = seen_id(d);
    cleura.uid = "ABCDEF11-8888-4777-8666-5555DEADBEEF";
    look_soon(d);
    running_run(d, 5 * MINUTE);
    expect_phase(d, "ready managed");
    char *after CLEANUP_FREE = seen_id(d);
    assert_string_equal(before, after);
    struct command *cmd = one_shoot_post(d, COMMAND_CLUSTER_DELETE);
    running_run(d, 5 * US_PER_S);
    assert_int_equal(cleura.writes, 1);
    assert_memory_equal(cleura.last_write, "DELETE ", 7);
    command_free(cmd);
    one_shoot_end(d);
}

/* The shoot was replaced between two polls, which are an hour apart. */
static void a_delete_never_reaches_what_replaced_the_shoot(void **state)
{
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

/* Without a uid the owner of the shoot is unknown. */
static void a_delete_waits_until_cleura_shows_the_uid(void **state)
{
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

/* The parts of a project's place in the configuration. */
struct place {
    const char *account, *url, *region, *project_id;
};
static const struct place here = {"main", "http://127.0.0.1:1", "Sto2", "id00"};
static const struct place elsewhere = {"main", "http://127.0.0.1:1", "Sto2", "id77"};

static void configure(char **member, const char *value)
{
    free(*member);
    *member = mem_strdup(value);
}

static void move_project(struct running *d, const struct place *place)
{
    configure(&d->config.accounts[0].name, place->account);
    configure(&d->config.accounts[0].url, place->url);
    configure(&d->config.projects[0].region, place->region);
    configure(&d->config.projects[0].project_id, place->project_id);
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

/* Starts a daemon with an open delete, and moves the project to `place`, which has a cluster of the same
 * name. */
static struct running *start_at(struct one_shoot *cleura, const struct place *place)
{
    struct running *d = one_shoot_start(cleura);
    cleura->away = true;
    struct command *cmd = one_shoot_post(d, COMMAND_CLUSTER_DELETE);
    running_run(d, MINUTE);
    (void)running_kill(d, false);
    command_free(cmd);
    *cleura = (struct one_shoot){.uid = UID_STRANGER};
    move_project(d, place);
    running_start(d);
    running_run(d, 20 * MINUTE);
    return d;
}

static void expect_set_aside(const struct place *place)
{
    struct one_shoot cleura = {.uid = UID_OURS};
    struct running *d = start_at(&cleura, place);
    assert_int_equal(cleura.calls, 0);
    struct command *cmd = one_shoot_post(d, COMMAND_CLUSTER_DELETE);
    assert_true(running_answered(cmd));
    assert_non_null(cmd->reply.problem);
    assert_int_equal(cmd->reply.problem->code, PROBLEM_PROJECT_SET_ASIDE);
    command_free(cmd);
    assert_int_equal(cleura.calls, 0);
    /* The old configuration is back, and the delete continues. */
    (void)running_kill(d, false);
    cleura.uid = UID_OURS;
    move_project(d, &here);
    running_start(d);
    running_run(d, MINUTE);
    assert_int_equal(cleura.writes, 1);
    one_shoot_end(d);
}

static void a_moved_project_is_set_aside_with_its_open_operations(void **state)
{
    expect_set_aside(&elsewhere);
}

static void another_region_account_or_url_is_another_place(void **state)
{
    static const struct place places[] = {{"main", "http://127.0.0.1:1", "Kna1", "id00"},
                                          {"spare", "http://127.0.0.1:1", "Sto2", "id00"},
                                          {"main", "http://127.0.0.2:1", "Sto2", "id00"}};
    for (size_t i = 0; i < ARRAY_LEN(places); i++)
        expect_set_aside(&places[i]);
}

static void an_admin_says_that_they_are_not_there(void **state)
{
    struct one_shoot cleura = {.uid = UID_OURS};
    struct running *d = start_at(&cleura, &elsewhere);
    assert_int_equal(confirm(d, "perhaps"), 422);
    assert_int_equal(confirm(d, "forget"), 200);
    assert_int_equal(cleura.writes, 0);
    expect_seen(d, UID_STRANGER, false);
    assert_int_equal(confirm(d, "forget"), 409);
    one_shoot_end(d);
}

/* After the confirmation the uid still decides. */
static void an_admin_says_that_they_are(void **state)
{
    struct one_shoot cleura = {.uid = UID_OURS};
    struct running *d = start_at(&cleura, &elsewhere);
    assert_int_equal(confirm(d, "keep"), 200);
    running_run(d, 10 * MINUTE);
    assert_int_equal(cleura.writes, 0);
    expect_seen(d, UID_STRANGER, false);
    one_shoot_end(d);
}

/* ---- absence ---- */

static void a_moment_of_blindness_changes_nothing(void **state)
{
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

/* The record also survives a restart. */
static void cluster_absent_for_long_is_gone_and_comes_back_whole(void **state)
{
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

/* An outage between two reads does not count as absence. Only reads that found nothing count. */
static void an_outage_is_no_absence(void **state)
{
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

/* A gateway answers one 404 for a cluster whose deletion failed permanently at Cleura long ago. */
static void a_deletion_that_failed_is_no_proof(void **state)
{
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

/* The answer to a change has no uid. The record still contains the uid of the right shoot. */
static void an_answer_without_a_uid_makes_nobody_forget(void **state)
{
    struct one_shoot cleura = {.uid = UID_OURS, .ineffective = true, .writes_have_no_uid = true};
    struct running *d = one_shoot_start(&cleura);
    struct command *put = one_shoot_post_version(d);
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

/* The delete was not sent, because Cleura showed no shoot. That proves no deletion. */
static void a_delete_in_a_moment_of_blindness_is_sent_later(void **state)
{
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

struct asked {
    enum command_type type;
    enum operation_type action; /* for COMMAND_CLUSTER_ACTION */
    const char *spec;           /* JSON; NULL: an action */
    struct one_shoot shoot;     /* the shoot before the request */
};

#define WORKER                                                                                              \
    "{\"name\":\"p1\",\"machine\":{\"type\":\"b.2c4gb\",\"image\":{\"name\":\"gardenlinux\",\"version\":"   \
    "\"1877.9.0\"}},\"minimum\":1,\"maximum\":2,\"max_surge\":1,\"volume\":{\"size\":\"50Gi\"},\"zones\":[" \
    "\"nova\"]}"
#define POOLS(maximum)                                                                                       \
    "{\"node_pools\":[{\"name\":\"p1\",\"machine_type\":\"b.2c4gb\",\"minimum\":1,\"maximum\":" maximum "}]" \
    "}"
#define TWO_POOLS                                                                                  \
    "{\"node_pools\":[{\"name\":\"p1\",\"machine_type\":\"b.2c4gb\",\"minimum\":1,\"maximum\":2}," \
    "{\"name\":\"p2\",\"machine_type\":\"b.2c4gb\",\"minimum\":1,\"maximum\":2}]}"
#define ONE_OF_TWO WORKER ",{\"name\":\"p2\",\"machine\":{\"type\":\"b.2c4gb\"},\"minimum\":1,\"maximum\":1}"
#define ACTION(which, ...)                   \
    {                                        \
        COMMAND_CLUSTER_ACTION, which, NULL, \
        {                                    \
            __VA_ARGS__                      \
        }                                    \
    }

/* Every call that changes a shoot. */
static const struct asked changes[] = {
    ACTION(OPERATION_HIBERNATE, .uid = UID_OURS),
    ACTION(OPERATION_WAKE, .uid = UID_OURS, .hibernated = true),
    ACTION(OPERATION_RECONCILE, .uid = UID_OURS),
    ACTION(OPERATION_RETRY, .uid = UID_OURS, .state = "Failed"),
    ACTION(OPERATION_MAINTAIN, .uid = UID_OURS),
    ACTION(OPERATION_ENABLE_HA, .uid = UID_OURS),
    ACTION(OPERATION_ROTATE_CA_PREPARE, .uid = UID_OURS, .stage = "NotInitiated"),
    ACTION(OPERATION_ROTATE_CA_COMPLETE, .uid = UID_OURS, .stage = "Prepared"),
    {COMMAND_CLUSTER_PUT, 0, "{\"kubernetes_version\":\"1.34.3\"}", {.uid = UID_OURS}},
    {COMMAND_CLUSTER_PUT, 0, POOLS("3"), {.uid = UID_OURS, .workers = WORKER}},
    {COMMAND_CLUSTER_PATCH, 0, POOLS("4"), {.uid = UID_OURS, .workers = WORKER}},
    {COMMAND_CLUSTER_PATCH, 0, TWO_POOLS, {.uid = UID_OURS, .workers = WORKER}},
    {COMMAND_CLUSTER_PUT, 0, POOLS("2"), {.uid = UID_OURS, .workers = ONE_OF_TWO}},
};

/* Requests the change while the shoot has this uid. `sent`: whether a call must be sent. */
static void expect_sent(const struct asked *asked, const char *uid, bool sent)
{
    struct one_shoot cleura = {.uid = UID_OURS, .workers = asked->shoot.workers};
    struct running *d = one_shoot_start(&cleura);
    cleura.hibernated = asked->shoot.hibernated;
    cleura.state = asked->shoot.state;
    cleura.stage = asked->shoot.stage;
    look_soon(d);
    expect_seen(d, UID_OURS, true);
    cleura.uid = uid;
    json_t *body = asked->spec ? json_pack("{s:o}", "spec", json_loads(asked->spec, 0, NULL)) : NULL;
    struct command *cmd = running_command(d, asked->type, "p00", "dev", body);
    cmd->write.action = asked->action;
    running_post(d, cmd);
    running_run(d, 5 * US_PER_S);
    assert_true(running_answered(cmd));
    if (cmd->reply.problem)
        print_error("%s\n", cmd->reply.problem->detail);
    assert_int_equal(cmd->reply.status, 202);
    assert_int_equal(cleura.writes > 0, sent);
    if (!sent) {
        running_run(d, 10 * MINUTE);
        assert_int_equal(cleura.writes, 0);
        expect_seen(d, uid, false);
    }
    command_free(cmd);
    one_shoot_end(d);
}

static void changes_and_actions_never_reach_it_either(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(changes); i++) {
        expect_sent(&changes[i], UID_OURS, true);
        expect_sent(&changes[i], UID_STRANGER, false);
    }
}

/* ---- the window ---- */

/*
 * A delete waits in its lane after its shoot was read. In that moment Cleura answers another call with 429,
 * so the lane waits longer than the read is valid. Meanwhile the shoot of this name is replaced by the shoot
 * with the uid `uid`.
 */
static void delete_in_a_slow_lane(const char *uid, unsigned writes)
{
    const struct canned_answer asked_too_much = {HTTP_ANSWERED, 429, "{}", "60", 150 * US_PER_MS};
    struct one_shoot cleura = {.uid = UID_OURS};
    struct running *d = one_shoot_start(&cleura);
    d->config.accounts[0].max_in_flight = 2;
    cleura.next_list = &asked_too_much;
    unsigned reads = cleura.reads;
    struct command *fresh = running_command(d, COMMAND_FRESH, "p00", NULL, NULL);
    running_post(d, fresh);
    running_run(d, US_PER_MS);
    struct command *cmd = one_shoot_post(d, COMMAND_CLUSTER_DELETE);
    running_run(d, US_PER_S);
    assert_null(cleura.next_list);
    assert_int_equal(cleura.reads, reads + 1); /* the read before the delete */
    assert_int_equal(cleura.writes, 0);
    running_run(d, 28 * US_PER_S);
    cleura.uid = uid;
    running_run(d, 28 * US_PER_S);
    assert_int_equal(cleura.reads, reads + 1);
    assert_int_equal(cleura.writes, 0);
    running_run(d, 10 * MINUTE);
    assert_true(cleura.reads > reads + 1);
    assert_int_equal(cleura.writes, writes);
    command_free(fresh);
    command_free(cmd);
    one_shoot_end(d);
}

static void a_write_that_waited_in_its_lane_looks_again(void **state)
{
    delete_in_a_slow_lane(UID_OURS, 1);
}

static void and_is_not_sent_to_what_replaced_the_shoot_meanwhile(void **state)
{
    delete_in_a_slow_lane(UID_STRANGER, 0);
}

/* A list that takes longer than the read is valid waits when the shoot was read. */
static void a_write_is_not_overtaken_after_its_read(void **state)
{
    const struct canned_answer slow = {HTTP_ANSWERED, 200, "[]", NULL, 40 * US_PER_S};
    struct one_shoot cleura = {.uid = UID_OURS, .has_second_project = true};
    struct running *d = one_shoot_start(&cleura);
    d->config.accounts[0].min_spacing_us = US_PER_MS;
    cleura.next_list = &slow;
    unsigned reads = cleura.reads;
    struct command *cmd = one_shoot_post(d, COMMAND_CLUSTER_DELETE);
    struct command *fresh = running_command(d, COMMAND_FRESH, "p01", NULL, NULL);
    running_post(d, fresh);
    running_run(d, US_PER_S);
    assert_int_equal(cleura.reads, reads + 1);
    assert_int_equal(cleura.writes, 1);
    running_run(d, MINUTE);
    assert_null(cleura.next_list);
    command_free(fresh);
    command_free(cmd);
    one_shoot_end(d);
}

static void a_large_spacing_leaves_time_for_the_write(void **state)
{
    struct one_shoot cleura = {.uid = UID_OURS};
    struct running *d = one_shoot_start(&cleura);
    d->config.accounts[0].min_spacing_us = MINUTE;
    struct command *cmd = one_shoot_post(d, COMMAND_CLUSTER_DELETE);
    running_run(d, 10 * MINUTE);
    assert_int_equal(cleura.writes, 1);
    command_free(cmd);
    one_shoot_end(d);
}

/* The content of an answer may be as old as its request, however late it comes. */
static void a_late_answer_allows_no_write(void **state)
{
    static const struct {
        int64_t takes_s;
        unsigned writes;
    } rows[] = {{1, 1}, {10, 1}, {18, 1}, {25, 0}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct one_shoot cleura = {.uid = UID_OURS};
        struct running *d = one_shoot_start(&cleura);
        cleura.read_takes_us = rows[i].takes_s * US_PER_S;
        const unsigned reads = cleura.reads;
        struct command *cmd = one_shoot_post(d, COMMAND_CLUSTER_DELETE);
        running_run(d, MINUTE);
        assert_int_equal(cleura.writes, rows[i].writes);
        assert_in_range(cleura.reads, reads + 1, reads + 20);
        cleura.read_takes_us = 0;
        running_run(d, MINUTE);
        assert_int_equal(cleura.writes, 1);
        command_free(cmd);
        one_shoot_end(d);
    }
}

static void answers_that_stay_late_end_the_operation(void **state)
{
    struct one_shoot cleura = {.uid = UID_OURS};
    struct running *d = one_shoot_start(&cleura);
    cleura.read_takes_us = 25 * US_PER_S;
    struct command *cmd = one_shoot_post(d, COMMAND_CLUSTER_DELETE);
    running_run(d, 9 * MINUTE);
    expect_cluster(d->view, "p00/dev", "deleting managed");
    running_run(d, 4 * MINUTE);
    expect_cluster(d->view, "p00/dev", "ready managed");
    assert_int_equal(cleura.writes, 0);
    command_free(cmd);
    one_shoot_end(d);
}

/* When a row of a table of actions, or a member of a row, is missing, the call is sent twice after a lost
 * answer, or not at all. */
static void every_action_is_complete(void **state)
{
    for (int type = OPERATION_DELETE + 1; type < OPERATION_TYPE_MAX_; type++) {
        const struct action_kind *action = action_kind((enum operation_type)type);
        if (!action)
            fail_msg("%s has no row, or no step", operation_type_name((enum operation_type)type));
        for (const struct action_step *step = action->steps; step->target; step++) {
            const struct step_kind *kind = step_kind_of(step->type);
            assert_true(step->type != STEP_BOOTSTRAP && kind->exclusive);
            assert_true(kind->found || kind->is_met || kind->probed);
        }
        bool is_tried = false;
        for (size_t i = 0; i < ARRAY_LEN(changes); i++)
            is_tried |= changes[i].type == COMMAND_CLUSTER_ACTION && (int)changes[i].action == type;
        assert_true(is_tried);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_action_is_complete),
        cmocka_unit_test(a_delete_looks_first_and_is_sent),
        cmocka_unit_test(a_delete_never_reaches_what_replaced_the_shoot),
        cmocka_unit_test(nor_after_an_outage_and_a_kill),
        cmocka_unit_test(a_delete_waits_until_cleura_shows_the_uid),
        cmocka_unit_test(the_uid_in_upper_case_is_the_same_shoot),
        cmocka_unit_test(changes_and_actions_never_reach_it_either),
        cmocka_unit_test(a_write_that_waited_in_its_lane_looks_again),
        cmocka_unit_test(and_is_not_sent_to_what_replaced_the_shoot_meanwhile),
        cmocka_unit_test(a_write_is_not_overtaken_after_its_read),
        cmocka_unit_test(a_large_spacing_leaves_time_for_the_write),
        cmocka_unit_test(a_late_answer_allows_no_write),
        cmocka_unit_test(answers_that_stay_late_end_the_operation),
        cmocka_unit_test(another_region_account_or_url_is_another_place),
        cmocka_unit_test(a_moved_project_is_set_aside_with_its_open_operations),
        cmocka_unit_test(an_admin_says_that_they_are_not_there),
        cmocka_unit_test(an_admin_says_that_they_are),
        cmocka_unit_test(a_moment_of_blindness_changes_nothing),
        cmocka_unit_test(cluster_absent_for_long_is_gone_and_comes_back_whole),
        cmocka_unit_test(an_outage_is_no_absence),
        cmocka_unit_test(a_deletion_that_failed_is_no_proof),
        cmocka_unit_test(an_answer_without_a_uid_makes_nobody_forget),
        cmocka_unit_test(another_uid_gets_a_record_of_its_own),
        cmocka_unit_test(a_delete_in_a_moment_of_blindness_is_sent_later),
    };
    log_set_level(LOG_LEVEL_ERROR);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

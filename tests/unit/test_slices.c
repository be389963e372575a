/* Events that concern many clusters. The loop handles a few clusters in each turn. On a virtual clock. */
#include "tests/support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/buffer.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "reconcile/reload.h"
#include "tests/support/running.h"
#include "view/cluster_facts.h"

enum {
    CLUSTERS = 500,
    OTHERS = 12, /* projects without clusters */
    SLICE = 16,  /* limit of changes in one piece of work */
    PIECES = 3,  /* pieces in one turn: rows of a list, the beginning of a walk, its next slice */
    TURNS_MAX = 20000,
    WAIT_S = 1800,
};

struct many {
    struct running d;
    char *list;
    const char *expires_at; /* expiry of the version that all clusters use */
    char catalog[1024];
    bool away, refused, name_is_taken;
    bool is_everywhere;     /* all projects have the shoots of the list, otherwise only "id00" */
    const char *unanswered; /* a part of the URLs that get no answer; NULL: all get an answer */
};

static const char catalog_form[] =
    "[{\"name\":\"cleuracloud\",\"kubernetes\":{\"versions\":[{\"version\":\"1.33.7\",\"expiration_date\":\"%"
    "s\"}]},"
    "\"machine_types\":[{\"name\":\"b.2c4gb\",\"cpu\":\"2\",\"memory\":\"4Gi\"}],"
    "\"machine_images\":[{\"name\":\"gardenlinux\",\"versions\":[{\"version\":\"1877.9.0\"}]}],"
    "\"regions\":[{\"name\":\"Sto2\",\"zones\":[{\"name\":\"nova\"}]}]}]";

static const char shoot_form[] =
    "%s{\"name\":\"c%04u\",\"uid\":\"00000000-0000-4000-8000-%012u\",\"technical_id\":\"shoot--p--c%u\","
    "\"purpose\":\"evaluation\",\"kubernetes\":{\"version\":\"1.33.7\"},"
    "\"networking\":{\"type\":\"calico\",\"nodes\":\"10.250.0.0/16\"},"
    "\"maintenance\":{\"auto_update\":{\"kubernetes_version\":true,\"machine_image_version\":true},"
    "\"time_window\":{\"begin\":\"020000+0000\",\"end\":\"030000+0000\"}},"
    "\"shoot_provider\":{\"workers\":[{\"name\":\"default\",\"machine\":{\"type\":\"b.2c4gb\",\"image\":"
    "{\"name\":\"gardenlinux\",\"version\":\"1877.9.0\"}},\"minimum\":1,\"maximum\":3,\"max_surge\":1,"
    "\"volume\":{\"size\":\"50Gi\"},\"zones\":[\"nova\"]}]},\"last_operation\":{\"type\":\"Create\","
    "\"state\":"
    "\"Succeeded\",\"progress\":100,\"description\":\"Done\",\"last_update_time\":\"2026-01-01T00:00:00Z\"},"
    "\"status\":{\"is_hibernated\":false,\"conditions\":[{\"type\":\"APIServerAvailable\",\"status\":"
    "\"True\"}],"
    "\"constraints\":[],\"last_errors\":[]}}";

static char *list_text(unsigned clusters)
{
    struct buffer out CLEANUP_BUFFER;
    buffer_init(&out, SIZE_MAX);
    for (unsigned i = 0; i < clusters; i++)
        buffer_printf(&out, shoot_form, i ? "," : "[", i, i, i);
    buffer_add_str(&out, "]");
    return buffer_take(&out, NULL);
}

static struct canned_answer respond(void *ctx, const struct seen_request *request)
{
    struct many *m = ctx;
    const int64_t latency = 10 * US_PER_MS;
    if (m->away)
        return (struct canned_answer){HTTP_NOT_SENT, 0, NULL, NULL, latency};
    if (m->unanswered && strstr(request->url, m->unanswered))
        return (struct canned_answer){HTTP_ANSWERED, 200, "[]", NULL, WAIT_S * US_PER_S};
    if (strstr(request->url, "/is-name-taken"))
        return (struct canned_answer){HTTP_ANSWERED, 200,
                                      m->name_is_taken ? "{\"is_taken\":true}" : "{\"is_taken\":false}", NULL,
                                      latency};
    if (strstr(request->url, "/cloud-profiles")) {
        (void)snprintf(m->catalog, sizeof(m->catalog), catalog_form, m->expires_at);
        return (struct canned_answer){HTTP_ANSWERED, 200, m->catalog, NULL, latency};
    }
    if (strstr(request->url, "/shoots/") && m->refused)
        return (struct canned_answer){HTTP_ANSWERED, 403, "{}", NULL, latency};
    if (strstr(request->url, "/shoots/")) {
        const bool has_shoots = m->is_everywhere || strstr(request->url, "id00");
        return (struct canned_answer){HTTP_ANSWERED, 200, has_shoots ? m->list : "[]", NULL, latency};
    }
    return (struct canned_answer){HTTP_ANSWERED, 201, "{\"result\":\"login_ok\",\"token\":\"t1\"}", NULL,
                                  latency};
}

/* ---- the state that readers see ---- */

static size_t count_shown(struct many *m, bool (*fits)(const struct many *m, const struct cluster_facts *c))
{
    size_t count = 0;
    const struct view_snapshot *s = view_enter(m->d.view);
    struct view_cursor place = view_seek(s, VIEW_CLUSTERS, "");
    for (const struct view_entry *e = view_next(&place); e; e = view_next(&place))
        count += fits(m, e->blob->subject);
    view_leave(m->d.view);
    return count;
}

static bool any(const struct many *m, const struct cluster_facts *c)
{
    return c != NULL;
}

static bool is_stale(const struct many *m, const struct cluster_facts *c)
{
    return c->stale;
}

static bool has_date(const struct many *m, const struct cluster_facts *c)
{
    wall_us at;
    return time_parse_rfc3339(m->expires_at, &at) && c->expires_at == at;
}

/* Runs turns until `fits` is true for all clusters. No turn changes more than `slice` clusters, however much
 * time has passed. */
static void all_turn(struct many *m, bool (*fits)(const struct many *m, const struct cluster_facts *c),
                     size_t slice)
{
    size_t before = count_shown(m, fits);
    assert_true(before < CLUSTERS);
    for (unsigned turns = 0; before < CLUSTERS; turns++) {
        assert_in_range(turns, 0, TURNS_MAX);
        running_turn(&m->d);
        size_t now = count_shown(m, fits);
        assert_true(now <= before + slice);
        before = now;
    }
}

static struct many *begin(void)
{
    const struct polling polling = {60 * US_PER_S, 600 * US_PER_S, 600 * US_PER_S};
    struct many *m = MEM_NEW(struct many);
    m->list = list_text(CLUSTERS);
    m->expires_at = "2027-03-01T00:00:00Z";
    running_init(&m->d, 5, 1 + OTHERS, &polling);
    m->d.respond = respond;
    m->d.ctx = m;
    running_start(&m->d);
    return m;
}

static void end(struct many *m)
{
    (void)running_kill(&m->d, false);
    running_done(&m->d);
    free(m->list);
    free(m);
}

/* ---- expectations ---- */

static void b2_a_list_that_fails_marks_a_few_in_each_turn(void **state)
{
    struct many *m = begin();
    all_turn(m, any, SLICE);
    m->refused = true;
    all_turn(m, is_stale, SLICE);
    m->refused = false;
    running_run(&m->d, WAIT_S * US_PER_S);
    assert_int_equal(count_shown(m, is_stale), 0); /* the clusters were read again */
    end(m);
}

static void b2_an_outage_marks_a_few_in_each_turn(void **state)
{
    struct many *m = begin();
    all_turn(m, any, SLICE);
    m->away = true;
    all_turn(m, is_stale, SLICE);
    end(m);
}

/* The answer comes when all clusters are marked. */
static void b2_a_reader_that_hears_of_a_failure_sees_all_marked(void **state)
{
    struct many *m = begin();
    all_turn(m, any, SLICE);
    m->away = true;
    struct command *cmd = running_command(&m->d, COMMAND_FRESH, "p00", NULL, NULL);
    cmd->deadline = m->d.world.now + 2 * US_PER_S;
    running_post(&m->d, cmd);
    for (size_t before = 0, now; before < CLUSTERS; before = now) {
        running_turn(&m->d);
        now = count_shown(m, is_stale);
        assert_true(now <= before + SLICE);
        assert_true(now == CLUSTERS || !running_answered(cmd));
    }
    running_run(&m->d, US_PER_S);
    assert_true(running_answered(cmd));
    assert_int_equal(cmd->fresh.outcome, FRESH_FAILED);
    command_free(cmd);
    end(m);
}

static void b2_another_catalog_dates_a_few_in_each_turn(void **state)
{
    struct many *m = begin();
    running_run(&m->d, WAIT_S * US_PER_S);
    assert_int_equal(count_shown(m, has_date), CLUSTERS);
    m->expires_at = "2027-06-01T00:00:00Z";
    all_turn(m, has_date, PIECES * SLICE);
    end(m);
}

static size_t catalogs_shown(struct many *m)
{
    size_t count = view_enter(m->d.view)->sections[VIEW_CATALOGS].count;
    view_leave(m->d.view);
    return count;
}

static void b2_a_catalog_reaches_one_project_after_the_other(void **state)
{
    struct many *m = begin();
    size_t before = 0;
    for (unsigned turns = 0; before < 1 + OTHERS; turns++) {
        assert_in_range(turns, 0, TURNS_MAX);
        running_turn(&m->d);
        size_t now = catalogs_shown(m);
        assert_true(now <= before + PIECES);
        before = now;
    }
    end(m);
}

static void b2_clusters_of_another_place_are_forgotten_a_few_in_each_turn(void **state)
{
    struct many *m = begin();
    all_turn(m, any, SLICE);
    (void)running_kill(&m->d, false);
    char *before = m->d.config.projects[0].project_id;
    m->d.config.projects[0].project_id = mem_strdup("id99");
    running_start(&m->d);
    struct command *cmd = running_command(&m->d, COMMAND_LOCATION_CONFIRM, "p00", NULL,
                                          json_pack("{ss}", "clusters", "forget"));
    running_post(&m->d, cmd);
    size_t left = count_shown(m, any);
    assert_int_equal(left, CLUSTERS);
    for (unsigned turns = 0; left; turns++) {
        assert_in_range(turns, 0, TURNS_MAX);
        running_turn(&m->d);
        size_t now = count_shown(m, any);
        /* One commit may contain the changes of two turns. */
        assert_true(now + 2 * SLICE >= left);
        assert_true(!running_answered(cmd) || !now);
        left = now;
    }
    running_run(&m->d, US_PER_S);
    assert_true(running_answered(cmd));
    assert_int_equal(cmd->reply.status, 200);
    command_free(cmd);
    free(m->d.config.projects[0].project_id);
    m->d.config.projects[0].project_id = before;
    end(m);
}

/* ---- the configuration is read again ---- */

static void on_in_force(void *ctx)
{
    ++*(unsigned *)ctx;
}

static size_t projects_shown(struct many *m)
{
    size_t count = view_enter(m->d.view)->sections[VIEW_PROJECTS].count;
    view_leave(m->d.view);
    return count;
}

/* Runs turns until the configuration is in use. One project is added or removed in a turn. */
static void put_into_force(struct many *m, const struct config *config)
{
    unsigned ended = 0;
    size_t before = projects_shown(m);
    reconcile_configure(m->d.reconcile, config, on_in_force, &ended);
    loop_end_turn(m->d.loop);
    for (unsigned turns = 0; !ended; turns++) {
        size_t now = projects_shown(m);
        assert_in_range(turns, 0, TURNS_MAX);
        assert_true(now + 1 >= before && now <= before + 1);
        before = now;
        running_turn(&m->d);
    }
    assert_int_equal(ended, 1);
    assert_int_equal(projects_shown(m), config->project_count);
}

static void b2_projects_go_and_come_back_one_in_a_turn(void **state)
{
    struct many *m = begin();
    struct config fewer = m->d.config;
    all_turn(m, any, SLICE);
    fewer.project_count = 1;
    put_into_force(m, &fewer);
    assert_int_equal(count_shown(m, any), CLUSTERS);
    put_into_force(m, &m->d.config);
    running_run(&m->d, WAIT_S * US_PER_S);
    assert_int_equal(count_shown(m, any), CLUSTERS);
    end(m);
}

/* While a create waits for an answer of Cleura, the configuration is replaced by one without the project of
 * the create. */
static void expect_a_create_to_end(bool is_dry_run, bool name_is_taken, const char *unanswered)
{
    struct many *m = begin();
    struct config fewer = m->d.config;
    running_run(&m->d, (WAIT_S + 7) * US_PER_S); /* between two polls */
    m->name_is_taken = name_is_taken;
    m->unanswered = unanswered;
    struct command *cmd =
        running_command(&m->d, COMMAND_CLUSTER_CREATE, "p05", NULL, json_pack("{ss}", "name", "new"));
    cmd->write.dry_run = is_dry_run;
    running_post(&m->d, cmd);
    running_run(&m->d, US_PER_S);
    assert_false(running_answered(cmd));
    fewer.project_count = 1;
    put_into_force(m, &fewer);
    assert_true(running_answered(cmd));
    assert_non_null(cmd->reply.problem);
    assert_int_equal(cmd->reply.problem->code, PROBLEM_PROJECT_NOT_FOUND);
    command_free(cmd);
    end(m);
}

static void a_dry_run_ends_with_its_project(void **state)
{
    expect_a_create_to_end(true, false, "/current-user/projects");
}

static void a_name_check_ends_with_its_project(void **state)
{
    expect_a_create_to_end(false, false, "/is-name-taken");
}

/* The name is taken, and Cleura has not yet sent the list that may show the owner of the name. */
static void a_search_for_the_owner_of_a_name_ends_with_its_project(void **state)
{
    expect_a_create_to_end(false, true, "/shoots/Sto2");
}

/* ---- decisions of an admin while the configuration is read again ---- */

enum { DECISIONS_MAX = 8192, RELOADS = 4 };

struct decisions {
    struct command *posted[DECISIONS_MAX];
    unsigned count;
};

/* Posts a decision about each project. */
static void decide_all(struct many *m, struct decisions *decisions)
{
    static const char *const choices[] = {"keep", "forget"};
    for (size_t i = 0; i < m->d.config.project_count; i++) {
        const char *choice = choices[(decisions->count / m->d.config.project_count + i) % ARRAY_LEN(choices)];
        struct command *cmd = running_command(&m->d, COMMAND_LOCATION_CONFIRM, m->d.config.projects[i].name,
                                              NULL, json_pack("{ss}", "clusters", choice));
        assert_in_range(decisions->count, 0, DECISIONS_MAX - 1);
        decisions->posted[decisions->count++] = cmd;
        running_post(&m->d, cmd);
    }
}

/* A decision that a reload has stopped gets 503. */
static bool is_carried_out_or_refused(const struct command *cmd)
{
    const struct problem *problem = cmd->reply.problem;
    if (!problem)
        return running_answered(cmd) && cmd->reply.status == 200;
    return problem->code == PROBLEM_ACTION_NOT_POSSIBLE || problem->code == PROBLEM_UPSTREAM_UNAVAILABLE;
}

/* Each reload moves all projects, whose clusters are then set aside. */
static void decisions_about_locations_are_refused_while_a_reload_moves_the_projects(void **state)
{
    static char other_id[] = "other";
    struct many *m = begin();
    struct decisions *decisions = MEM_NEW(struct decisions);
    struct config elsewhere = m->d.config;
    elsewhere.projects = mem_calloc(elsewhere.project_count, sizeof(*elsewhere.projects));
    for (size_t i = 0; i < elsewhere.project_count; i++) {
        elsewhere.projects[i] = m->d.config.projects[i];
        elsewhere.projects[i].project_id = other_id;
    }
    free(m->list);
    m->list = list_text(3);
    m->is_everywhere = true;
    running_run(&m->d, WAIT_S * US_PER_S);
    assert_int_equal(count_shown(m, any), 3 * m->d.config.project_count);
    for (unsigned reloads = 0; reloads < RELOADS; reloads++) {
        unsigned ended = 0;
        const struct config *config = reloads % 2 ? &m->d.config : &elsewhere;
        reconcile_configure(m->d.reconcile, config, on_in_force, &ended);
        loop_end_turn(m->d.loop);
        for (unsigned turns = 0; !ended; turns++) {
            assert_in_range(turns, 0, TURNS_MAX);
            decide_all(m, decisions);
            running_turn(&m->d);
        }
    }
    running_run(&m->d, US_PER_S);
    unsigned carried_out = 0;
    for (unsigned i = 0; i < decisions->count; i++) {
        assert_true(is_carried_out_or_refused(decisions->posted[i]));
        carried_out += !decisions->posted[i]->reply.problem;
        command_free(decisions->posted[i]);
    }
    assert_true(carried_out > 0);
    end(m);
    free(elsewhere.projects);
    free(decisions);
}

/* Returns the configuration with the first project at another place. `projects` holds its projects. */
static struct config with_moved_project(const struct many *m, struct config_project projects[1 + OTHERS],
                                        char *project_id)
{
    struct config moved = m->d.config;
    memcpy(projects, m->d.config.projects, (1 + OTHERS) * sizeof(*projects));
    projects[0].project_id = project_id;
    moved.projects = projects;
    return moved;
}

/* While a reload moves a project, a decision about it gets 503. */
static void a_decision_about_a_project_that_is_being_moved_is_refused(void **state)
{
    static char other_id[] = "other";
    struct config_project projects[1 + OTHERS];
    unsigned ended = 0, refused = 0;
    struct many *m = begin();
    const struct config moved = with_moved_project(m, projects, other_id);
    reconcile_configure(m->d.reconcile, &moved, on_in_force, &ended);
    loop_end_turn(m->d.loop);
    for (unsigned turns = 0; !ended; turns++) {
        assert_in_range(turns, 0, TURNS_MAX);
        struct command *cmd = running_command(&m->d, COMMAND_LOCATION_CONFIRM, "p00", NULL,
                                              json_pack("{ss}", "clusters", "keep"));
        running_post(&m->d, cmd);
        running_turn(&m->d);
        assert_true(running_answered(cmd));
        refused += cmd->reply.problem && cmd->reply.problem->code == PROBLEM_UPSTREAM_UNAVAILABLE;
        command_free(cmd);
    }
    assert_true(refused > 0);
    end(m);
}

/* A change of a cluster is still being stored when its project is set aside. */
static void the_reason_of_a_moved_project_outlives_an_older_change(void **state)
{
    static char other[] = "other";
    struct config_project projects[1 + OTHERS];
    struct many *m = begin();
    const struct config moved = with_moved_project(m, projects, other);
    all_turn(m, any, SLICE);
    m->d.store.is_held = true;
    struct command *put =
        running_command(&m->d, COMMAND_CLUSTER_PUT, "p00", "c0007", json_pack("{s{}}", "spec"));
    running_post(&m->d, put);
    put_into_force(m, &moved);
    m->d.store.is_held = false;
    running_run(&m->d, US_PER_S);
    assert_int_equal(put->reply.status, 200);
    command_free(put);
    const struct view_blob *shown = view_find(view_enter(m->d.view), VIEW_CLUSTERS, "p00/c0007");
    assert_non_null(shown);
    assert_non_null(memmem(shown->body, shown->body_len, "Set aside", strlen("Set aside")));
    view_leave(m->d.view);
    end(m);
}

/* The store is slow, so the records whose end it has not stored yet are still there at the second
 * decision. */
static void a_second_decision_passes_over_records_that_are_being_ended(void **state)
{
    static char second[] = "second", third[] = "third";
    struct config_project at_second[1 + OTHERS], at_third[1 + OTHERS];
    struct many *m = begin();
    const struct config to_second = with_moved_project(m, at_second, second);
    const struct config to_third = with_moved_project(m, at_third, third);
    all_turn(m, any, SLICE);
    put_into_force(m, &to_second);
    m->d.store.is_held = true;
    struct command *decisions[2];
    for (size_t i = 0; i < ARRAY_LEN(decisions); i++) {
        decisions[i] = running_command(&m->d, COMMAND_LOCATION_CONFIRM, "p00", NULL,
                                       json_pack("{ss}", "clusters", "forget"));
        running_post(&m->d, decisions[i]); /* ends the first records */
        if (!i)
            put_into_force(m, &to_third); /* stops the first decision */
    }
    for (int i = 0; i < 100; i++)
        running_turn(&m->d);
    m->d.store.is_held = false;
    running_run(&m->d, US_PER_S);
    assert_non_null(decisions[0]->reply.problem);
    assert_int_equal(decisions[0]->reply.problem->code, PROBLEM_UPSTREAM_UNAVAILABLE);
    assert_true(running_answered(decisions[1]));
    assert_int_equal(decisions[1]->reply.status, 200);
    command_free(decisions[0]);
    command_free(decisions[1]);
    end(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(b2_a_list_that_fails_marks_a_few_in_each_turn),
        cmocka_unit_test(b2_an_outage_marks_a_few_in_each_turn),
        cmocka_unit_test(b2_a_reader_that_hears_of_a_failure_sees_all_marked),
        cmocka_unit_test(b2_another_catalog_dates_a_few_in_each_turn),
        cmocka_unit_test(b2_a_catalog_reaches_one_project_after_the_other),
        cmocka_unit_test(b2_clusters_of_another_place_are_forgotten_a_few_in_each_turn),
        cmocka_unit_test(b2_projects_go_and_come_back_one_in_a_turn),
        cmocka_unit_test(a_dry_run_ends_with_its_project),
        cmocka_unit_test(a_name_check_ends_with_its_project),
        cmocka_unit_test(a_search_for_the_owner_of_a_name_ends_with_its_project),
        cmocka_unit_test(decisions_about_locations_are_refused_while_a_reload_moves_the_projects),
        cmocka_unit_test(a_decision_about_a_project_that_is_being_moved_is_refused),
        cmocka_unit_test(the_reason_of_a_moved_project_outlives_an_older_change),
        cmocka_unit_test(a_second_decision_passes_over_records_that_are_being_ended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

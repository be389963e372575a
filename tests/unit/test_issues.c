/* model/issues.c: the issues of a cluster, row by row. */
#include "tests/support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/buffer.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "model/issues.h"
#include "model/phase_meaning.h"
#include "model/problem.h"
#include "view/cluster_facts.h"
#include "view/render.h"

static const char catalog_text[] =
    "{\"kubernetes_versions\":[{\"version\":\"1.31.14\",\"state\":\"deprecated\",\"expires_at\":\"2026-11-"
    "01T00:00:00Z\"},"
    "{\"version\":\"1.32.10\",\"state\":\"deprecated\",\"expires_at\":\"2026-12-11T00:00:00Z\"},"
    "{\"version\":\"1.32.11\",\"state\":\"supported\",\"expires_at\":\"2027-02-01T00:00:00Z\"},"
    "{\"version\":\"1.33.6\",\"state\":\"deprecated\",\"expires_at\":null},{\"version\":\"1.33.7\",\"state\":"
    "\"supported\"},"
    "{\"version\":\"1.34.2\",\"state\":\"expired\"},{\"version\":\"1.35.0\",\"state\":\"preview\"}],"
    "\"machine_images\":[{\"name\":\"gardenlinux\",\"versions\":["
    "{\"version\":\"1877.7.0\",\"state\":\"deprecated\",\"expires_at\":\"2026-12-11T00:00:00Z\"},"
    "{\"version\":\"1877.10.0\",\"state\":\"supported\"},{\"version\":\"1877.9.0\",\"state\":\"supported\"}]}"
    "]}";

static json_t *catalog;
static wall_us now;

static json_t *parse(const char *text)
{
    json_t *doc = json_parse_lenient(text, strlen(text), NULL);
    assert_non_null(doc);
    return doc;
}

static int load(void **state)
{
    catalog = parse(catalog_text);
    return time_parse_rfc3339("2026-11-21T10:00:00Z", &now) ? 0 : -1;
}

static int unload(void **state)
{
    json_decref(catalog);
    return 0;
}

static struct cluster *unseen(void)
{
    struct cluster *c = cluster_new();
    (void)snprintf(c->id, sizeof(c->id), "cl_00000000000000000000000000");
    c->project = mem_strdup("team-a");
    c->name = mem_strdup("dev");
    return c;
}

static void replace(struct json_doc **place, const char *text)
{
    json_doc_set(place, parse(text));
}

static struct cluster *healthy(const char *version)
{
    struct cluster *c = unseen();
    c->managed = true;
    c->phase = PHASE_READY;
    c->message = mem_strdup("Shoot cluster has been successfully reconciled.");
    c->observed_at = now - 10 * US_PER_S;
    c->shoot = MEM_NEW(struct shoot);
    shoot_set_observed(c->shoot, json_pack("{s:s, s:[{s:s, s:{s:s, s:s}}]}", "kubernetes_version", version,
                                           "node_pools", "name", "default", "image", "name", "gardenlinux",
                                           "version", "1877.9.0"));
    c->shoot->has_operation = true;
    c->shoot->operation_type = mem_strdup("Reconcile");
    c->shoot->operation_at = now - 60 * US_PER_S;
    replace(&c->shoot->conditions, "[{\"type\":\"EveryNodeReady\",\"status\":\"True\"},"
                                   "{\"type\":\"ControlPlaneHealthy\",\"status\":\"Progressing\"}]");
    replace(&c->shoot->constraints,
            "[{\"type\":\"HibernationPossible\",\"status\":\"True\"},"
            "{\"type\":\"MaintenancePreconditionsSatisfied\",\"status\":\"Progressing\"}]");
    return c;
}

static bool is_unread;
static int64_t usual_us;

/* What the reconciler knows in addition to the cluster. */
static struct issue_world world_of(const json_t *versions)
{
    return (struct issue_world){
        .catalog = versions, .now = now, .usual_us = usual_us, .is_unread = is_unread};
}

/* The sum that is made when the cluster is shown must say what a reader of the issues finds. */
static void expect_sum(const struct trouble *sum, const json_t *issues)
{
    const json_t *first = json_array_get(issues, 0);
    int counts[ISSUE_SEVERITY_MAX_] = {0};
    size_t i;
    json_t *issue;
    json_array_foreach (issues, i, issue)
        counts[issue_severity_from_name(json_str(issue, "severity"))]++;
    for (int severity = 0; severity < ISSUE_SEVERITY_MAX_; severity++)
        assert_int_equal(sum->counts[severity], counts[severity]);
    json_t *worst CLEANUP_JSON = trouble_to_json(sum);
    assert_true(!worst == !first);
    static const char *const members[] = {"code", "severity", "title", "since"};
    for (size_t m = 0; worst && m < ARRAY_LEN(members); m++)
        assert_true(json_equal(json_object_get(worst, members[m]), json_object_get(first, members[m])));
}

/* Returns the issues that a reader of the view finds. */
static json_t *issues_shown(const struct cluster *c, const struct operation *op, const json_t *versions)
{
    const struct issue_world world = world_of(versions);
    struct view_blob *blob = render_cluster_blob(c, op, &world);
    json_t *issues = cluster_issues(blob, versions, now);
    expect_sum(&cluster_facts_of(blob)->trouble, issues);
    view_blob_unref(blob);
    return issues;
}

/* Returns the issues as "code/severity/subject", separated by commas, in their order. Frees the cluster. */
static char *codes_of(struct cluster *c, const struct operation *op)
{
    struct buffer out;
    size_t i, len;
    json_t *issue;
    json_t *issues CLEANUP_JSON = issues_shown(c, op, catalog);
    buffer_init(&out, 8192);
    json_array_foreach (issues, i, issue) {
        assert_true(json_object_size(issue) == 14);
        assert_non_null(json_str(issue, "title"));
        assert_non_null(json_str(issue, "action"));
        assert_non_null(json_str(issue, "responsible"));
        buffer_printf(&out, "%s%s/%s/%s", i ? "," : "", json_str(issue, "code"), json_str(issue, "severity"),
                      json_str_or(issue, "subject", ""));
    }
    cluster_free(c);
    return buffer_take(&out, &len);
}

static void expect(struct cluster *c, const struct operation *op, const char *wanted)
{
    char *found CLEANUP_FREE = codes_of(c, op);
    assert_string_equal(found, wanted);
}

static void nothing_is_wrong(void **state)
{
    expect(healthy("1.33.7"), NULL, "");
    expect(unseen(), NULL, "");
    struct operation *op = operation_new();
    op->status = OPERATION_SUCCEEDED;
    expect(healthy("1.33.7"), op, "");
    operation_free(op);
}

static void failures(void **state)
{
    static const char errors[] =
        "[{\"description\":\"no more ports\",\"codes\":[\"ERR_INFRA_QUOTA_EXCEEDED\"],"
        "\"updated_at\":\"2026-11-21T09:00:00Z\"},{\"description\":\"odd\"}]";
    struct cluster *c = healthy("1.33.7");
    c->phase = PHASE_FAILED;
    replace(&c->shoot->last_errors, errors);
    mem_set_str(&c->message, "no more ports");
    struct operation *op = operation_new();
    (void)snprintf(op->id, sizeof(op->id), "op_1");
    op->type = OPERATION_UPDATE;
    op->status = OPERATION_FAILED;
    op->finished_at = now;
    struct problem *failed = problem_new(PROBLEM_CLUSTER_FAILED, "no more ports");
    op->error = problem_to_error_json(failed);
    problem_free(failed);
    json_t *issues CLEANUP_JSON = issues_shown(c, op, catalog);
    const json_t *issue = json_array_get(issues, 0);
    assert_non_null(strstr(json_str(issue, "action"), "quota"));
    assert_non_null(strstr(json_str(issue, "action"), "Then retry."));
    assert_null(strstr(json_str(issue, "action"), "by itself"));
    assert_string_equal(json_str(issue, "description"), "no more ports");
    assert_string_equal(json_str(issue, "since"), "2026-11-21T09:59:00Z");
    assert_string_equal(json_str(issue, "operation_id"), "op_1");
    expect(cluster_copy(c), op, "cluster_failed/critical/ERR_INFRA_QUOTA_EXCEEDED");
    /* an operation that failed for another reason is another fault */
    json_set_str(op->error, "detail", "Cleura: refused");
    expect(c, op, "cluster_failed/critical/ERR_INFRA_QUOTA_EXCEEDED,operation_failed/warning/op_1");
    operation_free(op);
    c = healthy("1.33.7");
    c->phase = PHASE_RETRYING;
    replace(&c->shoot->last_errors, "[{\"description\":\"x\",\"codes\":[\"ERR_PROBLEMATIC_WEBHOOK\"]}]");
    expect(c, NULL, "cluster_retrying/warning/ERR_PROBLEMATIC_WEBHOOK");
    c = healthy("1.33.7");
    c->shoot->operation_at = 0; /* as in generation v1 */
    replace(&c->shoot->last_errors,
            "[{\"description\":\"x\",\"codes\":[7,null,\"ERR_X\"]},{\"codes\":[]},null]");
    json_t *odd CLEANUP_JSON = issues_shown(c, NULL, catalog);
    assert_true(json_is_null(json_object_get(json_array_get(odd, 0), "since")));
    assert_string_equal(json_str(json_array_get(odd, 3), "description"), "");
    expect(c, NULL,
           "upstream_error/warning/UNKNOWN,upstream_error/warning/UNKNOWN,upstream_error/warning/ERR_X,"
           "upstream_error/warning/UNKNOWN,upstream_error/warning/UNKNOWN");
    c = healthy("1.33.7");
    c->phase = PHASE_FAILED;
    free(c->shoot->operation_type);
    c->shoot->operation_type = mem_strdup("Delete");
    expect(c, NULL, "deletion_failed/critical/");
}

/* The loop prepares the issues of the longest shoot (tests/api/test_bounds.py): 20 errors with 30 codes. */
static void description_of_an_error_with_many_codes_is_prepared_once(void **state)
{
    struct cluster *c = healthy("1.33.7");
    c->phase = PHASE_UPDATING;
    replace(&c->shoot->last_errors,
            "[{\"description\":\"no more ports\",\"codes\":[\"ERR_A\",\"ERR_B\",\"ERR_C\"]}]");
    const struct issue_world world = world_of(NULL);
    struct trouble sum;
    json_t *prepared CLEANUP_JSON = issues_prepare(c, NULL, &world, &sum);
    char *text CLEANUP_FREE = json_text(prepared);
    const char *first = strstr(text, "no more ports");
    assert_non_null(first);
    assert_null(strstr(first + 1, "no more ports"));
    json_t *issues CLEANUP_JSON = issues_shown(c, NULL, catalog);
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(json_str(json_array_get(issues, i), "description"), "no more ports");
    expect(c, NULL, "upstream_error/warning/ERR_A,upstream_error/warning/ERR_B,upstream_error/warning/ERR_C");
}

static void each_code_is_named_once(void **state)
{
    struct cluster *c = healthy("1.33.7");
    c->phase = PHASE_RETRYING;
    replace(&c->shoot->last_errors,
            "[{\"description\":\"x\",\"codes\":[\"ERR_NEW\",\"ERR_INFRA_DEPENDENCIES\",7]},"
            "{\"description\":\"y\",\"codes\":[\"ERR_NEW\"]}]");
    json_t *issues CLEANUP_JSON = issues_shown(c, NULL, catalog);
    const json_t *issue = json_array_get(issues, 0);
    char *codes CLEANUP_FREE = json_text(json_object_get(issue, "codes"));
    assert_string_equal(codes, "[\"ERR_NEW\",\"ERR_INFRA_DEPENDENCIES\"]");
    assert_non_null(strstr(json_str(issue, "action"), "Cleura then goes on by itself."));
    expect(c, NULL, "cluster_retrying/warning/ERR_INFRA_DEPENDENCIES");
}

static void nothing_is_advised_that_cannot_work(void **state)
{
    struct cluster *c = healthy("1.33.7");
    c->phase = PHASE_DEGRADED;
    replace(&c->shoot->conditions, "[{\"type\":\"APIServerAvailable\",\"status\":\"False\"},"
                                   "{\"type\":\"EveryNodeReady\",\"status\":\"False\"},"
                                   "{\"type\":\"SystemComponentsHealthy\",\"status\":\"Unknown\"}]");
    json_t *issues CLEANUP_JSON = issues_shown(c, NULL, catalog);
    size_t i;
    json_t *issue;
    json_array_foreach (issues, i, issue)
        assert_null(strstr(json_str(issue, "action"), "kubectl"));
    assert_int_equal(i, 3);
    cluster_free(c);
}

static void operations(void **state)
{
    struct operation *op = operation_new();
    (void)snprintf(op->id, sizeof(op->id), "op_1");
    op->type = OPERATION_HIBERNATE;
    op->status = OPERATION_FAILED;
    op->finished_at = now - US_PER_S;
    struct problem *p = problem_new(PROBLEM_UPSTREAM_REFUSED, "no");
    op->error = problem_to_error_json(p);
    struct cluster *c = healthy("1.33.7");
    json_t *issues CLEANUP_JSON = issues_shown(c, op, catalog);
    assert_string_equal(json_str(json_array_get(issues, 0), "description"), "hibernate: no");
    assert_string_equal(json_str(json_array_get(issues, 0), "action"),
                        "Correct the cause, then request the operation again.");
    expect(c, op, "operation_failed/warning/op_1");

    problem_free(p);
    operation_free(op);
}

/* An operation hangs when it has run for more than twice the usual time. */
static void an_operation_that_hangs(void **state)
{
    static const struct {
        enum operation_type type;
        enum phase phase;
        int64_t usual_s, limit_s;
        const char *wanted;
    } rows[] = {
        {OPERATION_UPDATE, PHASE_UPDATING, 0, 3600, "operation_hangs/warning/op_1"},
        {OPERATION_CREATE, PHASE_CREATING, 600, 1200, "operation_hangs/warning/op_1"},
        {OPERATION_DELETE, PHASE_DELETING, 900, 1800, "deletion_stuck/warning/op_1"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct operation *op = operation_new();
        (void)snprintf(op->id, sizeof(op->id), "op_1");
        op->type = rows[i].type;
        op->status = OPERATION_RUNNING;
        op->created_at = now - 7 * 86400 * US_PER_S; /* the time in the queue does not count */
        struct cluster *c = healthy("1.33.7");
        c->phase = rows[i].phase;
        usual_us = rows[i].usual_s * US_PER_S;
        expect(cluster_copy(c), op, "");
        operation_add_step(op, STEP_WAIT_READY, "")->started_at = now - rows[i].limit_s * US_PER_S;
        const struct issue_world world = world_of(catalog);
        struct trouble sum;
        json_decref(issues_prepare(c, op, &world, &sum));
        assert_int_equal(sum.until, now + 1);
        expect(cluster_copy(c), op, "");
        op->steps[0].started_at--;
        expect(cluster_copy(c), op, rows[i].wanted);
        json_t *issues CLEANUP_JSON = issues_shown(c, op, catalog);
        const json_t *remedy = json_object_get(json_array_get(issues, 0), "remedy");
        if (rows[i].type == OPERATION_DELETE)
            assert_non_null(json_str(remedy, "wait"));
        else
            assert_string_equal(json_str(remedy, "command"), "shootctl cancel op_1");
        op->status = OPERATION_SUCCEEDED;
        expect(c, op, "");
        operation_free(op);
    }
    usual_us = 0;
}

static void conditions(void **state)
{
    static const struct {
        const char *conditions;
        const char *wanted;
    } rows[] = {
        {"[{\"type\":\"APIServerAvailable\",\"status\":\"False\"}]",
         "api_server_unavailable/critical/APIServerAvailable"},
        {"[{\"type\":\"APIServerAvailable\",\"status\":\"Unknown\"}]",
         "api_server_unavailable/warning/APIServerAvailable"},
        {"[{\"type\":\"ObservabilityComponentsHealthy\",\"status\":\"False\"},{\"type\":"
         "\"ControlPlaneHealthy\",\"status\":"
         "\"False\"}]",
         "control_plane_unhealthy/critical/ControlPlaneHealthy,observability_unhealthy/info/"
         "ObservabilityComponentsHealthy"},
        {"[{\"type\":\"EveryNodeReady\",\"status\":\"False\",\"reason\":\"MissingNodes\"}]",
         "nodes_not_ready/warning/EveryNodeReady"},
        {"[{\"type\":\"SystemComponentsHealthy\",\"status\":\"False\"}]",
         "system_components_unhealthy/warning/SystemComponentsHealthy"},
        {"[{\"type\":\"Novelty\",\"status\":\"False\"}]", "condition_not_met/warning/Novelty"},
        {"[{\"type\":\"Novelty\",\"status\":\"Odd\"}]", ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct cluster *c = healthy("1.33.7");
        replace(&c->shoot->conditions, rows[i].conditions);
        expect(cluster_copy(c), NULL, rows[i].wanted);
        c->phase = PHASE_CREATING;
        expect(c, NULL, "");
    }
    struct cluster *c = healthy("1.33.7");
    replace(
        &c->shoot->conditions,
        "[{\"type\":\"EveryNodeReady\",\"status\":\"False\",\"reason\":\"MissingNodes\",\"message\":\"1/3\"},"
        "{\"type\":\"EveryNodeReady\",\"status\":\"False\",\"codes\":[\"ERR_INFRA_QUOTA_EXCEEDED\"]}]");
    json_t *issues CLEANUP_JSON = issues_shown(c, NULL, catalog);
    assert_string_equal(json_str(json_array_get(issues, 0), "description"), "1/3");
    assert_string_equal(json_str(json_array_get(issues, 0), "title"), "Nodes are missing");
    assert_non_null(strstr(json_str(json_array_get(issues, 1), "action"), "quota of the project"));
    cluster_free(c);
}

static void constraints(void **state)
{
    struct cluster *c = healthy("1.33.7");
    replace(&c->shoot->constraints,
            "[{\"type\":\"Novelty\",\"status\":\"False\"},{\"type\":\"HibernationPossible\",\"status\":"
            "\"False\"},"
            "{\"type\":\"MaintenancePreconditionsSatisfied\",\"status\":\"False\"},"
            "{\"type\":\"CACertificateValiditiesAcceptable\",\"status\":\"False\"},"
            "{\"type\":\"CRDsWithProblematicConversionWebhooks\",\"status\":\"False\"}]");
    static const char wanted[] =
        "hibernation_blocked/warning/HibernationPossible,maintenance_blocked/warning/"
        "MaintenancePreconditionsSatisfied,"
        "ca_expiring/warning/CACertificateValiditiesAcceptable,"
        "conversion_webhooks/warning/CRDsWithProblematicConversionWebhooks,constraint_not_met/info/Novelty";
    c->phase = PHASE_HIBERNATED;
    c->shoot->hibernated = true;
    expect(cluster_copy(c), NULL, wanted);
    c->phase = PHASE_DELETING;
    expect(c, NULL, "");
}

static void drift_and_age(void **state)
{
    struct cluster *c = healthy("1.33.7");
    is_unread = true;
    c->drift = parse("[{\"path\":\"node_pools.default.maximum\",\"wanted\":5,\"found\":3},"
                     "{\"path\":\"allowed_cidrs\",\"wanted\":[\"192.0.2.0/24\"],\"found\":null}]");
    json_t *issues CLEANUP_JSON = issues_shown(c, NULL, catalog);
    assert_string_equal(json_str(json_array_get(issues, 0), "since"), "2026-11-21T09:59:50Z");
    assert_string_equal(json_str(json_array_get(issues, 1), "description"), "wanted 5, found 3");
    assert_string_equal(json_str(json_array_get(issues, 2), "description"),
                        "wanted [\"192.0.2.0/24\"], found null");
    expect(c, NULL,
           "observation_stale/warning/,drift/warning/node_pools.default.maximum,drift/warning/allowed_cidrs");
    is_unread = false;
}

static void versions(void **state)
{
    static const struct {
        const char *version;
        const char *wanted;
        const char *target; /* the version to upgrade to, or NULL */
    } rows[] = {
        {"1.31.14", "version_expired/critical/kubernetes 1.31.14", "1.32.11"},
        {"1.32.10", "version_expiring/warning/kubernetes 1.32.10", "1.32.11"},
        {"1.32.11", "version_expiring/info/kubernetes 1.32.11", "1.33.7"},
        {"1.33.6", "version_deprecated/info/kubernetes 1.33.6", "1.33.7"},
        {"1.34.2", "version_expired/critical/kubernetes 1.34.2", NULL}, /* 1.35.0 is a preview */
        {"1.30.1", "version_not_offered/info/kubernetes 1.30.1", NULL},
        {"1.33.7", "", NULL},
        {"1.35.0", "", NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct cluster *c = healthy(rows[i].version);
        json_t *issues CLEANUP_JSON = issues_shown(c, NULL, catalog);
        const json_t *first = json_array_get(issues, 0);
        if (rows[i].target)
            assert_string_equal(json_str(first, "target_version"), rows[i].target);
        else
            assert_null(json_str(first, "target_version"));
        expect(c, NULL, rows[i].wanted);
    }
    struct cluster *c = healthy("1.33.7");
    c->managed = false;
    shoot_set_observed(c->shoot, json_pack("{s:s, s:[{s:{s:s, s:s}}], s:{s:b}}", "kubernetes_version",
                                           "1.33.7", "node_pools", "image", "name", "gardenlinux", "version",
                                           "1877.7.0", "maintenance", "auto_update_machine_image", 1));
    json_t *issues CLEANUP_JSON = issues_shown(c, NULL, catalog);
    const json_t *image = json_array_get(issues, 0);
    assert_string_equal(json_str(image, "target_version"), "1877.10.0");
    assert_string_equal(json_str(image, "expires_at"), "2026-12-11T00:00:00Z");
    assert_non_null(strstr(json_str(image, "action"), "adopted"));
    assert_non_null(strstr(json_str(image, "action"), "maintenance window"));
    json_t *blind CLEANUP_JSON = issues_shown(c, NULL, NULL);
    assert_int_equal(json_array_size(blind), 0);
    expect(c, NULL, "version_expiring/warning/gardenlinux 1877.7.0");
}

/* The last change failed: whether that is worse than a warning depends on whether the cluster works. */
static void a_failed_change_of_a_cluster_that_works_is_a_warning(void **state)
{
    static const struct {
        enum health health;
        const char *wanted;
    } rows[] = {{HEALTH_HEALTHY, "cluster_failed/warning/"},
                {HEALTH_PROGRESSING, "cluster_failed/warning/"},
                {HEALTH_UNHEALTHY, "cluster_failed/critical/"},
                {HEALTH_UNKNOWN, "cluster_failed/critical/"}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct cluster *c = healthy("1.33.7");
        c->phase = PHASE_FAILED;
        c->health = rows[i].health;
        expect(c, NULL, rows[i].wanted);
    }
}

/* The worst issue comes first; of several that are equally bad, the one that began first. */
static void the_oldest_of_the_worst_comes_first(void **state)
{
    struct cluster *c = healthy("1.33.7");
    c->phase = PHASE_DEGRADED;
    replace(&c->shoot->conditions, "[{\"type\":\"EveryNodeReady\",\"status\":\"False\",\"last_transition_"
                                   "time\":\"2026-11-20T10:00:00Z\"},"
                                   "{\"type\":\"APIServerAvailable\",\"status\":\"False\",\"last_transition_"
                                   "time\":\"2026-11-21T09:00:00Z\"},"
                                   "{\"type\":\"ControlPlaneHealthy\",\"status\":\"False\",\"last_transition_"
                                   "time\":\"2026-11-21T08:00:00Z\"}]");
    expect(c, NULL,
           "control_plane_unhealthy/critical/ControlPlaneHealthy,api_server_unavailable/critical/"
           "APIServerAvailable,nodes_not_ready/warning/EveryNodeReady");
    assert_true(trouble_rank(ISSUE_CRITICAL, 0) < trouble_rank(ISSUE_WARNING, 1));
    assert_true(trouble_rank(ISSUE_CRITICAL, 1) < trouble_rank(ISSUE_CRITICAL, 2));
    assert_true(trouble_rank(ISSUE_INFO, 0) < trouble_rank(ISSUE_SEVERITY_MAX_, 1));
    for (int severity = 0; severity <= ISSUE_SEVERITY_MAX_; severity++)
        assert_int_equal(trouble_severity_of_rank(trouble_rank((enum issue_severity)severity, now)),
                         severity);
}

/* Time alone makes an issue, or a worse one. */
static void time_makes_issues(void **state)
{
    struct cluster *c = healthy("1.32.11"); /* it expires on 2027-02-01 */
    const wall_us before = now;
    static const char *const marks[] = {"2026-11-03T00:00:00Z", "2027-01-02T00:00:00Z",
                                        "2027-02-01T00:00:00Z"};
    assert_true(time_parse_rfc3339("2026-10-01T00:00:00Z", &now));
    for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
        const struct issue_world world = world_of(catalog);
        struct trouble sum, next;
        wall_us mark;
        assert_true(time_parse_rfc3339(marks[i], &mark));
        json_decref(issues_prepare(c, NULL, &world, &sum));
        assert_int_equal(sum.until, mark + 1);
        now = sum.until;
        const struct issue_world later = world_of(catalog);
        json_decref(issues_prepare(c, NULL, &later, &next));
        assert_true(trouble_severity(&next) < trouble_severity(&sum));
    }
    cluster_free(c);
    now = before;
}

/* What is said to people names no method and no path of HTTP; what is said to programs can be sent. */
static void remedies_can_be_done(void **state)
{
    static const struct {
        const char *conditions, *constraints, *wanted;
    } rows[] = {
        {"[{\"type\":\"ControlPlaneHealthy\",\"status\":\"False\"}]", "[]",
         "{\"action\":\"reconcile\",\"command\":\"shootctl reconcile dev -p "
         "team-a\",\"request\":{\"body\":null,"
         "\"method\":\"POST\",\"path\":\"/v1/projects/team-a/clusters/dev/actions/reconcile\"}}"},
        {"[]", "[{\"type\":\"CACertificateValiditiesAcceptable\",\"status\":\"False\"}]",
         "{\"action\":\"rotate-ca-prepare\",\"command\":\"shootctl rotate-ca dev -p "
         "team-a\",\"request\":{\"body\":null,"
         "\"method\":\"POST\",\"path\":\"/v1/projects/team-a/clusters/dev/actions/rotate-ca-prepare\"}}"},
        {"[{\"type\":\"APIServerAvailable\",\"status\":\"False\"}]", "[]",
         "{\"wait\":\"Cleura restarts the API server.\"}"},
        {"[{\"type\":\"EveryNodeReady\",\"status\":\"False\"}]", "[]", "null"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct cluster *c = healthy("1.33.7");
        replace(&c->shoot->conditions, rows[i].conditions);
        replace(&c->shoot->constraints, rows[i].constraints);
        json_t *issues CLEANUP_JSON = issues_shown(c, NULL, catalog);
        const json_t *remedy = json_object_get(json_array_get(issues, 0), "remedy");
        char *text CLEANUP_FREE = json_dumps(remedy, JSON_SORT_KEYS | JSON_COMPACT | JSON_ENCODE_ANY);
        assert_string_equal(text, rows[i].wanted);
        c->managed = false; /* shootd does not change it */
        json_t *of_others CLEANUP_JSON = issues_shown(c, NULL, catalog);
        assert_null(json_object_get(json_object_get(json_array_get(of_others, 0), "remedy"), "request"));
        cluster_free(c);
    }
}

/* docs/api.md has the table of model/phase_meaning.c. */
static void the_documents_have_the_table_of_states(void **state)
{
    static const char *const severities[] = {"critical", "warning", "info"};
    size_t count, of_phase[PHASE_MAX_] = {0};
    const struct phase_meaning *rows = phase_meanings(&count);
    struct buffer text CLEANUP_BUFFER;
    char piece[4096];
    FILE *file = fopen("docs/api.md", "r");
    assert_non_null(file);
    buffer_init(&text, 4 * 1024 * 1024);
    for (size_t len; (len = fread(piece, 1, sizeof(piece), file)) > 0;)
        buffer_add(&text, piece, len);
    (void)fclose(file);
    buffer_add(&text, "", 1);
    for (size_t i = 0; i < count; i++)
        of_phase[rows[i].phase]++;
    for (size_t i = 0; i < count; i++) {
        const struct phase_meaning *row = &rows[i];
        const char *rest = of_phase[row->phase] > 1 ? "any other" : "any";
        const char *mark = row->health == MEANING_ANY_HEALTH ? "" : "`";
        char *line CLEANUP_FREE =
            mem_printf("| `%s` | %s%s%s | %s | %s |\n", phase_name(row->phase), mark,
                       row->health == MEANING_ANY_HEALTH ? rest : health_name((enum health)row->health), mark,
                       row->sentence,
                       row->severity == MEANING_FINE            ? "–"
                       : row->severity == MEANING_BY_CONDITIONS ? "of the worst condition"
                                                                : severities[row->severity]);
        if (!strstr(text.data, line))
            fail_msg("docs/api.md lacks: %s", line);
    }
    for (int phase = 0; phase < PHASE_MAX_; phase++)
        for (int health = 0; health < HEALTH_MAX_; health++)
            assert_non_null(phase_meaning((enum phase)phase, (enum health)health)->sentence);
}

/* The first issue of the cluster, which is freed. */
static void expect_responsible(struct cluster *c, const struct operation *op, const char *wanted)
{
    json_t *issues CLEANUP_JSON = issues_shown(c, op, catalog);
    assert_string_equal(json_str_or(json_array_get(issues, 0), "responsible", "?"), wanted);
    cluster_free(c);
}

static void expect_responsible_for_error(enum problem_code code, const char *wanted)
{
    struct operation *op = operation_new();
    struct problem *p = problem_new(code, "no");
    op->type = OPERATION_UPDATE;
    op->status = OPERATION_FAILED;
    op->error = problem_to_error_json(p);
    expect_responsible(healthy("1.33.7"), op, wanted);
    problem_free(p);
    operation_free(op);
}

static void who_has_to_act(void **state)
{
    static const struct {
        const char *condition, *wanted;
    } conditions[] = {
        {"[{\"type\":\"ControlPlaneHealthy\",\"status\":\"False\"}]", "cleura"},
        {"[{\"type\":\"EveryNodeReady\",\"status\":\"False\"}]", "user"},
        /* An error code says more than the condition. */
        {"[{\"type\":\"ControlPlaneHealthy\",\"status\":\"False\",\"codes\":[\"ERR_PROBLEMATIC_WEBHOOK\"]}]",
         "user"},
        {"[{\"type\":\"EveryNodeReady\",\"status\":\"False\",\"codes\":[\"ERR_INFRA_RATE_LIMITS_EXCEEDED\"]}"
         "]",
         "cleura"},
    };
    static const char *const errors[][2] = {
        {"[{\"codes\":[\"ERR_INFRA_QUOTA_EXCEEDED\"]}]", "user"},
        {"[{\"codes\":[\"ERR_RETRYABLE_INFRA_DEPENDENCIES\"]}]", "cleura"},
        {"[{\"codes\":[\"ERR_INFRA_UNAUTHENTICATED\"]}]", "operator"},
        {"[{\"codes\":[\"ERR_NEW\"]}]", "user"},
    };
    for (size_t i = 0; i < ARRAY_LEN(conditions); i++) {
        struct cluster *c = healthy("1.33.7");
        replace(&c->shoot->conditions, conditions[i].condition);
        expect_responsible(c, NULL, conditions[i].wanted);
    }
    for (size_t i = 0; i < ARRAY_LEN(errors); i++) {
        struct cluster *c = healthy("1.33.7");
        replace(&c->shoot->last_errors, errors[i][0]);
        expect_responsible(c, NULL, errors[i][1]);
    }
    expect_responsible(healthy("1.31.14"), NULL, "user");
    expect_responsible_for_error(PROBLEM_UPSTREAM_FORBIDDEN, "operator");
    expect_responsible_for_error(PROBLEM_UPSTREAM_REFUSED, "user");
    is_unread = true;
    expect_responsible(healthy("1.33.7"), NULL, "operator");
    is_unread = false;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_wrong),
        cmocka_unit_test(a_failed_change_of_a_cluster_that_works_is_a_warning),
        cmocka_unit_test(the_oldest_of_the_worst_comes_first),
        cmocka_unit_test(time_makes_issues),
        cmocka_unit_test(an_operation_that_hangs),
        cmocka_unit_test(remedies_can_be_done),
        cmocka_unit_test(the_documents_have_the_table_of_states),
        cmocka_unit_test(failures),
        cmocka_unit_test(operations),
        cmocka_unit_test(description_of_an_error_with_many_codes_is_prepared_once),
        cmocka_unit_test(each_code_is_named_once),
        cmocka_unit_test(nothing_is_advised_that_cannot_work),
        cmocka_unit_test(conditions),
        cmocka_unit_test(constraints),
        cmocka_unit_test(drift_and_age),
        cmocka_unit_test(versions),
        cmocka_unit_test(who_has_to_act),
    };
    return cmocka_run_group_tests(tests, load, unload);
}

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

static int asked_in_vain;

/* Returns the issues that a reader of the view finds. */
static json_t *issues_shown(const struct cluster *c, const struct operation *op, const json_t *versions)
{
    struct view_blob *blob = render_cluster_blob(c, op);
    json_t *issues = cluster_issues(blob, versions, now);

    /* A reader of many clusters first checks whether a cluster can have issues. */
    const struct cluster_facts *f = cluster_facts_of(blob);
    char **images CLEANUP_FREE = cluster_facts_images(f);
    const bool is_asked = cluster_facts_have_issues(f) ||
                          issues_of_versions(*f->version ? f->version : NULL, images, versions, now);
    assert_true(!json_array_size(issues) || is_asked);
    asked_in_vain += is_asked && !json_array_size(issues);
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
        assert_true(json_object_size(issue) == 13);
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
    asked_in_vain = 0;
    expect(healthy("1.33.7"), NULL, "");
    assert_int_equal(asked_in_vain, 0);
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
    assert_non_null(strstr(json_str(issue, "action"), "Then POST .../actions/retry."));
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
    json_t *prepared CLEANUP_JSON = issues_prepare(c, NULL);
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
                        problem_kind(PROBLEM_UPSTREAM_REFUSED)->advice);
    expect(c, op, "operation_failed/warning/op_1");

    op->type = OPERATION_DELETE;
    op->status = OPERATION_RUNNING;
    op->created_at = now - 3600 * US_PER_S;
    c = healthy("1.31.14");
    c->phase = PHASE_DELETING;
    expect(cluster_copy(c), op, "");
    op->created_at--;
    expect(c, op, "deletion_stuck/warning/op_1");
    problem_free(p);
    operation_free(op);
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
    c->stale = true;
    c->drift = parse("[{\"path\":\"node_pools.default.maximum\",\"wanted\":5,\"found\":3},"
                     "{\"path\":\"allowed_cidrs\",\"wanted\":[\"192.0.2.0/24\"],\"found\":null}]");
    json_t *issues CLEANUP_JSON = issues_shown(c, NULL, catalog);
    assert_string_equal(json_str(json_array_get(issues, 0), "description"), "wanted 5, found 3");
    assert_string_equal(json_str(json_array_get(issues, 1), "description"),
                        "wanted [\"192.0.2.0/24\"], found null");
    assert_string_equal(json_str(json_array_get(issues, 2), "since"), "2026-11-21T09:59:50Z");
    expect(c, NULL,
           "drift/warning/node_pools.default.maximum,drift/warning/allowed_cidrs,observation_stale/warning/");
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
    assert_non_null(strstr(json_str(image, "action"), "adopting"));
    assert_non_null(strstr(json_str(image, "action"), "maintenance window"));
    json_t *blind CLEANUP_JSON = issues_shown(c, NULL, NULL);
    assert_int_equal(json_array_size(blind), 0);
    expect(c, NULL, "version_expiring/warning/gardenlinux 1877.7.0");
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
    struct cluster *c = healthy("1.33.7");
    c->stale = true;
    expect_responsible(c, NULL, "operator");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_wrong),
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

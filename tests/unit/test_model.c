/* model/: phases, specs, error codes, stored forms. */
#include "tests/support/check.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/attrs.h"
#include "base/mem.h"
#include "model/cluster.h"
#include "model/decide.h"
#include "model/event.h"
#include "model/error_meanings.h"
#include "model/moves.h"
#include "model/operation.h"
#include "model/shoot.h"
#include "model/spec.h"
#include "model/webhook.h"
#include "tests/support/abilities.h"

static const char catalog_text[] =
    "{\"kubernetes_versions\":[{\"version\":\"1.33.6\",\"state\":\"deprecated\"},{\"version\":\"1.33.7\","
    "\"state\":"
    "\"supported\"},{\"version\":\"1.34.3\",\"state\":\"supported\"},{\"version\":\"1.35.0\",\"state\":"
    "\"preview\"},"
    "{\"version\":\"1.34.10\",\"state\":\"expired\"}],\"machine_images\":[{\"name\":\"gardenlinux\","
    "\"versions\":["
    "{\"version\":\"1877.9.0\",\"state\":\"supported\"},{\"version\":\"1877.10.0\",\"state\":\"supported\"}]}"
    "],"
    "\"machine_types\":[{\"name\":\"b.1c1gb\",\"cpus\":1,\"memory_mib\":1024,\"usable\":true},{\"name\":\"b."
    "4c8gb\","
    "\"cpus\":4,\"memory_mib\":8192,\"usable\":true},{\"name\":\"b.2c4gb\",\"cpus\":2,\"memory_mib\":4096,"
    "\"usable\":"
    "true},{\"name\":\"b.2c2gb\",\"cpus\":2,\"memory_mib\":2048,\"usable\":false}],\"zones\":[\"nova\"],"
    "\"floating_pools\":[\"ext-net\"],\"load_balancer_providers\":[\"amphora\"]}";

static json_t *parse(const char *text)
{
    json_t *doc = json_parse_lenient(text, strlen(text), NULL);
    assert_non_null(doc);
    return doc;
}

/* ---- phases (GA-6) ---- */

struct phase_row {
    const char *type, *state;
    int progress;
    bool hibernated;
    const char *conditions;
    int open_type;
    bool guarded;
    enum phase phase;
    enum health health;
    bool finished, failed;
};

static void phases(void **state)
{
    static const struct phase_row rows[] = {
        {NULL, NULL, 0, false, "[]", -1, false, PHASE_PENDING, HEALTH_PROGRESSING, false, false},
        {NULL, NULL, 0, false, "[]", OPERATION_CREATE, false, PHASE_CREATING, HEALTH_PROGRESSING, false,
         false},
        {"Create", "Pending", 0, false, "[]", -1, false, PHASE_PENDING, HEALTH_PROGRESSING, false, false},
        {"Create", "Processing", 43, false, "[]", OPERATION_CREATE, false, PHASE_CREATING, HEALTH_PROGRESSING,
         false, false},
        {"Create", "Error", 43, false, "[]", OPERATION_CREATE, false, PHASE_RETRYING, HEALTH_UNKNOWN, false,
         false},
        {"Create", "Failed", 88, false, "[]", OPERATION_CREATE, false, PHASE_FAILED, HEALTH_UNKNOWN, false,
         true},
        {"Create", "Aborted", 88, false, "[]", -1, false, PHASE_FAILED, HEALTH_UNKNOWN, false, true},
        /* whether the last change succeeded is one fact, whether the cluster works another */
        {"Reconcile", "Failed", 88, false, "[{\"status\":\"True\"}]", -1, false, PHASE_FAILED, HEALTH_HEALTHY,
         false, true},
        {"Reconcile", "Failed", 88, false, "[{\"status\":\"False\"}]", -1, false, PHASE_FAILED,
         HEALTH_UNHEALTHY, false, true},
        {"Reconcile", "Error", 88, false, "[{\"status\":\"True\"}]", -1, false, PHASE_RETRYING,
         HEALTH_HEALTHY, false, false},
        {"Reconcile", "Processing", 10, false, "[{\"status\":\"True\"},{\"status\":\"False\"}]", -1, false,
         PHASE_UPDATING, HEALTH_UNHEALTHY, false, false},
        {"Create", "Succeeded", 100, false, "[{\"status\":\"True\"}]", OPERATION_CREATE, false, PHASE_READY,
         HEALTH_HEALTHY, true, false},
        {"Create", "Succeeded", 99, false, "[{\"status\":\"True\"}]", OPERATION_CREATE, false, PHASE_READY,
         HEALTH_HEALTHY, false, false},
        {"Create", "Succeeded", 100, false, "[{\"status\":\"Progressing\"}]", -1, false, PHASE_READY,
         HEALTH_PROGRESSING, true, false},
        {"Create", "Succeeded", 100, false, "[{\"status\":\"True\"},{\"status\":\"False\"}]", -1, false,
         PHASE_DEGRADED, HEALTH_UNHEALTHY, true, false},
        {"Create", "Succeeded", 100, false, "[{\"status\":\"Unknown\"}]", -1, false, PHASE_DEGRADED,
         HEALTH_UNKNOWN, true, false},
        {"Reconcile", "Succeeded", 100, true, "[{\"status\":\"True\"}]", -1, false, PHASE_HIBERNATED,
         HEALTH_HEALTHY, true, false},
        {"Reconcile", "Processing", 10, true, "[]", -1, false, PHASE_WAKING, HEALTH_PROGRESSING, false,
         false},
        {"Reconcile", "Processing", 10, false, "[]", OPERATION_HIBERNATE, false, PHASE_HIBERNATING,
         HEALTH_PROGRESSING, false, false},
        {"Reconcile", "Processing", 10, false, "[]", -1, false, PHASE_UPDATING, HEALTH_UNKNOWN, false, false},
        /* the old success is still visible after an accepted write */
        {"Reconcile", "Succeeded", 100, false, "[{\"status\":\"True\"}]", OPERATION_UPDATE, true,
         PHASE_UPDATING, HEALTH_HEALTHY, false, false},
        {"Create", "Succeeded", 100, false, "[{\"status\":\"True\"}]", OPERATION_DELETE, false,
         PHASE_DELETING, HEALTH_PROGRESSING, false, false},
        {"Delete", "Processing", 50, false, "[]", OPERATION_DELETE, false, PHASE_DELETING, HEALTH_PROGRESSING,
         false, false},
        {"Delete", "Succeeded", 100, false, "[]", OPERATION_DELETE, false, PHASE_DELETING, HEALTH_PROGRESSING,
         false, false},
        {"Delete", "Failed", 50, false, "[]", OPERATION_DELETE, false, PHASE_FAILED, HEALTH_UNKNOWN, false,
         true},
        /* unknown words: in progress, when something was requested */
        {"Teleport", "Levitating", 50, false, "[]", -1, false, PHASE_UNKNOWN, HEALTH_UNKNOWN, false, false},
        {"Teleport", "Levitating", 100, false, "[{\"status\":\"True\"}]", OPERATION_UPDATE, false,
         PHASE_UPDATING, HEALTH_HEALTHY, false, false},
        {"Create", "Levitating", 50, false, "[]", OPERATION_CREATE, false, PHASE_CREATING, HEALTH_PROGRESSING,
         false, false},
        {"Teleport", "Processing", 50, false, "[]", OPERATION_CREATE, false, PHASE_CREATING,
         HEALTH_PROGRESSING, false, false},
        {"Reconcile", "Processing", 50, false, "[]", OPERATION_CREATE, false, PHASE_UPDATING, HEALTH_UNKNOWN,
         false, false},
        {"Unmaking", "Processing", 50, false, "[]", OPERATION_DELETE, false, PHASE_DELETING,
         HEALTH_PROGRESSING, false, false},
        /* a state that cannot be read */
        {"Reconcile", NULL, 100, false, "[]", -1, false, PHASE_UNKNOWN, HEALTH_UNKNOWN, false, false},
        {"Reconcile", NULL, 100, false, "[]", OPERATION_UPDATE, false, PHASE_UPDATING, HEALTH_UNKNOWN, false,
         false},
        /* conditions that cannot be read: neither healthy nor degraded */
        {"Reconcile", "Succeeded", SHOOT_PROGRESS_UNKNOWN, false, "[{\"status\":null},{\"status\":\"True\"}]",
         -1, false, PHASE_READY, HEALTH_UNKNOWN, true, false},
        {"Reconcile", "Succeeded", 100, false, "null", -1, false, PHASE_READY, HEALTH_UNKNOWN, true, false},
        {"Reconcile", "Succeeded", 100, false, "[{\"status\":\"Floating\"}]", -1, false, PHASE_READY,
         HEALTH_UNKNOWN, true, false},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct phase_row *row = &rows[i];
        struct cluster c = {.guard_since = row->guarded ? 1000 : 0, .guard_seen_at = 500};
        struct shoot s = {.has_operation = row->type != NULL,
                          .operation_type = (char *)(uintptr_t)row->type,
                          .operation_state = (char *)(uintptr_t)row->state,
                          .progress = row->progress,
                          .operation_at = 500,
                          .hibernated = row->hibernated,
                          .conditions = json_doc_new(parse(row->conditions))};
        struct decision d = decide(&c, &s, row->open_type, 2000);
        if (d.phase != row->phase || d.health != row->health || d.operation_finished != row->finished ||
            d.operation_failed != row->failed)
            fail_msg("row %zu: %s %s, finished %d, failed %d", i, phase_name(d.phase), health_name(d.health),
                     d.operation_finished, d.operation_failed);
        json_doc_free(s.conditions);
    }
}

static void a_word_that_was_not_heard_before_is_shown(void **state)
{
    struct cluster c = {0};
    struct shoot s = {.has_operation = true,
                      .operation_type = (char[]){"Reconcile"},
                      .operation_state = (char[]){"Levitating"},
                      .description = (char[]){"at 3 m"}};
    struct decision d = decide(&c, &s, OPERATION_UPDATE, 2000);
    char *message CLEANUP_FREE = decision_message(&d);
    assert_string_equal(message, "Cleura says \"Levitating\", which counts as in progress: at 3 m");
    s.operation_state = (char[]){"Processing"};
    s.operation_type = (char[]){"Unmaking"};
    d = decide(&c, &s, OPERATION_DELETE, 2000);
    char *deleting CLEANUP_FREE = decision_message(&d);
    assert_string_equal(deleting, "Cleura says \"Unmaking\", which counts as in progress: at 3 m");
    d = decide(&c, &s, -1, 2000);
    char *plain CLEANUP_FREE = decision_message(&d);
    assert_string_equal(plain, "at 3 m");
}

static void a_degraded_cluster_says_what_is_wrong(void **state)
{
    static const struct {
        const char *conditions, *message;
    } rows[] = {
        {"[{\"type\":\"EveryNodeReady\",\"status\":\"False\",\"message\":\"one\"},"
         "{\"type\":\"APIServerAvailable\",\"status\":\"False\",\"message\":\"refused\"}]",
         "The API server does not answer: refused"},
        {"[{\"type\":\"APIServerAvailable\",\"status\":\"Unknown\",\"message\":\"no answer\"},"
         "{\"type\":\"ControlPlaneHealthy\",\"status\":\"False\",\"message\":\"etcd\"}]",
         "The control plane is not healthy: etcd"},
        {"[{\"type\":\"EveryNodeReady\",\"status\":\"False\",\"reason\":\"MissingNodes\"}]",
         "Nodes are missing: MissingNodes"},
        {"[{\"type\":\"EveryNodeReady\",\"status\":\"False\",\"message\":\"\"}]", "Not every node is ready"},
        {"[{\"type\":\"Odd\",\"status\":\"Unknown\",\"message\":\"?\"}]", "A condition is not met: ?"},
        {"[{\"type\":\"EveryNodeReady\",\"status\":\"True\",\"message\":\"fine\"}]", "reconciled"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct cluster c = {0};
        struct shoot s = {.has_operation = true,
                          .operation_type = (char[]){"Reconcile"},
                          .operation_state = (char[]){"Succeeded"},
                          .progress = 100,
                          .description = (char[]){"reconciled"},
                          .conditions = json_doc_new(parse(rows[i].conditions))};
        struct decision d = decide(&c, &s, -1, 2000);
        char *message CLEANUP_FREE = decision_message(&d);
        assert_string_equal(message, rows[i].message);
        d = decide(&c, &s, OPERATION_UPDATE, 2000); /* a change is under way */
        char *during CLEANUP_FREE = decision_message(&d);
        assert_string_equal(during, "reconciled");
        json_doc_free(s.conditions);
    }
}

/* While Cleura's answer does not show whether the cluster is hibernated, the earlier state counts. */
static void sleep_that_cannot_be_read_is_as_it_was(void **state)
{
    struct cluster c = {.wants_hibernated = true};
    struct shoot s = {.has_operation = true,
                      .operation_type = (char[]){"Reconcile"},
                      .operation_state = (char[]){"Succeeded"},
                      .progress = 100,
                      .hibernated_unknown = true};
    assert_int_equal(decide(&c, &s, -1, 2000).phase, PHASE_HIBERNATED);
    c.wants_hibernated = false;
    assert_int_equal(decide(&c, &s, -1, 2000).phase, PHASE_READY);
}

static void guard_ends_when_something_newer_is_seen(void **state)
{
    struct cluster c = {.guard_since = 1000, .guard_seen_at = 500};
    struct shoot s = {.has_operation = true, .operation_state = (char[]){"Succeeded"}, .operation_at = 500};
    assert_true(decide_guard_holds(&c, &s, 1000 + GUARD_LIMIT_US - 1));
    assert_false(decide_guard_holds(&c, &s, 1000 + GUARD_LIMIT_US));
    s.operation_at = 501;
    assert_false(decide_guard_holds(&c, &s, 2000));
    s.operation_at = 500;
    s.operation_state = (char[]){"Processing"};
    assert_false(decide_guard_holds(&c, &s, 2000));
    /* Cleura shows the state before the write, in an unknown word. The run of this write has not started
     * yet. */
    s.operation_state = (char[]){"Reconsidering"};
    assert_true(decide_guard_holds(&c, &s, 2000));
    s.operation_at = 501;
    assert_false(decide_guard_holds(&c, &s, 2000));
    s.operation_at = 500;
    s.operation_state = (char[]){"Succeeded"};
    s.operation_at = 0; /* v1 has no time */
    assert_true(decide_guard_holds(&c, &s, 1000 + GUARD_BLIND_US - 1));
    assert_false(decide_guard_holds(&c, &s, 1000 + GUARD_BLIND_US));
}

/* ---- specs ---- */

static size_t fault_count(const char *body, bool v1, char *first_pointer, size_t size)
{
    json_t *catalog CLEANUP_JSON = parse(catalog_text);
    json_t *doc CLEANUP_JSON = parse(body);
    struct problem *faults CLEANUP_PROBLEM = NULL;
    const struct spec_context context = {.catalog = catalog, .abilities = abilities_of(v1 ? API_V1 : API_V2)};
    spec_check_body(doc, SPEC_CREATE, &context, &faults);
    if (!faults)
        return 0;
    (void)snprintf(first_pointer, size, "%s", json_str(json_array_get(faults->faults, 0), "pointer"));
    return json_array_size(faults->faults);
}

static void specs_accepted(void **state)
{
    static const char *const bodies[] = {
        "{\"name\":\"dev\"}",
        "{\"name\":\"dev\",\"spec\":null,\"labels\":null}",
        "{\"name\":\"a\",\"spec\":{\"kubernetes_version\":\"1.33\"}}",
        "{\"name\":\"a\",\"spec\":{\"kubernetes_version\":\"1.35.0\"}}",
        "{\"name\":\"a-1\",\"spec\":{\"node_pools\":[{\"name\":\"a\",\"minimum\":0,\"maximum\":5},{\"name\":"
        "\"b\"}]}}",
    };
    char pointer[128];
    for (size_t i = 0; i < ARRAY_LEN(bodies); i++)
        if (fault_count(bodies[i], false, pointer, sizeof(pointer)))
            fail_msg("body %zu: %s", i, pointer);
}

static void specs_refused_at_the_right_place(void **state)
{
    static const struct {
        const char *body, *pointer;
        bool v1;
    } rows[] = {
        {"{}", "#/name", false},
        {"{\"name\":5}", "#/name", false},
        {"{\"name\":\"\"}", "#/name", false},
        {"{\"name\":\"a--b\"}", "#/name", false},
        {"{\"name\":\"Dev\"}", "#/name", false},
        {"{\"name\":\"-a\"}", "#/name", false},
        {"{\"name\":\"abcdefghijklmnop\"}", "#/name", false},
        {"{\"name\":\"a\",\"spec\":{\"colour\":1}}", "#/spec/colour", false},
        {"{\"name\":\"a\",\"spec\":{\"kubernetes_version\":\"1.3\"}}", "#/spec/kubernetes_version", false},
        {"{\"name\":\"a\",\"spec\":{\"kubernetes_version\":\"1.35\"}}", "#/spec/kubernetes_version", false},
        {"{\"name\":\"a\",\"spec\":{\"kubernetes_version\":\"1.34.10\"}}", "#/spec/kubernetes_version",
         false},
        {"{\"name\":\"a\",\"spec\":{\"node_pools\":[]}}", "#/spec/node_pools", false},
        {"{\"name\":\"a\",\"spec\":{\"node_pools\":[{\"machine_type\":\"b.2c2gb\"}]}}",
         "#/spec/node_pools/0/machine_type", false},
        {"{\"name\":\"a\",\"spec\":{\"node_pools\":[{\"image\":{\"version\":\"1.0\"}}]}}",
         "#/spec/node_pools/0/image", false},
        {"{\"name\":\"a\",\"spec\":{\"node_pools\":[{\"zones\":[\"mars\"]}]}}", "#/spec/node_pools/0/zones/0",
         false},
        {"{\"name\":\"a\",\"spec\":{\"node_pools\":[{\"name\":\"x\"},{\"name\":\"x\"}]}}",
         "#/spec/node_pools/1", false},
        {"{\"name\":\"a\",\"spec\":{\"node_pools\":[{\"maximum\":0,\"minimum\":0}]}}", "#/spec/node_pools",
         false},
        {"{\"name\":\"a\",\"spec\":{\"node_pools\":[{\"name\":\"toolong\"}]}}", "#/spec/node_pools/0/name",
         true},
        {"{\"name\":\"a\",\"spec\":{\"networking\":{\"nodes_cidr\":\"10.250.0.1/16\"}}}",
         "#/spec/networking/nodes_cidr", false},
        {"{\"name\":\"a\",\"spec\":{\"networking\":{\"cilium\":{}}}}", "#/spec/networking/cilium", false},
        {"{\"name\":\"a\",\"spec\":{\"allowed_cidrs\":[\"10.0.0.0\"]}}", "#/spec/allowed_cidrs/0", false},
        {"{\"name\":\"a\",\"spec\":{\"allowed_cidrs\":[\"10.0.0.0/8\"]}}", "#/spec/allowed_cidrs", true},
        {"{\"name\":\"a\",\"spec\":{\"maintenance\":{\"begin\":\"020000+0000\"}}}", "#/spec/maintenance",
         false},
        {"{\"name\":\"a\",\"spec\":{\"maintenance\":{\"begin\":\"250000+0000\",\"end\":\"030000+0000\"}}}",
         "#/spec/maintenance/begin", false},
        {"{\"name\":\"a\",\"spec\":{\"hibernation_schedules\":[{\"start\":\"0 20 * * 1-5\"}]}}",
         "#/spec/hibernation_schedules/0", false},
        {"{\"name\":\"a\",\"labels\":{\"bad key\":\"x\"}}", "#/labels/bad key", false},
        {"{\"name\":\"a\",\"labels\":{\"k\":5}}", "#/labels/k", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char pointer[128] = "";
        size_t count = fault_count(rows[i].body, rows[i].v1, pointer, sizeof(pointer));
        if (count != 1 || strcmp(pointer, rows[i].pointer) != 0)
            fail_msg("row %zu: %zu faults, first at %s, wanted %s", i, count, pointer, rows[i].pointer);
    }
}

static void defaults_fill_what_is_left_out(void **state)
{
    json_t *catalog CLEANUP_JSON = parse(catalog_text);
    json_t *defaults CLEANUP_JSON = parse("{\"minimum\":2,\"volume_size_gib\":80}");
    const struct spec_context context = {
        .catalog = catalog, .defaults = defaults, .abilities = abilities_of(API_V2)};
    json_t *spec CLEANUP_JSON = spec_resolve("dev", NULL, &context);
    const json_t *pool = json_array_get(json_arr(spec, "node_pools"), 0);
    assert_string_equal(json_str(spec, "kubernetes_version"), "1.34.3");
    assert_string_equal(json_str(pool, "machine_type"), "b.2c4gb");
    assert_string_equal(json_str(json_obj(pool, "image"), "version"), "1877.10.0");
    assert_int_equal(json_int(pool, "minimum", 0), 2);
    assert_int_equal(json_int(pool, "maximum", 0), 3);
    assert_int_equal(json_int(pool, "volume_size_gib", 0), 80);
    assert_string_equal(json_str(json_obj(spec, "networking"), "floating_pool"), "ext-net");
    json_t *wanted CLEANUP_JSON = parse("{\"kubernetes_version\":\"1.33\"}");
    json_t *minor CLEANUP_JSON = spec_resolve("dev", wanted, &context);
    assert_string_equal(json_str(minor, "kubernetes_version"), "1.33.7");
}

static void differences_ignore_what_is_not_asked(void **state)
{
    static const struct {
        const char *spec;
        size_t count;
    } rows[] = {
        {"{}", 0},
        {"{\"kubernetes_version\":\"1.33\"}", 0},
        {"{\"kubernetes_version\":\"1.33.7\"}", 0},
        {"{\"kubernetes_version\":\"1.3\"}", 1},
        {"{\"kubernetes_version\":\"1.34\"}", 1},
        {"{\"node_pools\":[{\"minimum\":1}]}", 3}, /* the row does not say which of the two pools it means */
        {"{\"node_pools\":[{\"name\":\"a\",\"minimum\":1}]}", 1},
        {"{\"node_pools\":[{\"name\":\"a\"},{\"name\":\"b\",\"maximum\":3}]}", 0},
        {"{\"node_pools\":[{\"name\":\"a\"},{\"name\":\"b\",\"maximum\":4}]}", 1},
        {"{\"node_pools\":[{\"name\":\"a\"},{\"name\":\"b\"},{\"name\":\"c\"}]}", 1},
        {"{\"networking\":{\"type\":\"cilium\"}}", 1},
    };
    json_t *observed CLEANUP_JSON =
        parse("{\"kubernetes_version\":\"1.33.7\",\"networking\":{\"type\":\"calico\"},\"node_pools\":[{"
              "\"name\":\"a\","
              "\"minimum\":1,\"maximum\":3},{\"name\":\"b\",\"minimum\":0,\"maximum\":3}]}");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        json_t *spec CLEANUP_JSON = parse(rows[i].spec);
        json_t *differences CLEANUP_JSON = json_array();
        size_t count = spec_differences(spec, observed, SPEC_UNKNOWN_DIFFERS, differences);
        if (count != rows[i].count || json_array_size(differences) != count)
            fail_msg("row %zu: %zu differences", i, count);
    }
}

static void versions_compare_as_numbers(void **state)
{
    assert_true(version_compare("1.33.10", "1.33.9") > 0);
    assert_true(version_compare("1.33", "1.33.1") < 0);
    assert_int_equal(version_compare("1.33.7", "1.33.7"), 0);
    assert_true(version_compare("1877.10.0", "1877.9.0") > 0);
}

/* From the oldest to the newest, as in semver.org, 11. */
static void a_pre_release_is_older_than_its_release(void **state)
{
    static const char *const ordered[] = {
        "1.33.9",        "1.34.0-alpha",   "1.34.0-alpha.1", "1.34.0-alpha.beta",
        "1.34.0-beta.2", "1.34.0-beta.11", "1.34.0-rc.1",    "1.34.0-rc.2",
        "1.34.0",        "1.34.1-rc.1",    "1.34.1"};
    for (size_t i = 0; i < ARRAY_LEN(ordered); i++)
        for (size_t j = 0; j < ARRAY_LEN(ordered); j++) {
            const int order = version_compare(ordered[i], ordered[j]);
            if ((order > 0) - (order < 0) != (i > j) - (i < j))
                fail_msg("%s and %s: %d", ordered[i], ordered[j], order);
        }
    assert_int_equal(version_compare("1.34.0+build.1", "1.34.0"), 0);
}

static void a_release_is_the_default_before_pre_releases(void **state)
{
    json_t *versions CLEANUP_JSON =
        parse("[{\"version\":\"1.35.0-rc.1\"},{\"version\":\"1.34.0-rc.2\"},{\"version\":\"1.34.0\"},"
              "{\"version\":\"1.33.9\"}]");
    assert_string_equal(version_newest(versions, NULL, 0), "1.34.0");
    assert_string_equal(version_newest(versions, "1.34", 0), "1.34.0");
    assert_string_equal(version_newest(versions, "1.35", 0), "1.35.0-rc.1");
    assert_string_equal(version_newest(versions, "1.34.0-rc.2", 0), "1.34.0-rc.2");
}

static void error_codes_have_meaning_and_unknown_ones_pass(void **state)
{
    json_t *errors CLEANUP_JSON = json_array();
    json_t *error CLEANUP_JSON =
        parse("{\"description\":\"x\",\"codes\":[\"ERR_INFRA_QUOTA_EXCEEDED\",\"ERR_NEW\"]}");
    model_append_errors(errors, error, false);
    assert_int_equal(json_array_size(errors), 2);
    assert_true(json_bool(json_array_get(errors, 0), "user_error", false));
    assert_false(json_bool(json_array_get(errors, 0), "retryable", true));
    assert_string_equal(json_str(json_array_get(errors, 1), "code"), "ERR_NEW");
    assert_non_null(json_str(json_array_get(errors, 1), "action"));
}

static void advice_says_who_goes_on(void **state)
{
    static const char *const codes[] = {"ERR_INFRA_UNAUTHENTICATED",    "ERR_INFRA_UNAUTHORIZED",
                                        "ERR_INFRA_QUOTA_EXCEEDED",     "ERR_INFRA_RATE_LIMITS_EXCEEDED",
                                        "ERR_INFRA_DEPENDENCIES",       "ERR_RETRYABLE_INFRA_DEPENDENCIES",
                                        "ERR_INFRA_RESOURCES_DEPLETED", "ERR_CLEANUP_CLUSTER_RESOURCES",
                                        "ERR_CONFIGURATION_PROBLEM",    "ERR_RETRYABLE_CONFIGURATION_PROBLEM",
                                        "ERR_PROBLEMATIC_WEBHOOK"};
    for (size_t i = 0; i < ARRAY_LEN(codes); i++) {
        const struct error_meaning *meaning = model_error_meaning(codes[i]);
        assert_string_equal(meaning->code, codes[i]);
        char *during CLEANUP_FREE = model_error_action(meaning, false);
        char *after CLEANUP_FREE = model_error_action(meaning, true);
        assert_non_null(strstr(during, "by itself."));
        assert_null(strstr(during, "retry"));
        assert_non_null(strstr(after, "etry."));
        assert_null(strstr(after, "by itself"));
        assert_null(strstr(after, "retried"));
        assert_string_not_equal(model_error_actor(meaning, true), BY_CLEURA);
    }
}

/* The fast reader has the same result. It does not read rows of an earlier version. */
static void check_read_from_text(const json_t *stored)
{
    char *text CLEANUP_FREE = json_text(stored);
    struct cluster *c = cluster_from_text(text, strlen(text));
    assert_non_null(c);
    assert_null(c->shoot->observed->tree);
    assert_true(shoot_has_uid(c->shoot));
    assert_string_equal(c->shoot->kubernetes_version, "1.33.7");
    assert_string_equal(c->shoot->images[1], "1877.7.0");
    json_t *again CLEANUP_JSON = cluster_to_json(c);
    assert_true(json_equal(stored, again));
    cluster_free(c);
    json_t *older CLEANUP_JSON = json_deep_copy(stored);
    (void)json_object_del(json_object_get(older, "shoot"), "brief");
    char *older_text CLEANUP_FREE = json_text(older);
    assert_null(cluster_from_text(older_text, strlen(older_text)));
    c = cluster_from_json(older);
    json_t *newer CLEANUP_JSON = cluster_to_json(c);
    assert_true(json_equal(stored, newer));
    cluster_free(c);
}

static void check_times(const struct operation *op, unsigned index, int64_t waited_s, int64_t running_s)
{
    const struct step_times times = operation_step_times(op, index);
    assert_int_equal(times.waited_us, waited_s < 0 ? -1 : waited_s * US_PER_S);
    assert_int_equal(times.running_us, running_s < 0 ? -1 : running_s * US_PER_S);
}

/* The operation is accepted at 100 s. The first step is about to be sent at 103 s, leaves the lane at 110 s
 * and ends at 120 s. The second step is skipped. The third step waits for a run from 121 s on. */
static void the_time_of_a_step_is_waiting_and_running(void **state)
{
    struct operation *op = operation_new();
    for (int i = 0; i < 4; i++)
        operation_add_step(op, STEP_UPDATE_POOL, "a");
    struct operation_step *first = &op->steps[0], *third = &op->steps[2];
    op->created_at = 100 * US_PER_S;
    op->updated_at = 102 * US_PER_S;
    check_times(op, 0, 2, -1);
    check_times(op, 1, -1, -1);
    first->status = STEP_SENDING;
    first->started_at = op->updated_at = 103 * US_PER_S;
    check_times(op, 0, 3, -1);
    first->status = STEP_WAITING; /* an earlier version stored the step without sent_at, or a read showed that
                                     the call was accepted */
    op->updated_at = 111 * US_PER_S;
    check_times(op, 0, 3, 8);
    first->sent_at = 110 * US_PER_S;
    check_times(op, 0, 10, 1);
    first->status = STEP_DONE;
    first->finished_at = 120 * US_PER_S;
    op->updated_at = 125 * US_PER_S;
    check_times(op, 0, 10, 10);
    op->steps[1].status = STEP_SKIPPED;
    op->step_index = 2;
    check_times(op, 1, -1, -1);
    check_times(op, 2, 5, -1);
    third->status = STEP_WAITING;
    third->started_at = 121 * US_PER_S;
    check_times(op, 2, 1, 4);
    third->started_at = 119 * US_PER_S; /* the wall clock was set back */
    check_times(op, 2, 0, 6);
    op->counted_to = 124 * US_PER_S;
    check_times(op, 2, 0, 6); /* a change that was stored later counts */
    op->counted_to = 129 * US_PER_S;
    check_times(op, 2, 0, 10); /* nothing has changed since */
    check_times(op, 0, 10, 10);
    op->status = OPERATION_FAILED;
    op->finished_at = op->updated_at = 130 * US_PER_S;
    check_times(op, 2, 0, 11);
    check_times(op, 3, -1, -1);
    operation_free(op);
}

static void stored_forms_round_trip(void **state)
{
    struct cluster *c = cluster_new();
    struct operation *op = operation_new();
    (void)snprintf(c->id, sizeof(c->id), "cl_1");
    c->project = mem_strdup("p");
    c->name = mem_strdup("n");
    c->spec = json_doc_new(parse("{\"a\":1}"));
    c->phase = PHASE_RETRYING;
    c->version = 7;
    c->generation = 3;
    c->trouble_since = 5;
    c->shoot = MEM_NEW(struct shoot);
    c->shoot->name = mem_strdup("n");
    shoot_set_observed(c->shoot, parse("{\"b\":2,\"uid\":\"5f0e6a0e-9a55-4d8f-8f5c-6d3c2ce3a1aa\","
                                       "\"kubernetes_version\":\"1.33.7\",\"node_pools\":[{\"image\":"
                                       "{\"name\":\"gardenlinux\",\"version\":\"1877.7.0\"}}]}"));
    c->shoot->conditions = json_doc_new(parse("[{\"message\":\"a \\\"quoted\\\" } ] word\"}]"));
    c->shoot->progress = 43;
    json_t *doc CLEANUP_JSON = cluster_to_json(c);
    struct cluster *back = cluster_from_json(doc);
    json_t *again CLEANUP_JSON = cluster_to_json(back);
    assert_true(json_equal(doc, again));
    assert_int_equal(back->trouble_since, 5);
    check_read_from_text(doc);
    (void)snprintf(op->id, sizeof(op->id), "op_1");
    op->project = mem_strdup("p");
    op->cluster = mem_strdup("n");
    op->type = OPERATION_DELETE;
    op->status = OPERATION_RUNNING;
    operation_add_step(op, STEP_DELETE_SHOOT, "")->status = STEP_SENDING;
    op->steps[0].attempts = 2;
    op->steps[0].sent_at = 77;
    char long_text[OPERATION_NOTE_BYTES + 9];
    memset(long_text, 'x', sizeof(long_text) - 1);
    long_text[sizeof(long_text) - 1] = '\0';
    operation_says(op, 5, "Waiting until the \"etcd\" is ready");
    operation_says(op, 6, long_text);
    json_t *op_doc CLEANUP_JSON = operation_to_json(op);
    struct operation *op_back = operation_from_json(op_doc);
    assert_int_equal(op_back->steps[0].status, STEP_SENDING);
    assert_int_equal(op_back->steps[0].attempts, 2);
    assert_int_equal(op_back->steps[0].sent_at, 77);
    assert_int_equal(op_back->note_count, 2);
    assert_int_equal(op_back->notes[0].at, 5);
    assert_string_equal(op_back->notes[0].text, "Waiting until the \"etcd\" is ready");
    assert_int_equal(strlen(op_back->notes[1].text), OPERATION_NOTE_BYTES);
    assert_string_equal(op_back->message, long_text);
    json_t *op_again CLEANUP_JSON = operation_to_json(op_back);
    assert_true(json_equal(op_doc, op_again));
    /* No move leads to this state: the row is set aside. */
    op->steps[0].attempts = 0;
    json_t *unsent CLEANUP_JSON = operation_to_json(op);
    assert_null(operation_from_json(unsent));
    op->steps[0].status = STEP_FAILED;
    json_t *failed CLEANUP_JSON = operation_to_json(op);
    assert_null(operation_from_json(failed));
    op->steps[0].status = STEP_PENDING;
    op->steps[0].attempts = -3;
    json_t *negative CLEANUP_JSON = operation_to_json(op);
    assert_null(operation_from_json(negative));
    json_t *of_nobody CLEANUP_JSON = json_deep_copy(op_doc);
    (void)json_object_del(of_nobody, "cluster");
    assert_null(operation_from_json(of_nobody));
    /* An open operation has no end, even when its row contains one. */
    json_t *ended CLEANUP_JSON = json_deep_copy(op_doc);
    json_set_int(ended, "finished_at", 1);
    struct operation *open = operation_from_json(ended);
    assert_int_equal(open->finished_at, 0);
    operation_free(open);
    char long_name[CLUSTER_KEY_BYTES];
    memset(long_name, 'n', sizeof(long_name) - 2);
    long_name[sizeof(long_name) - 2] = '\0';
    json_t *long_named CLEANUP_JSON = json_deep_copy(doc);
    json_set_str(long_named, "name", long_name);
    assert_null(cluster_from_json(long_named));
    json_t *nonsense CLEANUP_JSON = parse("{\"x\":1}");
    assert_null(cluster_from_json(nonsense));
    assert_null(operation_from_json(nonsense));
    cluster_free(c);
    cluster_free(back);
    operation_free(op);
    operation_free(op_back);
}

static void wh12_subscriptions_match_by_type_and_project(void **state)
{
    char *types[] = {(char[]){"cluster.*"}, (char[]){"operation.failed"}, NULL};
    char *projects[] = {(char[]){"a"}, NULL};
    struct subscription s = {.event_types = types, .projects = projects};
    struct event e = {.type = EVENT_CLUSTER_READY, .project = (char[]){"a"}};
    assert_true(subscription_matches(&s, &e));
    e.type = EVENT_OPERATION_SUCCEEDED;
    assert_false(subscription_matches(&s, &e));
    e.type = EVENT_OPERATION_FAILED;
    assert_true(subscription_matches(&s, &e));
    e.project = (char[]){"b"};
    assert_false(subscription_matches(&s, &e));
    e.project = NULL; /* an account's event belongs to no project */
    assert_false(subscription_matches(&s, &e));
    s.projects = NULL;
    assert_true(subscription_matches(&s, &e));
    s.disabled = true;
    assert_false(subscription_matches(&s, &e));
}

static void event_types_match_patterns(void **state)
{
    assert_true(event_type_matches(EVENT_CLUSTER_READY, "*"));
    assert_true(event_type_matches(EVENT_CLUSTER_READY, "cluster.*"));
    assert_true(event_type_matches(EVENT_CLUSTER_READY, "cluster.ready"));
    assert_false(event_type_matches(EVENT_CLUSTER_READY, "cluster.read"));
    assert_false(event_type_matches(EVENT_CLUSTER_READY, "cluster.ready.now"));
    assert_false(event_type_matches(EVENT_CLUSTER_READY, "operation.*"));
    assert_false(event_type_matches(EVENT_CLUSTER_READY, ""));
}

static struct signing_key make_key(const char *sealed, wall_us created_at)
{
    size_t len = strlen(sealed);
    return (struct signing_key){.sealed = mem_dup(sealed, len), .sealed_len = len, .created_at = created_at};
}

static void wh6_rotation_keeps_old_keys_for_a_while(void **state)
{
    struct subscription *s = MEM_NEW(struct subscription);
    for (int i = 0; i < 5; i++) {
        struct signing_key key = make_key("k", i);
        subscription_rotate(s, &key, i, 100);
        assert_null(key.sealed);
    }
    assert_int_equal(s->key_count, SUBSCRIPTION_MAX_KEYS);
    assert_int_equal(s->keys[0].created_at, 4);
    assert_int_equal(s->keys[0].expires_at, 0);
    assert_int_equal(s->keys[1].created_at, 3);
    assert_int_equal(s->keys[1].expires_at, 104);
    assert_int_equal(s->keys[2].expires_at, 103); /* the next rotation does not prolong the time */
    struct signing_key leaked = make_key("k", 5);
    subscription_rotate(s, &leaked, 5, 0);
    assert_int_equal(s->key_count, 1);
    subscription_free(s);
}

static void subscriptions_come_back_as_they_were_stored(void **state)
{
    struct subscription *s = MEM_NEW(struct subscription);
    (void)snprintf(s->id, sizeof(s->id), "wh_1");
    s->url = mem_strdup("https://example.com");
    struct signing_key key = make_key("key", 7);
    key.scheme = SIGNATURE_V1A;
    key.public_key = mem_strdup("whpk_x");
    subscription_rotate(s, &key, 7, 0);
    s->max_in_flight = 3;
    static const char *const names[] = {"Authorization", "X-Team", "x-team"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct webhook_header h = {
            .name = mem_strdup(names[i]), .sealed = mem_dup("12", i ? i : 1), .sealed_len = i};
        assert_true(subscription_set_header(s, &h));
    }
    json_t *doc = subscription_to_json(s);
    struct subscription *back = subscription_from_json(doc);
    struct subscription *copy = subscription_copy(back);
    json_t *again = subscription_to_json(copy);
    assert_true(json_equal(doc, again));
    assert_int_equal(copy->keys[0].scheme, SIGNATURE_V1A);
    assert_string_equal(copy->keys[0].public_key, "whpk_x");
    assert_int_equal(copy->header_count, 2);
    assert_string_equal(copy->headers[1].name, "x-team");
    subscription_remove_header(copy, "AUTHORIZATION");
    subscription_remove_header(copy, "none");
    assert_int_equal(copy->header_count, 1);
    assert_string_equal(copy->headers[0].name, "x-team");
    for (int i = 0; i <= SUBSCRIPTION_MAX_HEADERS; i++) {
        struct webhook_header h = {.name = mem_printf("X-%d", i)};
        assert_int_equal(subscription_set_header(copy, &h), i < SUBSCRIPTION_MAX_HEADERS - 1);
        webhook_header_done(&h);
    }
    json_decref(doc);
    json_decref(again);
    subscription_free(s);
    subscription_free(back);
    subscription_free(copy);
}

/* Returns a copy of the delivery with the attempts that `text` contains. */
static struct delivery read_again(const struct delivery *d, const char *text)
{
    struct delivery back = *d;
    back.attempts_known = 0;
    delivery_read_attempts(&back, text, strlen(text));
    return back;
}

static void attempts_of_a_delivery_are_kept_in_few_bytes(void **state)
{
    struct delivery d = {.status = DELIVERY_PENDING};
    char *text CLEANUP_FREE = delivery_attempts_text(&d);
    assert_string_equal(text, "");
    assert_int_equal(read_again(&d, "").attempts_known, 0);
    struct delivery_attempt a = {
        .at = 77, .latency_ms = 9, .response_status = 503, .result = ATTEMPT_SERVER_ERROR};
    delivery_note_attempt(&d, &a);
    free(text);
    text = delivery_attempts_text(&d);
    assert_string_equal(text, "[[77,503,9,\"http_5xx\"]]");
    a = (struct delivery_attempt){.at = 78, .latency_ms = 20000, .result = ATTEMPT_TIMEOUT};
    for (int i = 0; i < 20; i++)
        delivery_note_attempt(&d, &a);
    free(text);
    text = delivery_attempts_text(&d);
    struct delivery back = read_again(&d, text);
    assert_int_equal(back.attempts_known, DELIVERY_ATTEMPTS);
    assert_int_equal(back.attempts[0].response_status, 503);
    assert_int_equal(back.attempts[9].at, 78);
    assert_int_equal(back.attempts[9].latency_ms, 20000);
    assert_int_equal(back.attempts[9].result, ATTEMPT_TIMEOUT);

    /* Delivered at the first attempt: the other members contain that attempt. */
    d = (struct delivery){.status = DELIVERY_DELIVERED,
                          .attempt = 1,
                          .response_status = 204,
                          .latency_ms = 5,
                          .updated_at = 80};
    a = (struct delivery_attempt){
        .at = 80, .latency_ms = 5, .response_status = 204, .result = ATTEMPT_DELIVERED};
    delivery_note_attempt(&d, &a);
    free(text);
    text = delivery_attempts_text(&d);
    assert_string_equal(text, "");
    static const char *const odd[] = {"",
                                      "[",
                                      "{}",
                                      "[1]",
                                      "[[]]",
                                      "[[0,204,5,\"delivered\"]]",
                                      "[[80,70000,5,\"delivered\"]]",
                                      "[[80,204,-1,\"delivered\"]]",
                                      "[[80,204,5,\"?\"]]"};
    for (size_t i = 0; i < ARRAY_LEN(odd); i++) {
        back = read_again(&d, odd[i]);
        assert_int_equal(back.attempts_known, 1);
        assert_int_equal(back.attempts[0].at, 80);
        assert_int_equal(back.attempts[0].response_status, 204);
        assert_int_equal(back.attempts[0].result, ATTEMPT_DELIVERED);
    }
}

static void subscriptions_of_the_first_form_keep_their_secret(void **state)
{
    json_t *doc = json_pack("{ss,ss,ss,si}", "id", "wh_1", "url", "https://example.com", "sealed_secret",
                            "YWJj", "created_at", 5);
    struct subscription *s = subscription_from_json(doc);
    assert_int_equal(s->key_count, 1);
    assert_int_equal(s->keys[0].scheme, SIGNATURE_V1);
    assert_int_equal(s->keys[0].sealed_len, 3);
    assert_memory_equal(s->keys[0].sealed, "abc", 3);
    assert_int_equal(s->keys[0].created_at, 5);
    assert_int_equal(s->max_in_flight, 1);
    json_decref(doc);
    subscription_free(s);
}

/* ---- trouble ---- */

static void trouble_has_one_begin_until_it_ends(void **state)
{
    static const struct {
        enum phase phase;
        enum health health;
        bool settling;
        wall_us since;
    } turns[] = {
        {PHASE_UPDATING, HEALTH_PROGRESSING, false, 0}, {PHASE_DEGRADED, HEALTH_UNKNOWN, false, 2},
        {PHASE_UPDATING, HEALTH_PROGRESSING, false, 2}, {PHASE_READY, HEALTH_PROGRESSING, true, 2},
        {PHASE_RETRYING, HEALTH_UNHEALTHY, false, 2},   {PHASE_UNKNOWN, HEALTH_UNKNOWN, false, 2},
        {PHASE_FAILED, HEALTH_PROGRESSING, false, 2},   {PHASE_READY, HEALTH_UNKNOWN, false, 0},
        {PHASE_UPDATING, HEALTH_UNHEALTHY, false, 9},   {PHASE_HIBERNATED, HEALTH_HEALTHY, false, 0},
        {PHASE_FAILED, HEALTH_UNHEALTHY, false, 11},    {PHASE_READY, HEALTH_HEALTHY, false, 0},
    };
    struct cluster *c = cluster_new();
    for (size_t i = 0; i < ARRAY_LEN(turns); i++) {
        c->phase = turns[i].phase;
        c->health = turns[i].health;
        c->settling = turns[i].settling;
        cluster_note_trouble(c, (wall_us)i + 1);
        assert_int_equal(c->trouble_since, turns[i].since);
    }
    cluster_free(c);
}

static void trouble_that_an_earlier_version_stored_began_with_the_last_change(void **state)
{
    static const char *const phases[] = {"failed", "ready"};
    static const wall_us since[] = {80, 0};
    for (size_t i = 0; i < ARRAY_LEN(phases); i++) {
        json_t *doc CLEANUP_JSON = parse("{\"id\":\"cl_1\",\"project\":\"p\",\"name\":\"n\"}");
        json_set_int(doc, "updated_at", 80);
        json_set_str(doc, "phase", phases[i]);
        struct cluster *c CLEANUP_CLUSTER = cluster_from_json(doc);
        assert_int_equal(c->trouble_since, since[i]);
    }
}

/* ---- moves ---- */

static void step_moves_are_those_of_the_table(void **state)
{
    unsigned known = 0;
    for (int from = 0; from < STEP_STATUS_MAX_; from++)
        for (int to = 0; to < STEP_STATUS_MAX_; to++)
            known += step_may_move((enum step_status)from, (enum step_status)to);
    assert_int_equal(known, 13);
    for (int to = 0; to < STEP_STATUS_MAX_; to++) {
        assert_false(step_may_move(STEP_FAILED, (enum step_status)to));
        assert_false(step_may_move(STEP_SKIPPED, (enum step_status)to));
    }
    struct operation_step step = {.status = STEP_PENDING};
    struct operation op = {.id = "op_1", .steps = &step, .step_count = 1};
    step_move(&op, &step, STEP_SENDING);
    assert_int_equal(step.status, STEP_SENDING);
}

static void an_operation_that_ended_moves_no_more(void **state)
{
    for (int from = 0; from < OPERATION_STATUS_MAX_; from++)
        for (int to = 0; to < OPERATION_STATUS_MAX_; to++)
            if (operation_status_is_final((enum operation_status)from))
                assert_false(operation_may_move((enum operation_status)from, (enum operation_status)to));
    assert_true(delivery_may_move(DELIVERY_PENDING, DELIVERY_PENDING));
    assert_false(delivery_may_move(DELIVERY_DELIVERED, DELIVERY_PENDING));
}

static void a_move_that_no_table_knows_ends_the_process(void **state)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        struct operation_step step = {.type = STEP_CREATE_SHOOT, .status = STEP_FAILED};
        (void)signal(SIGABRT, SIG_DFL);
        struct operation op = {.id = "op_1", .steps = &step, .step_count = 1};
        step_move(&op, &step, STEP_DONE);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trouble_has_one_begin_until_it_ends),
        cmocka_unit_test(trouble_that_an_earlier_version_stored_began_with_the_last_change),
        cmocka_unit_test(step_moves_are_those_of_the_table),
        cmocka_unit_test(an_operation_that_ended_moves_no_more),
        cmocka_unit_test(a_move_that_no_table_knows_ends_the_process),
        cmocka_unit_test(phases),
        cmocka_unit_test(a_word_that_was_not_heard_before_is_shown),
        cmocka_unit_test(a_degraded_cluster_says_what_is_wrong),
        cmocka_unit_test(sleep_that_cannot_be_read_is_as_it_was),
        cmocka_unit_test(guard_ends_when_something_newer_is_seen),
        cmocka_unit_test(specs_accepted),
        cmocka_unit_test(specs_refused_at_the_right_place),
        cmocka_unit_test(defaults_fill_what_is_left_out),
        cmocka_unit_test(differences_ignore_what_is_not_asked),
        cmocka_unit_test(versions_compare_as_numbers),
        cmocka_unit_test(a_pre_release_is_older_than_its_release),
        cmocka_unit_test(a_release_is_the_default_before_pre_releases),
        cmocka_unit_test(error_codes_have_meaning_and_unknown_ones_pass),
        cmocka_unit_test(advice_says_who_goes_on),
        cmocka_unit_test(the_time_of_a_step_is_waiting_and_running),
        cmocka_unit_test(stored_forms_round_trip),
        cmocka_unit_test(wh12_subscriptions_match_by_type_and_project),
        cmocka_unit_test(event_types_match_patterns),
        cmocka_unit_test(wh6_rotation_keeps_old_keys_for_a_while),
        cmocka_unit_test(subscriptions_come_back_as_they_were_stored),
        cmocka_unit_test(subscriptions_of_the_first_form_keep_their_secret),
        cmocka_unit_test(attempts_of_a_delivery_are_kept_in_few_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* From a desired spec to steps and their bodies: model/spec_diff.c, model/spec_plan.c. */
#include "tests/support/check.h"

#include <stdio.h>
#include <string.h>

#include "base/attrs.h"
#include "base/mem.h"
#include "model/spec.h"
#include "tests/support/abilities.h"

static const char observed_text[] =
    "{\"kubernetes_version\":\"1.33.7\",\"allowed_cidrs\":[\"192.0.2.0/24\",\"198.51.100.0/24\"],"
    "\"high_availability\":false,\"hibernation_schedules\":[{\"start\":\"0 20 * * 1-5\",\"end\":\"0 8 * * "
    "1-5\","
    "\"location\":\"UTC\"}],\"maintenance\":{\"begin\":\"020000+0000\",\"end\":\"030000+0000\","
    "\"auto_update_kubernetes\":true,\"auto_update_machine_image\":true},"
    "\"networking\":{\"type\":\"cilium\",\"nodes_cidr\":\"10.250.0.0/"
    "16\",\"cilium\":{\"debug\":false,\"tunnel\":"
    "\"vxlan\"}},"
    "\"node_pools\":["
    "{\"name\":\"a\",\"machine_type\":\"b.2c4gb\",\"image\":{\"name\":\"gardenlinux\",\"version\":\"1877.7."
    "0\"},"
    "\"minimum\":1,\"maximum\":3,\"max_surge\":1,\"volume_size_gib\":50,\"zones\":[\"nova\"],\"labels\":{"
    "\"x\":\"1\"},"
    "\"annotations\":{},\"taints\":[{\"key\":\"k\",\"value\":\"\",\"effect\":\"NoSchedule\"}]},"
    "{\"name\":\"b\",\"machine_type\":\"b.4c8gb\",\"image\":{\"name\":\"gardenlinux\",\"version\":\"1877.9."
    "0\"},"
    "\"minimum\":2,\"maximum\":2,\"max_surge\":1,\"volume_size_gib\":100,\"zones\":[\"nova\"],\"labels\":{},"
    "\"annotations\":{},\"taints\":[]}]}";

static const char catalog_text[] =
    "{\"kubernetes_versions\":[{\"version\":\"1.33.6\",\"state\":\"deprecated\"},{\"version\":\"1.33.7\","
    "\"state\":\"supported\"},{\"version\":\"1.34.2\",\"state\":\"deprecated\"},{\"version\":\"1.34.3\","
    "\"state\":"
    "\"supported\"}],"
    "\"machine_images\":[{\"name\":\"gardenlinux\",\"versions\":[{\"version\":\"1877.7.0\",\"state\":"
    "\"deprecated\"},"
    "{\"version\":\"1877.9.0\",\"state\":\"supported\"}]},{\"name\":\"ubuntu\",\"versions\":[{\"version\":"
    "\"22.4\","
    "\"state\":\"supported\"}]}],\"machine_types\":[{\"name\":\"b.2c4gb\",\"cpus\":2,\"memory_mib\":4096}],"
    "\"zones\":[\"nova\"]}";

static json_t *parse(const char *text)
{
    json_t *doc = json_loads(text, JSON_DECODE_ANY, NULL);
    assert_non_null(doc);
    return doc;
}

/* Returns the steps of the plan as "type:target;...". */
static char *text_of_plan(const json_t *plan)
{
    char *text = mem_strdup("");
    size_t i;
    json_t *step;
    json_array_foreach (plan, i, step) {
        char *longer = mem_printf("%s%s:%s;", text, json_str(step, "type"), json_str(step, "target"));
        free(text);
        text = longer;
    }
    return text;
}

static char *plan_text(const char *spec_text)
{
    json_t *catalog CLEANUP_JSON = parse(catalog_text);
    json_t *observed CLEANUP_JSON = parse(observed_text);
    json_t *spec CLEANUP_JSON = parse(spec_text);
    const struct spec_context context = {.catalog = catalog, .abilities = abilities_of(API_V2)};
    json_t *plan CLEANUP_JSON = spec_plan(spec, observed, &context);
    return text_of_plan(plan);
}

#define POOL_A "{\"name\":\"a\"}"
#define POOL_B "{\"name\":\"b\"}"

static void plans(void **state)
{
    static const struct {
        const char *spec, *plan;
    } rows[] = {
        {"{}", ""},
        {"{\"kubernetes_version\":\"1.33\"}", ""},
        {"{\"kubernetes_version\":\"1.33.7\"}", ""},
        {"{\"kubernetes_version\":\"1.34\"}", "patch_cluster:;"},
        {"{\"allowed_cidrs\":[\"198.51.100.0/24\",\"192.0.2.0/24\"]}", ""}, /* the order does not count */
        {"{\"allowed_cidrs\":[\"192.0.2.0/24\"]}", "patch_cluster:;"},
        {"{\"allowed_cidrs\":[]}", "patch_cluster:;"},
        {"{\"hibernation_schedules\":[{\"start\":\"0 20 * * 1-5\",\"end\":\"0 8 * * 1-5\"}]}", ""},
        {"{\"hibernation_schedules\":[]}", "patch_cluster:;"},
        {"{\"maintenance\":{\"auto_update_kubernetes\":true}}", ""},
        {"{\"maintenance\":{\"begin\":\"030000+0000\"}}", "patch_cluster:;"},
        {"{\"high_availability\":false}", ""},
        {"{\"high_availability\":true,\"kubernetes_version\":\"1.34.3\"}", "patch_cluster:;"},
        {"{\"networking\":{\"type\":\"cilium\"}}", ""},
        {"{\"networking\":{\"cilium\":{\"debug\":true}}}", "patch_cluster:;"},
        {"{\"node_pools\":[" POOL_A "," POOL_B "]}", ""},
        {"{\"node_pools\":[" POOL_B "," POOL_A "]}", ""},
        {"{\"node_pools\":[{\"name\":\"a\",\"maximum\":5}," POOL_B "]}", "update_pool:a;"},
        {"{\"node_pools\":[{\"name\":\"a\",\"taints\":[{\"key\":\"k\",\"effect\":\"NoSchedule\"}]}," POOL_B
         "]}",
         ""},
        {"{\"node_pools\":[{\"name\":\"a\",\"taints\":[]}," POOL_B "]}", "update_pool:a;"},
        {"{\"node_pools\":[{\"name\":\"a\",\"labels\":{}}," POOL_B "]}", "update_pool:a;"},
        {"{\"node_pools\":[{\"name\":\"a\",\"image\":{\"name\":\"gardenlinux\"}}," POOL_B "]}", ""},
        {"{\"node_pools\":[" POOL_A "]}", "delete_pool:b;"},
        {"{\"node_pools\":[" POOL_A "," POOL_B ",{\"name\":\"c\"}]}", "create_pool:c;"},
        {"{\"kubernetes_version\":\"1.34\",\"node_pools\":[{\"name\":\"c\",\"maximum\":2},{\"name\":\"a\","
         "\"maximum\":4}]}",
         "patch_cluster:;update_pool:a;create_pool:c;delete_pool:b;"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char *plan CLEANUP_FREE = plan_text(rows[i].spec);
        if (strcmp(plan, rows[i].plan) != 0)
            print_error("row %zu: %s gives %s\n", i, rows[i].spec, plan);
        assert_string_equal(plan, rows[i].plan);
    }
}

/* An unreadable answer of Cleura never causes a pool to be removed, or made twice. Unreadable values are no
 * drift. */
static void unknown_values_are_requested_and_no_drift(void **state)
{
    static const struct {
        const char *spec, *observed, *plan;
    } rows[] = {
        {"{\"node_pools\":[" POOL_A "," POOL_B "]}", "{\"node_pools\":null}", "update_pool:a;update_pool:b;"},
        {"{\"node_pools\":[" POOL_A "," POOL_B "]}", "{\"node_pools\":[" POOL_B ",{\"name\":null}]}",
         "update_pool:a;"},
        {"{\"node_pools\":[" POOL_B "]}", "{\"node_pools\":[" POOL_B ",{\"name\":null}]}", ""},
        {"{\"node_pools\":[{}]}", "{\"node_pools\":null}", ""},
        {"{\"node_pools\":[{\"name\":\"a\",\"max_surge\":2,\"labels\":{\"k\":\"v\"}}]}",
         "{\"node_pools\":[{\"name\":\"a\",\"max_surge\":null,\"labels\":null}]}", "update_pool:a;"},
        {"{\"kubernetes_version\":\"1.34\",\"allowed_cidrs\":[]}",
         "{\"kubernetes_version\":null,\"allowed_cidrs\":null}", "patch_cluster:;"},
    };
    const struct spec_context context = {.abilities = abilities_of(API_V2)};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        json_t *spec CLEANUP_JSON = parse(rows[i].spec), *observed CLEANUP_JSON = parse(rows[i].observed);
        json_t *plan CLEANUP_JSON = spec_plan(spec, observed, &context),
                     *differences CLEANUP_JSON = json_array();
        char *text CLEANUP_FREE = text_of_plan(plan);
        assert_string_equal(text, rows[i].plan);
        assert_int_equal(spec_differences(spec, observed, SPEC_UNKNOWN_AGREES, differences), 0);
    }
}

/* An unreadable member does not cause an earlier request to be sent again. Otherwise a caller that only
 * changes a number would get new nodes of a newer version, or an upgrade of Kubernetes. */
static void same_request_is_not_sent_again(void **state)
{
#define OLD  "{\"name\":\"a\",\"maximum\":3,\"image\":{\"name\":\"gardenlinux\"}}"
#define NEW  "{\"name\":\"a\",\"maximum\":5,\"image\":{\"name\":\"gardenlinux\"}}"
#define SEEN "\"name\":\"a\",\"machine_type\":\"b.2c4gb\",\"maximum\":3"
    static const struct {
        const char *before, *spec, *observed, *plan, *body;
    } rows[] = {
        /* Kubernetes */
        {"{\"kubernetes_version\":\"1.33\",\"node_pools\":[" OLD "]}",
         "{\"kubernetes_version\":\"1.33\",\"node_pools\":[" NEW "]}",
         "{\"kubernetes_version\":null,\"node_pools\":[{" SEEN
         ",\"image\":{\"name\":\"gardenlinux\",\"version\":\"1877.7.0\"}}]}",
         "update_pool:a;",
         "{\"image\":{\"name\":\"gardenlinux\",\"version\":\"1877.7.0\"},\"machine_type\":\"b.2c4gb\","
         "\"maximum\":5,\"name\":\"a\"}"},
        {"{\"kubernetes_version\":\"1.33\"}", "{\"kubernetes_version\":\"1.34\"}",
         "{\"kubernetes_version\":null}", "patch_cluster:;", "{\"kubernetes_version\":\"1.34.3\"}"},
        {NULL, "{\"kubernetes_version\":\"1.34\"}", "{\"kubernetes_version\":null}", "patch_cluster:;",
         "{\"kubernetes_version\":\"1.34.3\"}"},
        /* the version of the image, its name, all of the image */
        {"{\"node_pools\":[" OLD "]}", "{\"node_pools\":[" NEW "]}",
         "{\"node_pools\":[{" SEEN ",\"image\":{\"name\":\"gardenlinux\",\"version\":null}}]}",
         "update_pool:a;",
         "{\"image\":{\"name\":\"gardenlinux\",\"version\":null},\"machine_type\":\"b.2c4gb\",\"maximum\":5,"
         "\"name\":\"a\"}"},
        {"{\"node_pools\":[" OLD "]}", "{\"node_pools\":[" NEW "]}",
         "{\"node_pools\":[{" SEEN ",\"image\":{\"name\":null,\"version\":\"1877.7.0\"}}]}", "update_pool:a;",
         "{\"image\":{\"name\":null,\"version\":\"1877.7.0\"},\"machine_type\":\"b.2c4gb\",\"maximum\":5,"
         "\"name\":\"a\"}"},
        {"{\"node_pools\":[" OLD "]}", "{\"node_pools\":[" OLD "]}",
         "{\"node_pools\":[{" SEEN ",\"image\":{\"name\":null,\"version\":null}}]}", "", NULL},
        /* pools that Cleura does not show */
        {"{\"node_pools\":[" OLD ",{\"name\":\"b\"}]}", "{\"node_pools\":[" NEW ",{\"name\":\"b\"}]}",
         "{\"node_pools\":null}", "update_pool:a;", "{\"maximum\":5,\"name\":\"a\"}"},
        {"{\"node_pools\":[" OLD "]}", "{\"node_pools\":[" OLD ",{\"name\":\"c\",\"minimum\":2}]}",
         "{\"node_pools\":[{\"name\":null}]}", "update_pool:c;", "{\"minimum\":2,\"name\":\"c\"}"},
        {"{\"node_pools\":[{}]}", "{\"node_pools\":[{\"maximum\":5}]}", "{\"node_pools\":null}", "", NULL},
        /* a new image or a new type is requested: nodes are replaced anyway */
        {"{\"node_pools\":[" OLD "]}", "{\"node_pools\":[{\"name\":\"a\",\"image\":{\"name\":\"ubuntu\"}}]}",
         "{\"node_pools\":[{" SEEN ",\"image\":{\"name\":null,\"version\":null}}]}", "update_pool:a;",
         "{\"image\":{\"name\":\"ubuntu\",\"version\":\"22.4\"},\"machine_type\":\"b.2c4gb\",\"maximum\":3,"
         "\"name\":\"a\"}"},
        {"{\"node_pools\":[{\"name\":\"a\"}]}",
         "{\"node_pools\":[{\"name\":\"a\",\"machine_type\":\"b.4c8gb\"}]}",
         "{\"node_pools\":[{" SEEN ",\"image\":{\"name\":\"gardenlinux\",\"version\":null}}]}",
         "update_pool:a;",
         "{\"image\":{\"name\":\"gardenlinux\",\"version\":\"1877.9.0\"},\"machine_type\":\"b.4c8gb\","
         "\"maximum\":3,\"name\":\"a\"}"},
        /* high availability cannot be switched off: nothing is sent */
        {NULL, "{\"high_availability\":false}", "{\"high_availability\":null}", "", NULL},
        {NULL, "{\"high_availability\":true}", "{\"high_availability\":null}", "patch_cluster:;",
         "{\"high_availability\":true}"},
    };
    json_t *catalog CLEANUP_JSON = parse(catalog_text);
    const struct spec_context context = {.catalog = catalog, .abilities = abilities_of(API_V2)};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        json_t *before CLEANUP_JSON = rows[i].before ? parse(rows[i].before) : NULL;
        json_t *spec CLEANUP_JSON = parse(rows[i].spec), *observed CLEANUP_JSON = parse(rows[i].observed);
        json_t *present CLEANUP_JSON = spec_presumed(observed, before, spec);
        json_t *plan CLEANUP_JSON = spec_plan(spec, present, &context);
        char *text CLEANUP_FREE = text_of_plan(plan);
        if (strcmp(text, rows[i].plan) != 0)
            fail_msg("row %zu: %s", i, text);
        if (!rows[i].body)
            continue;
        const json_t *step = json_array_get(plan, 0);
        json_t *body CLEANUP_JSON =
            spec_step_body((enum step_type)step_type_from_name(json_str(step, "type")),
                           json_str(step, "target"), json_obj(step, "want"), observed, &context);
        char *sent CLEANUP_FREE = json_canonical(body);
        if (strcmp(sent, rows[i].body) != 0)
            fail_msg("row %zu: %s", i, sent);
    }
    assert_null(spec_presumed(NULL, NULL, catalog));
}

/* Returns the canonical body of the first step of a plan. */
static char *first_body(const char *spec_text)
{
    json_t *catalog CLEANUP_JSON = parse(catalog_text);
    json_t *observed CLEANUP_JSON = parse(observed_text);
    json_t *spec CLEANUP_JSON = parse(spec_text);
    const struct spec_context context = {.catalog = catalog, .abilities = abilities_of(API_V2)};
    json_t *plan CLEANUP_JSON = spec_plan(spec, observed, &context);
    const json_t *step = json_array_get(plan, 0);
    const char *target = json_str(step, "target");
    int type = step_type_from_name(json_str(step, "type"));
    json_t *want = json_obj(step, "want");
    assert_false(spec_step_is_met((enum step_type)type, target, want, observed, SPEC_UNKNOWN_DIFFERS));
    json_t *body CLEANUP_JSON = spec_step_body((enum step_type)type, target, want, observed, &context);
    return body ? json_canonical(body) : mem_strdup("none");
}

static void bodies(void **state)
{
    static const struct {
        const char *spec, *body;
    } rows[] = {
        {"{\"kubernetes_version\":\"1.34\"}", "{\"kubernetes_version\":\"1.34.3\"}"},
        {"{\"kubernetes_version\":\"1.34\",\"high_availability\":false,\"allowed_cidrs\":[]}",
         "{\"allowed_cidrs\":[],\"kubernetes_version\":\"1.34.3\"}"},
        /* both ends of a window, both switches, but not the unchanged group */
        {"{\"maintenance\":{\"begin\":\"030000+0000\",\"auto_update_kubernetes\":true}}",
         "{\"maintenance\":{\"begin\":\"030000+0000\",\"end\":\"030000+0000\"}}"},
        {"{\"maintenance\":{\"auto_update_machine_image\":false}}",
         "{\"maintenance\":{\"auto_update_kubernetes\":true,\"auto_update_machine_image\":false}}"},
        {"{\"networking\":{\"cilium\":{\"debug\":true}}}",
         "{\"networking\":{\"cilium\":{\"debug\":true,\"tunnel\":\"vxlan\"}}}"},
        /* the whole pool: the existing values, overlaid with the requested ones */
        {"{\"node_pools\":[{\"name\":\"b\",\"maximum\":9}," POOL_A "]}",
         "{\"annotations\":{},\"image\":{\"name\":\"gardenlinux\",\"version\":\"1877.9.0\"},\"labels\":{},"
         "\"machine_type\":\"b.4c8gb\",\"max_surge\":1,\"maximum\":9,\"minimum\":2,\"name\":\"b\",\"taints\":"
         "[],"
         "\"volume_size_gib\":100,\"zones\":[\"nova\"]}"},
        /* another image: the newest version of that image */
        {"{\"node_pools\":[{\"name\":\"b\",\"image\":{\"name\":\"ubuntu\"}}," POOL_A "]}",
         "{\"annotations\":{},\"image\":{\"name\":\"ubuntu\",\"version\":\"22.4\"},\"labels\":{},"
         "\"machine_type\":\"b.4c8gb\",\"max_surge\":1,\"maximum\":2,\"minimum\":2,\"name\":\"b\",\"taints\":"
         "[],"
         "\"volume_size_gib\":100,\"zones\":[\"nova\"]}"},
        {"{\"node_pools\":[" POOL_A "]}", "none"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char *body CLEANUP_FREE = first_body(rows[i].spec);
        assert_string_equal(body, rows[i].body);
    }
}

static void rolling_is_reported(void **state)
{
    static const struct {
        const char *spec, *reason;
    } rows[] = {
        {"{\"kubernetes_version\":\"1.34\"}", "the minor version of Kubernetes changes"},
        {"{\"kubernetes_version\":\"1.33.8\"}", NULL},
        {"{\"node_pools\":[{\"name\":\"a\",\"machine_type\":\"b.4c8gb\"}," POOL_B "]}",
         "the machine type changes"},
        {"{\"node_pools\":[{\"name\":\"a\",\"maximum\":9}," POOL_B "]}", NULL},
    };
    json_t *observed CLEANUP_JSON = parse(observed_text);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        json_t *spec CLEANUP_JSON = parse(rows[i].spec);
        const struct spec_context context = {.abilities = abilities_of(API_V2)};
        json_t *plan CLEANUP_JSON = spec_plan(spec, observed, &context);
        const json_t *step = json_array_get(plan, 0);
        assert_int_equal(json_bool(step, "rolls_nodes", false), rows[i].reason != NULL);
        if (rows[i].reason)
            assert_string_equal(json_str(step, "reason"), rows[i].reason);
    }
}

static void effects_are_recognised(void **state)
{
    json_t *observed CLEANUP_JSON = parse(observed_text);
    json_t *floating CLEANUP_JSON = parse("{\"kubernetes_version\":\"1.33\"}");
    json_t *pool CLEANUP_JSON = parse("{\"name\":\"a\",\"maximum\":3,\"image\":null}");
    assert_true(spec_step_is_met(STEP_PATCH_CLUSTER, "", floating, observed, SPEC_UNKNOWN_DIFFERS));
    assert_true(spec_step_is_met(STEP_UPDATE_POOL, "a", pool, observed, SPEC_UNKNOWN_DIFFERS));
    assert_false(spec_step_is_met(STEP_UPDATE_POOL, "b", pool, observed, SPEC_UNKNOWN_DIFFERS));
    assert_false(spec_step_is_met(STEP_CREATE_POOL, "c", pool, observed, SPEC_UNKNOWN_DIFFERS));
    assert_true(spec_step_is_met(STEP_DELETE_POOL, "c", NULL, observed, SPEC_UNKNOWN_DIFFERS));
    assert_false(spec_step_is_met(STEP_DELETE_POOL, "a", NULL, observed, SPEC_UNKNOWN_DIFFERS));
}

/* A pool without a name means the single existing pool. */
static void a_single_pool_needs_no_name(void **state)
{
    json_t *observed CLEANUP_JSON = parse("{\"node_pools\":[{\"name\":\"default\",\"maximum\":3}]}");
    json_t *same CLEANUP_JSON = parse("{\"node_pools\":[{\"maximum\":3}]}");
    json_t *more CLEANUP_JSON = parse("{\"node_pools\":[{\"maximum\":4}]}");
    const struct spec_context context = {.abilities = abilities_of(API_V2)};
    json_t *nothing CLEANUP_JSON = spec_plan(same, observed, &context);
    json_t *update CLEANUP_JSON = spec_plan(more, observed, &context);
    assert_int_equal(json_array_size(nothing), 0);
    assert_int_equal(json_array_size(update), 1);
    assert_string_equal(json_str(json_array_get(update, 0), "target"), "default");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans),
        cmocka_unit_test(unknown_values_are_requested_and_no_drift),
        cmocka_unit_test(same_request_is_not_sent_again),
        cmocka_unit_test(bodies),
        cmocka_unit_test(rolling_is_reported),
        cmocka_unit_test(effects_are_recognised),
        cmocka_unit_test(a_single_pool_needs_no_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

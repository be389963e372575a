/*
 * Each member of Cleura's answers is read separately: an odd value in one member does not change the others.
 * No table lists the results that depend on a member. The check finds them: it leaves the member out and
 * compares the results.
 */
#include "fuzz/odd_members.h"

#include <string.h>

#include "base/mem.h"
#include "fuzz/fuzz.h"
#include "model/cluster.h"
#include "upstream/wire/driver_private.h"

/* Complete answers. No value equals the default that is used when its member is absent. Therefore a result
 * that depends on a member changes when the member is left out. */
static const struct sample {
    const struct upstream_driver *driver;
    enum upstream_op op;
    const char *text;
} samples[] = {
    {&driver_v2, UPSTREAM_GET,
     "{\"name\":\"dev\",\"uid\":\"47634427-3aab-437f-98dc-1a7f207e7969\",\"purpose\":\"testing\","
     "\"generation\":7,\"technical_id\":\"shoot--x--dev\",\"kubernetes\":{\"version\":\"1.33.7\"},"
     "\"networking\":{\"type\":\"cilium\",\"nodes\":\"10.250.0.0/16\",\"cilium_provider_config\":{\"debug\":"
     "true,\"tunnel\":\"vxlan\"}},\"maintenance\":{\"auto_update\":{\"kubernetes_version\":false,"
     "\"machine_image_version\":false},\"time_window\":{\"begin\":\"020000+0000\",\"end\":\"030000+0000\"}},"
     "\"shoot_provider\":{\"type\":\"openstack\",\"control_plane_config\":{\"load_balancer_provider\":"
     "\"amphora\"},\"infrastructure_config\":{\"floating_pool_name\":\"net\",\"networks\":{\"id\":\"n\","
     "\"router\":{\"id\":\"r\"},\"workers\":\"10.251.0.0/16\"}},\"workers\":[{\"name\":\"a\",\"machine\":{"
     "\"type\":\"b.2c4gb\",\"image\":{\"name\":\"gardenlinux\",\"version\":\"1877.9.0\"}},\"minimum\":2,"
     "\"maximum\":3,\"max_surge\":4,\"max_unavailable\":0,\"volume\":{\"size\":\"50Gi\"},\"zones\":[\"nova\"]"
     ","
     "\"labels\":[{\"key\":\"x/y\",\"value\":\"z\"},{\"key\":\"k\",\"value\":\"v\"}],\"annotations\":[{"
     "\"key\":\"a\",\"value\":\"b\"}],\"taints\":[{\"key\":\"k\",\"value\":\"v\",\"effect\":\"NoSchedule\"}]}"
     "]}"
     ",\"allowed_cidrs\":[\"192.0.2.0/24\"],\"control_plane\":{\"high_availability\":{}},\"hibernation\":{"
     "\"schedules\":[{\"start\":\"0 20 * * 1-5\",\"end\":\"0 6 * * 1-5\",\"location\":\"UTC\"}]},"
     "\"last_operation\":{\"type\":\"Reconcile\",\"state\":\"Processing\",\"progress\":43,\"description\":"
     "\"x\",\"last_update_time\":\"2026-03-01T12:05:00Z\"},\"status\":{\"is_hibernated\":true,\"conditions\":"
     "[{"
     "\"type\":\"T\",\"status\":\"True\",\"reason\":\"r\",\"message\":\"m\",\"codes\":[\"C\"]}],"
     "\"constraints\":[{\"type\":\"T\",\"status\":\"True\",\"reason\":\"r\",\"message\":\"m\"}],"
     "\"last_errors\":[{\"description\":\"d\",\"codes\":[\"ERR\"],\"task_id\":\"t\",\"last_update_time\":"
     "\"2026-03-01T12:05:00Z\"}]}}"},
    {&driver_v1, UPSTREAM_GET,
     "{\"metadata\":{\"name\":\"dev\",\"uid\":\"47634427-3aab-437f-98dc-1a7f207e7969\",\"generation\":7},"
     "\"spec\":{\"purpose\":\"testing\",\"kubernetes\":{\"version\":\"1.33.7\"},\"networking\":{\"type\":"
     "\"calico\"},\"controlPlane\":{\"highAvailability\":{}},\"maintenance\":{\"autoUpdate\":{"
     "\"kubernetesVersion\":false,\"machineImageVersion\":false},\"timeWindow\":{\"begin\":\"020000+0000\","
     "\"end\":\"030000+0000\"}},\"hibernation\":{\"schedules\":[{\"start\":\"0 20 * * 1-5\"}]},\"provider\":{"
     "\"infrastructureConfig\":{\"floatingPoolName\":\"net\",\"networks\":{\"id\":\"n\",\"workers\":"
     "\"10.251.0.0/16\",\"router\":{\"id\":\"r\"}}},\"workers\":[{\"name\":\"a\",\"machine\":{\"type\":"
     "\"b.2c4gb\",\"image\":{\"name\":\"gardenlinux\",\"version\":\"1877.9.0\"}},\"minimum\":\"2\","
     "\"maximum\":3,\"maxSurge\":4,\"volume\":{\"size\":\"50Gi\"},\"zones\":[\"nova\"],\"labels\":{\"a\":"
     "\"b\",\"c\":{\"key\":\"c\",\"value\":\"d\"}},\"annotations\":{\"e\":\"f\"},\"taints\":[{\"key\":\"k\","
     "\"effect\":\"NoSchedule\",\"value\":\"v\"}]}]}},\"status\":{\"hibernated\":true,\"lastOperation\":{"
     "\"type\":\"Reconcile\",\"state\":\"Processing\",\"progress\":43,\"description\":\"x\"},\"conditions\":["
     "{"
     "\"type\":\"T\",\"status\":\"True\",\"message\":\"m\",\"lastTransitionTime\":\"t\"}],\"constraints\":[{"
     "\"type\":\"T\"}],"
     "\"lastErrors\":[{\"description\":\"d\",\"codes\":[\"ERR\"],\"taskID\":\"t\"}],\"advertisedAddresses\":["
     "{\"name\":\"external\",\"url\":\"https://x\"}]}}"},
    {&driver_v2, UPSTREAM_CATALOG,
     "[{\"name\":\"c\",\"kubernetes\":{\"versions\":[{\"version\":\"1.33.7\",\"classification\":"
     "\"deprecated\",\"expiration_date\":\"2026-12-12T00:00:00Z\"}]},\"machine_images\":[{\"name\":\"g\","
     "\"versions\":[{\"version\":\"1.0.0\",\"classification\":\"preview\",\"architectures\":[\"arm64\"]}]}],"
     "\"machine_types\":[{\"name\":\"b\",\"cpu\":2,\"gpu\":1,\"memory\":\"4Gi\",\"architecture\":\"arm64\","
     "\"usable\":false}],\"regions\":[{\"name\":\"Sto2\",\"zones\":[{\"name\":\"nova\"}]}],\"volume_types\":["
     "{"
     "\"usable\":true,\"min_size\":\"10Gi\"}],\"provider_config\":{\"constraints\":{\"floating_pools\":[{"
     "\"name\":\"net\"}],\"load_balancer_providers\":[{\"name\":\"lb\"}]}}}]"},
    {&driver_v1, UPSTREAM_CATALOG,
     "[{\"name\":\"c\",\"spec\":{\"kubernetes\":{\"versions\":[{\"version\":\"1.33.7\",\"classification\":"
     "\"deprecated\",\"expirationDate\":\"2026-12-12T00:00:00Z\"}]},\"machineImages\":[{\"name\":\"g\","
     "\"versions\":[{\"version\":\"1.0.0\"}]}],\"machineTypes\":[{\"name\":\"b\",\"cpu\":\"2\",\"gpu\":\"1\","
     "\"memory\":\"4Gi\",\"usable\":false}],\"regions\":[{\"name\":\"Sto2\",\"zones\":[{\"name\":\"nova\"}]}]"
     "}}"
     "]"},
    {&driver_v2, UPSTREAM_NODES,
     "[{\"worker_group\":\"a\",\"node_name\":\"n\",\"cpu_usage\":0.38,\"allocatable_cpu\":1.9,"
     "\"memory_usage\":1504441144.44,\"allocatable_memory\":3006477107,\"pods\":14.0}]"},
    {&driver_v2, UPSTREAM_QUOTA,
     "{\"compute\":{\"cores\":20,\"instances\":10,\"ram\":51200},\"block_storage\":{\"volumes\":50,"
     "\"gigabytes\":1000,\"snapshots\":50},\"networking\":{\"floating_ip\":50,\"network\":100,\"port\":500,"
     "\"router\":10,\"security_group\":10}}"},
    {&driver_v2, UPSTREAM_OWN_PROJECTS,
     "[{\"region\":{\"id\":2,\"tag\":\"Sto2\"},\"projects\":[{\"id\":\"p\",\"name\":\"x\",\"domain_id\":"
     "\"d\"}]}]"},
    {&driver_v2, UPSTREAM_UPGRADE_CHECK,
     "{\"outcome\":\"not_ready\",\"details\":[\"d\"],\"upgrade_notes\":\"n\"}"},
    {&driver_v2, UPSTREAM_MONITORING,
     "{\"prometheus\":{\"url\":\"u\",\"username\":\"n\",\"password\":\"p\"},\"plutono\":{\"url\":\"u\","
     "\"username\":\"n\",\"password\":\"p\"}}"},
    {&driver_v2, UPSTREAM_CA_STAGE, "{\"stage\":\"Prepared\"}"},
    {&driver_v2, UPSTREAM_NAME_TAKEN, "{\"is_taken\":true}"},
};

#define ODD "\"@odd@\""

static json_t *shoot_words_of(struct upstream_result *result)
{
    struct cluster *c CLEANUP_CLUSTER = cluster_new();
    c->project = mem_strdup("p");
    c->name = mem_strdup("dev");
    c->shoot = TAKE_PTR(result->shoot);
    json_t *stored CLEANUP_JSON = cluster_to_json(c);
    fuzz_check_stored(stored);
    return json_incref(json_object_get(stored, "shoot"));
}

/* Returns the decoded answer; NULL when the answer is refused. */
static json_t *decoded(const struct sample *s, const char *text)
{
    const struct answer_about about = {
        .op = s->op, .region = (char[]){"Sto2"}, .item = (char[]){"other"}, .now = FUZZ_NOW};
    struct upstream_result result = {0};
    const char *why;
    json_t *words = NULL;
    if (answer_read(s->driver, &about, text, strlen(text), &result, &why) == READ_OK)
        words = result.shoot     ? shoot_words_of(&result)
                : result.catalog ? json_incref(result.catalog)
                                 : json_incref(result.document);
    json_t *copy = json_deep_copy(words); /* a copy, because freeing the result overwrites its secrets */
    json_decref(words);
    upstream_result_done(&result);
    return copy;
}

/* Adds the paths at which `a` and `b` differ. Objects are compared by member, and arrays of equal length by
 * element. */
static void add_differences(const json_t *a, const json_t *b, const char *path, json_t *paths)
{
    const char *key;
    json_t *inner;
    size_t i;
    if (json_is_object(a) && json_is_object(b)) {
        json_t *all CLEANUP_JSON = json_copy((json_t *)(uintptr_t)a);
        (void)json_object_update(all, (json_t *)(uintptr_t)b);
        json_object_foreach (all, key, inner) {
            char *here CLEANUP_FREE = json_pointer_to(path, key);
            add_differences(json_object_get(a, key), json_object_get(b, key), here, paths);
        }
    } else if (json_is_array(a) && json_array_size(a) == json_array_size(b)) {
        json_array_foreach (a, i, inner) {
            char *here CLEANUP_FREE = mem_printf("%s/%zu", path, i);
            add_differences(inner, json_array_get(b, i), here, paths);
        }
    } else if (!json_equal((json_t *)(uintptr_t)a, (json_t *)(uintptr_t)b)) {
        json_append_take(paths, json_string(path));
    }
}

static bool is_at_or_below(const char *path, const char *above)
{
    size_t len = strlen(above);
    return !strncmp(path, above, len) && (path[len] == '\0' || path[len] == '/');
}

/* Members with these names are known as a whole, or not at all. */
static bool is_known_as_a_whole(const char *path)
{
    static const char *const names[] = {
        "labels", "annotations", "taints", "zones", "hibernation_schedules", "allowed_cidrs", "node_pools"};
    const char *last = strrchr(path, '/');
    for (size_t i = 0; last && i < ARRAY_LEN(names); i++)
        if (!strcmp(last + 1, names[i]))
            return true;
    return false;
}

/* Whether the path is in the list or below a path of the list, or contains a path of the list and is known as
 * a whole. */
static bool is_among(const char *path, const json_t *paths)
{
    size_t i;
    json_t *one;
    json_array_foreach (paths, i, one)
        if (is_at_or_below(path, json_string_value(one)) ||
            (is_known_as_a_whole(path) && is_at_or_below(json_string_value(one), path)))
            return true;
    return false;
}

/* Returns `root` as text, in which `odd` replaces ODD; NULL when the text exceeds the limits of an answer. */
static char *text_with(const json_t *root, const char *odd)
{
    static const struct json_limits any = {SIZE_MAX, SIZE_MAX, SIZE_MAX};
    char *text CLEANUP_FREE = json_text(root);
    char *at = strstr(text, ODD);
    FUZZ_CHECK(at != NULL);
    char *whole = mem_printf("%.*s%s%s", (int)(at - text), text, odd, at + strlen(ODD));
    if (json_scan(whole, strlen(whole), &any) == JSON_SCAN_OK)
        return whole;
    free(whole);
    return NULL;
}

/* `with` is the text with the odd value, `without` the text without the member. */
static void check_text(const struct sample *s, const json_t *before, const char *with, const char *without,
                       bool is_uid)
{
    json_t *odd CLEANUP_JSON = decoded(s, with), *absent CLEANUP_JSON = decoded(s, without);
    json_t *may_differ CLEANUP_JSON = json_array(), *differ CLEANUP_JSON = json_array();
    size_t i;
    json_t *path;
    if (!absent || (is_uid && !odd))
        return; /* the member is required, or identifies the shoot */
    if (!odd)
        (void)fprintf(stderr, "refused: %s\n", with);
    FUZZ_CHECK(odd != NULL);
    add_differences(before, absent, "", may_differ);
    add_differences(before, odd, "", differ);
    json_array_foreach (differ, i, path) {
        bool expected = is_among(json_string_value(path), may_differ);
        if (!expected)
            (void)fprintf(stderr, "%s differs: %s\n", json_string_value(path), with);
        FUZZ_CHECK(expected);
    }
}

static void check_below(const struct sample *s, const json_t *before, const json_t *root, json_t *at,
                        const char *odd)
{
    json_t *members CLEANUP_JSON = json_copy(at), *inner;
    const char *key;
    size_t i;
    json_object_foreach (members, key, inner) {
        (void)json_object_set_new(at, key, json_string("@odd@"));
        char *with CLEANUP_FREE = text_with(root, odd);
        (void)json_object_del(at, key);
        char *without CLEANUP_FREE = json_text(root);
        (void)json_object_set(at, key, inner);
        if (with)
            check_text(s, before, with, without, !strcmp(key, "uid"));
        check_below(s, before, root, inner, odd);
    }
    json_array_foreach (json_is_array(members) ? members : NULL, i, inner) {
        (void)json_array_set_new(at, i, json_string("@odd@"));
        char *with CLEANUP_FREE = text_with(root, odd);
        if (json_is_object(inner))
            (void)json_array_set_new(at, i, json_object());
        else
            (void)json_array_remove(at, i);
        char *without CLEANUP_FREE = json_text(root);
        if (json_is_object(inner))
            (void)json_array_set(at, i, inner);
        else
            (void)json_array_insert(at, i, inner);
        if (with)
            check_text(s, before, with, without, false);
        check_below(s, before, root, inner, odd);
    }
}

void check_odd_members(const char *odd, size_t len)
{
    static const struct json_limits few = {4096, 50, 20};
    if (strlen(odd) != len || json_scan(odd, len, &few) != JSON_SCAN_OK)
        return;
    for (size_t i = 0; i < ARRAY_LEN(samples); i++) {
        json_t *root CLEANUP_JSON = json_loads(samples[i].text, 0, NULL);
        json_t *before CLEANUP_JSON = decoded(&samples[i], samples[i].text);
        FUZZ_CHECK(root && before);
        check_below(&samples[i], before, root, root, odd);
    }
}

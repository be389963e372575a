#include "simulator/wire/wire.h"

#include "base/attrs.h"
#include "simulator/cloud/sim_catalog.h"
#include "simulator/cloud/check.h"
#include "simulator/cloud/sim_shoot.h"
#include "simulator/cloud/sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOOT_NAME_LONGEST 15
#define NETWORK_DEFAULT    "10.250.0.0/16"

static const struct rule create_rules[] = {
    {"name", KIND_STRING, PATTERN_SHOOT, RULE_REQUIRED},
    {"kubernetes_version", KIND_STRING, PATTERN_VERSION, RULE_REQUIRED},
    {"shoot_provider", KIND_OBJECT, PATTERN_NONE, RULE_REQUIRED},
    {"allowed_cidrs", KIND_ARRAY, PATTERN_NONE, RULE_NULLABLE},
    {"enable_ha_control_plane", KIND_BOOLEAN, PATTERN_NONE, RULE_NULLABLE},
    {"hibernation_schedules", KIND_ARRAY, PATTERN_NONE, RULE_NULLABLE},
    {"maintenance", KIND_OBJECT, PATTERN_NONE, RULE_NULLABLE},
    {"networking", KIND_OBJECT, PATTERN_NONE, RULE_NULLABLE},
};

static const struct rule patch_rules[] = {
    {"kubernetes", KIND_STRING, PATTERN_VERSION, RULE_NULLABLE},
    {"allowed_cidrs", KIND_ARRAY, PATTERN_NONE, RULE_NULLABLE},
    {"enable_ha_control_plane", KIND_BOOLEAN, PATTERN_NONE, RULE_NULLABLE},
    {"hibernation_schedules", KIND_ARRAY, PATTERN_NONE, RULE_NULLABLE},
    {"maintenance", KIND_OBJECT, PATTERN_NONE, RULE_NULLABLE},
    {"networking", KIND_OBJECT, PATTERN_NONE, RULE_NULLABLE},
};

static const struct rule provider_rules[] = {
    {"infrastructure_config", KIND_OBJECT, PATTERN_NONE, RULE_REQUIRED},
    {"load_balancer_provider", KIND_STRING, PATTERN_SIZE, RULE_REQUIRED},
    {"workers", KIND_ARRAY, PATTERN_NONE, RULE_REQUIRED},
};

static const struct rule infrastructure_rules[] = {
    {"floating_pool_name", KIND_STRING, PATTERN_TEXT, RULE_REQUIRED},
    {"network_id", KIND_STRING, PATTERN_UUID, RULE_NULLABLE},
    {"router_id", KIND_STRING, PATTERN_UUID, RULE_NULLABLE},
    {"workers_network_cidr", KIND_STRING, PATTERN_CIDR, RULE_NULLABLE},
};

static const struct rule schedule_rules[] = {
    {"start", KIND_STRING, PATTERN_CRON, RULE_REQUIRED},
    {"end", KIND_STRING, PATTERN_CRON, RULE_REQUIRED},
};

static const struct rule schedule_patch_rules[] = {
    {"start", KIND_STRING, PATTERN_CRON, RULE_NULLABLE},
    {"end", KIND_STRING, PATTERN_CRON, RULE_NULLABLE},
};

static const struct rule maintenance_rules[] = {
    {"auto_update", KIND_OBJECT, PATTERN_NONE, RULE_NULLABLE},
    {"time_window", KIND_OBJECT, PATTERN_NONE, RULE_NULLABLE},
};

static const struct rule auto_update_rules[] = {
    {"kubernetes_version", KIND_BOOLEAN, PATTERN_NONE, RULE_NULLABLE},
    {"machine_image_version", KIND_BOOLEAN, PATTERN_NONE, RULE_NULLABLE},
};

static const struct rule window_rules[] = {
    {"begin", KIND_STRING, PATTERN_TIME, RULE_REQUIRED},
    {"end", KIND_STRING, PATTERN_TIME, RULE_REQUIRED},
};

static const struct rule networking_rules[] = {
    {"type", KIND_STRING, PATTERN_NONE, RULE_NULLABLE},
    {"cilium_provider_config", KIND_OBJECT, PATTERN_NONE, RULE_NULLABLE},
};

static const struct rule cilium_rules[] = {
    {"debug", KIND_BOOLEAN, PATTERN_NONE, RULE_NULLABLE},
    {"encryption_enabled", KIND_BOOLEAN, PATTERN_NONE, RULE_NULLABLE},
    {"encryption_mode", KIND_STRING, PATTERN_NONE, RULE_NULLABLE},
    {"encryption_node_to_node_enabled", KIND_BOOLEAN, PATTERN_NONE, RULE_NULLABLE},
    {"encryption_strict_mode_enabled", KIND_BOOLEAN, PATTERN_NONE, RULE_NULLABLE},
    {"hubble_enabled", KIND_BOOLEAN, PATTERN_NONE, RULE_NULLABLE},
    {"policy_audit_mode", KIND_BOOLEAN, PATTERN_NONE, RULE_NULLABLE},
    {"tunnel", KIND_STRING, PATTERN_NONE, RULE_NULLABLE},
};

static bool is_one_of(const char *text, const char *const *values)
{
    for (; *values; values++)
        if (!strcmp(text, *values))
            return true;
    return false;
}

static void check_enum(json_t *errors, const char *key, const json_t *value, const char *const *values)
{
    if (json_is_string(value) && !is_one_of(json_string_value(value), values))
        check_fail(errors, key, "is not one of the known values");
}

static bool is_given(const json_t *value)
{
    return value && !json_is_null(value);
}

static void check_cidrs(json_t *errors, const json_t *cidrs)
{
    json_t *cidr;
    size_t i;
    json_array_foreach (cidrs, i, cidr) {
        char key[64];
        (void)snprintf(key, sizeof(key), "allowed_cidrs[%zu]", i);
        if (!json_is_string(cidr) || !check_pattern(PATTERN_CIDR, json_string_value(cidr)))
            check_fail(errors, key, "must be an IPv4 network");
    }
}

static void check_schedules(json_t *errors, const json_t *schedules, bool patch)
{
    json_t *schedule;
    size_t i;
    json_array_foreach (schedules, i, schedule) {
        char key[64];
        (void)snprintf(key, sizeof(key), "hibernation_schedules[%zu]", i);
        if (patch)
            check_members(errors, key, schedule, RULES(schedule_patch_rules));
        else
            check_members(errors, key, schedule, RULES(schedule_rules));
    }
}

static void check_maintenance(json_t *errors, const json_t *maintenance)
{
    const json_t *update = json_object_get(maintenance, "auto_update");
    const json_t *window = json_object_get(maintenance, "time_window");
    check_members(errors, "maintenance", maintenance, RULES(maintenance_rules));
    if (json_is_object(update))
        check_members(errors, "maintenance.auto_update", update, RULES(auto_update_rules));
    if (json_is_object(window))
        check_members(errors, "maintenance.time_window", window, RULES(window_rules));
}

static void check_networking(json_t *errors, const json_t *networking)
{
    static const char *const types[] = {"calico", "cilium", NULL};
    static const char *const tunnels[] = {"vxlan", "geneve", "disabled", NULL};
    static const char *const modes[] = {"wireguard", NULL};
    const json_t *cilium = json_object_get(networking, "cilium_provider_config");
    check_members(errors, "networking", networking, RULES(networking_rules));
    check_enum(errors, "networking.type", json_object_get(networking, "type"), types);
    if (!json_is_object(cilium))
        return;
    check_members(errors, "networking.cilium_provider_config", cilium, RULES(cilium_rules));
    check_enum(errors, "networking.cilium_provider_config.tunnel", json_object_get(cilium, "tunnel"),
               tunnels);
    check_enum(errors, "networking.cilium_provider_config.encryption_mode",
               json_object_get(cilium, "encryption_mode"), modes);
}

static void check_shared(json_t *errors, const json_t *body, bool patch)
{
    check_cidrs(errors, json_object_get(body, "allowed_cidrs"));
    check_schedules(errors, json_object_get(body, "hibernation_schedules"), patch);
    if (json_is_object(json_object_get(body, "maintenance")))
        check_maintenance(errors, json_object_get(body, "maintenance"));
    if (json_is_object(json_object_get(body, "networking")))
        check_networking(errors, json_object_get(body, "networking"));
}

static void check_name(json_t *errors, const json_t *body)
{
    const char *name = json_string_value(json_object_get(body, "name"));
    if (!name || !check_pattern(PATTERN_SHOOT, name))
        return; /* the fault is already reported */
    if (strlen(name) > SHOOT_NAME_LONGEST)
        check_fail(errors, "name", "must have 1 to 15 characters");
    else if (!check_pattern(PATTERN_DNS_LABEL, name) || strstr(name, "--"))
        check_fail(errors, "name", "must be a lower case DNS label without two hyphens in a row");
}

static void check_infrastructure(json_t *errors, const json_t *provider)
{
    const json_t *infrastructure = json_object_get(provider, "infrastructure_config");
    const char *pool = json_string_value(json_object_get(infrastructure, "floating_pool_name"));
    const char *balancer = json_string_value(json_object_get(provider, "load_balancer_provider"));
    check_members(errors, "shoot_provider.infrastructure_config", infrastructure,
                  RULES(infrastructure_rules));
    if (pool && strcmp(pool, "ext-net") != 0)
        check_fail(errors, "shoot_provider.infrastructure_config.floating_pool_name", "is not offered");
    if (balancer && strcmp(balancer, "amphora") != 0)
        check_fail(errors, "shoot_provider.load_balancer_provider", "is not offered");
}

static json_t *convert_schedules(const json_t *schedules)
{
    json_t *list = json_array();
    json_t *schedule;
    size_t i;
    json_array_foreach (schedules, i, schedule) {
        json_t *start = json_object_get(schedule, "start");
        json_t *end = json_object_get(schedule, "end");
        (void)json_array_append_new(list,
                                    json_pack("{s:O?, s:O?, s:n}", "start", is_given(start) ? start : NULL,
                                              "end", is_given(end) ? end : NULL, "location"));
    }
    return list;
}

/* Merges the given parts of a maintenance request into the current values. */
static json_t *merge_maintenance(const json_t *present, const json_t *change)
{
    json_t *merged = json_deep_copy(present);
    static const char *const parts[] = {"auto_update", "time_window"};
    for (size_t i = 0; i < 2; i++) {
        json_t *part = json_object_get(change, parts[i]);
        json_t *value;
        const char *key;
        json_object_foreach (part, key, value)
            if (is_given(value))
                (void)json_object_set(json_object_get(merged, parts[i]), key, value);
    }
    return merged;
}

/* Returns a maintenance window of one hour, which begins at a full hour, in UTC. */
static json_t *default_maintenance(struct sim *sim)
{
    unsigned hour = (unsigned)(random_next(&sim->random) % 23);
    char begin[16];
    char end[16];
    (void)snprintf(begin, sizeof(begin), "%02u0000+0000", hour);
    (void)snprintf(end, sizeof(end), "%02u0000+0000", hour + 1);
    return json_pack("{s:{s:b, s:b}, s:{s:s, s:s}}", "auto_update", "kubernetes_version", 1,
                     "machine_image_version", 1, "time_window", "begin", begin, "end", end);
}

static json_t *merge_cilium(const json_t *present, const json_t *change)
{
    json_t *merged = json_is_object(present)
                         ? json_deep_copy(present)
                         : json_pack("{s:b, s:b, s:n, s:n, s:n, s:b, s:b, s:s}", "debug", 0,
                                     "encryption_enabled", 0, "encryption_mode",
                                     "encryption_node_to_node_enabled", "encryption_strict_mode_enabled",
                                     "hubble_enabled", 0, "policy_audit_mode", 0, "tunnel", "vxlan");
    for (size_t i = 0; i < ARRAY_LEN(cilium_rules); i++) {
        json_t *value = json_object_get(change, cilium_rules[i].name);
        if (is_given(value))
            (void)json_object_set(merged, cilium_rules[i].name, value);
    }
    return merged;
}

static json_t *decode_workers(struct sim *sim, const char *region, const json_t *list, json_t *errors)
{
    json_t *workers = json_array();
    json_t *body;
    size_t i;
    if (json_is_array(list) && json_array_size(list) == 0)
        check_fail(errors, "shoot_provider.workers", "must have at least one worker group");
    json_array_foreach (list, i, body) {
        char prefix[64];
        json_t *worker;
        json_t *other;
        size_t o;
        (void)snprintf(prefix, sizeof(prefix), "shoot_provider.workers[%zu]", i);
        worker = decode_worker(sim, region, body, prefix, errors);
        if (!worker)
            continue;
        json_array_foreach (workers, o, other)
            if (json_equal(json_object_get(other, "name"), json_object_get(worker, "name")))
                check_fail(errors, prefix, "has the name of another worker group");
        (void)json_array_append_new(workers, worker);
    }
    return workers;
}

static json_t *given_or(json_t *value, const char *otherwise)
{
    return is_given(value) ? json_incref(value) : json_string(otherwise);
}

static json_t *given_or_null(json_t *value)
{
    return is_given(value) ? json_incref(value) : json_null();
}

static json_t *build_spec(struct sim *sim, const json_t *body, json_t *workers)
{
    const json_t *provider = json_object_get(body, "shoot_provider");
    const json_t *infrastructure = json_object_get(provider, "infrastructure_config");
    const json_t *networking = json_object_get(body, "networking");
    json_t *type = given_or(json_object_get(networking, "type"), "calico");
    json_t *cidrs = json_object_get(body, "allowed_cidrs");
    json_t *maintenance = default_maintenance(sim);
    json_t *merged = merge_maintenance(maintenance, json_object_get(body, "maintenance"));
    bool cilium = !strcmp(json_string_value(type), "cilium");
    json_decref(maintenance);
    return json_pack("{s:O, s:O, s:O, s:o, s:o, s:o, s:o, s:b, s:o, s:o, s:o, s:o, s:o}",
                     "kubernetes_version", json_object_get(body, "kubernetes_version"), "floating_pool_name",
                     json_object_get(infrastructure, "floating_pool_name"), "load_balancer_provider",
                     json_object_get(provider, "load_balancer_provider"), "network_id",
                     given_or_null(json_object_get(infrastructure, "network_id")), "router_id",
                     given_or_null(json_object_get(infrastructure, "router_id")), "workers_cidr",
                     given_or(json_object_get(infrastructure, "workers_network_cidr"), NETWORK_DEFAULT),
                     "allowed_cidrs", json_is_array(cidrs) ? json_incref(cidrs) : json_array(),
                     "high_availability", json_is_true(json_object_get(body, "enable_ha_control_plane")),
                     "schedules", convert_schedules(json_object_get(body, "hibernation_schedules")),
                     "maintenance", merged, "networking_type", type, "cilium",
                     cilium ? merge_cilium(NULL, json_object_get(networking, "cilium_provider_config"))
                            : json_null(),
                     "workers", workers);
}

static void check_version(struct sim *sim, json_t *errors, const char *key, const char *version)
{
    const char *reason;
    if (!version || !check_pattern(PATTERN_VERSION, version))
        return;
    reason = catalog_refuse_version(sim->catalog, version, clock_now_us(&sim->clock));
    if (reason)
        check_fail(errors, key, reason);
}

json_t *decode_create(struct sim *sim, const char *region, const json_t *body, json_t *errors)
{
    const json_t *provider = json_object_get(body, "shoot_provider");
    json_t *workers;
    check_members(errors, "", body, RULES(create_rules));
    if (!json_is_object(body) || !json_is_object(provider))
        return NULL;
    check_name(errors, body);
    check_version(sim, errors, "kubernetes_version",
                  json_string_value(json_object_get(body, "kubernetes_version")));
    check_members(errors, "shoot_provider", provider, RULES(provider_rules));
    check_infrastructure(errors, provider);
    check_shared(errors, body, false);
    workers = decode_workers(sim, region, json_object_get(provider, "workers"), errors);
    if (json_array_size(errors) > 0) {
        json_decref(workers);
        return NULL;
    }
    return build_spec(sim, body, workers);
}

static int minor_of(const char *version)
{
    const char *dot = strchr(version, '.');
    return dot ? (int)strtol(dot + 1, NULL, 10) : 0;
}

static void check_upgrade(struct sim *sim, json_t *errors, const char *from, const char *to)
{
    int order = catalog_compare_versions(to, from);
    if (order == 0)
        return; /* the current version may stay, even when it has expired */
    check_version(sim, errors, "kubernetes", to);
    if (order < 0)
        check_fail(errors, "kubernetes", "must not be lower than the present version");
    else if (minor_of(to) > minor_of(from) + 1)
        check_fail(errors, "kubernetes", "must not skip a minor version");
}

static void apply_patch(json_t *spec, const json_t *body)
{
    json_t *cidrs = json_object_get(body, "allowed_cidrs");
    json_t *schedules = json_object_get(body, "hibernation_schedules");
    json_t *maintenance = json_object_get(body, "maintenance");
    json_t *cilium = json_object_get(json_object_get(body, "networking"), "cilium_provider_config");
    if (json_is_array(cidrs))
        (void)json_object_set(spec, "allowed_cidrs", cidrs);
    if (json_is_array(schedules))
        (void)json_object_set_new(spec, "schedules", convert_schedules(schedules));
    if (json_is_object(maintenance))
        (void)json_object_set_new(spec, "maintenance",
                                  merge_maintenance(json_object_get(spec, "maintenance"), maintenance));
    if (json_is_object(cilium))
        (void)json_object_set_new(spec, "cilium", merge_cilium(json_object_get(spec, "cilium"), cilium));
}

json_t *decode_patch(struct sim *sim, const struct sim_shoot *shoot, const json_t *body, json_t *errors,
                     enum run_kind *ret_kind)
{
    const char *present = json_string_value(json_object_get(shoot->spec, "kubernetes_version"));
    json_t *version = json_object_get(body, "kubernetes");
    json_t *spec;
    check_members(errors, "", body, RULES(patch_rules));
    if (json_is_object(body))
        check_shared(errors, body, true);
    if (json_array_size(errors) == 0 && json_is_string(version))
        check_upgrade(sim, errors, present, json_string_value(version));
    if (json_array_size(errors) > 0)
        return NULL;
    spec = json_deep_copy(shoot->spec);
    *ret_kind = RUN_PATCH;
    if (json_is_true(json_object_get(body, "enable_ha_control_plane"))) {
        (void)json_object_set_new(spec, "high_availability", json_true());
        *ret_kind = RUN_HA;
    }
    if (json_is_string(version) && strcmp(json_string_value(version), present) != 0) {
        (void)json_object_set(spec, "kubernetes_version", version);
        *ret_kind = RUN_UPGRADE;
    }
    apply_patch(spec, body);
    return spec;
}

/* The v2 shoot object (CL-12) in shootd's format, and the resolved spec as a v2 create body (CL-11). */
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/mem.h"
#include "upstream/wire/driver_private.h"

static const struct shoot_words words = {.max_surge = "max_surge",
                                         .operation = "last_operation",
                                         .operation_at = "last_update_time",
                                         .hibernated = "is_hibernated",
                                         .last_errors = "last_errors",
                                         .task_id = "task_id",
                                         .condition_since = "last_transition_time",
                                         .condition_updated = "last_update_time"};

static const struct maintenance_words maintenance_words = {"auto_update", "kubernetes_version",
                                                           "machine_image_version", "time_window"};

/* Returns the members of CiliumProviderConfig (CL-11). */
static json_t *decode_cilium(struct decoding *d, const json_t *theirs)
{
    static const char *const flags[] = {"debug",
                                        "encryption_enabled",
                                        "encryption_node_to_node_enabled",
                                        "encryption_strict_mode_enabled",
                                        "hubble_enabled",
                                        "policy_audit_mode"};
    static const char *const texts[] = {"encryption_mode", "tunnel"};
    if (!json_is_object(theirs))
        return NULL;
    json_t *ours = json_object();
    for (size_t i = 0; i < ARRAY_LEN(flags); i++) {
        const json_t *flag = json_object_get(theirs, flags[i]);
        if (flag && !json_is_null(flag))
            json_set_take(ours, flags[i], decode_bool(d, theirs, flags[i], false));
    }
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        const json_t *text = json_object_get(theirs, texts[i]);
        if (text && !json_is_null(text))
            json_set_str(ours, texts[i], decode_word(d, theirs, texts[i]));
    }
    return ours;
}

static json_t *decode_networking_v2(struct decoding *d, const json_t *doc, const json_t *provider)
{
    const json_t *networking = decode_member(d, doc, "networking", JSON_OBJECT);
    const json_t *infrastructure = decode_member(d, provider, "infrastructure_config", JSON_OBJECT);
    const json_t *networks = decode_member(d, infrastructure, "networks", JSON_OBJECT);
    const json_t *router = decode_member(d, networks, "router", JSON_OBJECT);
    const json_t *control_plane = decode_member(d, provider, "control_plane_config", JSON_OBJECT);
    const json_t *cilium = decode_member(d, networking, "cilium_provider_config", JSON_OBJECT);
    const char *nodes = decode_word(d, networking, "nodes"), *workers = decode_word(d, networks, "workers");
    json_t *ours = json_object();
    json_set_str(ours, "type", decode_word(d, networking, "type"));
    json_set_str(ours, "nodes_cidr", nodes ? nodes : workers);
    json_set_str(ours, "floating_pool", decode_word(d, infrastructure, "floating_pool_name"));
    json_set_str(ours, "network_id", decode_word(d, networks, "id"));
    json_set_str(ours, "router_id", decode_word(d, router, "id"));
    json_set_str(ours, "load_balancer_provider", decode_word(d, control_plane, "load_balancer_provider"));
    if (cilium)
        json_set_take(ours, "cilium", decode_cilium(d, cilium));
    return ours;
}

static json_t *decode_observed_v2(struct decoding *d, const json_t *doc)
{
    const json_t *provider = decode_member(d, doc, "shoot_provider", JSON_OBJECT);
    const json_t *kubernetes = decode_member(d, doc, "kubernetes", JSON_OBJECT);
    const json_t *hibernation = decode_member(d, doc, "hibernation", JSON_OBJECT);
    const json_t *maintenance = decode_member(d, doc, "maintenance", JSON_OBJECT);
    json_t *ours = json_object();
    json_set_str(ours, "kubernetes_version", decode_word(d, kubernetes, "version"));
    json_set_take(ours, "node_pools", decode_pools(d, provider, &words));
    json_set_take(ours, "networking", decode_networking_v2(d, doc, provider));
    json_set_take(ours, "high_availability", decode_presence(d, doc, "control_plane"));
    json_set_take(ours, "hibernation_schedules", decode_schedules(d, hibernation));
    json_set_take(ours, "maintenance", decode_maintenance(d, maintenance, &maintenance_words));
    json_set_take(ours, "allowed_cidrs", decode_sorted(decode_words(d, doc, "allowed_cidrs")));
    json_set_str(ours, "purpose", decode_word(d, doc, "purpose"));
    json_set_str(ours, "uid", decode_word(d, doc, "uid"));
    json_set_str(ours, "technical_id", decode_word(d, doc, "technical_id"));
    return ours;
}

struct shoot *decode_shoot_v2(struct decoding *d, const json_t *doc)
{
    struct shoot *s = decode_new(d, doc);
    if (!s)
        return NULL;
    shoot_set_observed(s, decode_observed_v2(d, doc));
    decode_status(d, s, decode_member(d, doc, "status", JSON_OBJECT), doc, &words);
    return s;
}

/* `is_new`: the pool does not exist yet. Cleura then chooses the members that are absent. For an existing
 * pool it would change them. */
static json_t *encode_worker_v2(const json_t *pool, bool is_new)
{
    json_t *worker = json_object();
    json_t *machine CLEANUP_JSON = json_object();
    char *size CLEANUP_FREE = encode_size(pool);
    encode_known(machine, "type", pool, "machine_type");
    encode_known(machine, "image_version", json_obj(pool, "image"), "version");
    encode_known(worker, "name", pool, "name");
    if (is_new || json_object_size(machine) == 2)
        json_set_take(worker, "machine", json_incref(machine));
    if (size)
        json_set_str(worker, "volume_size", size);
    encode_known(worker, "minimum", pool, "minimum");
    encode_known(worker, "maximum", pool, "maximum");
    encode_known(worker, "max_surge", pool, "max_surge");
    encode_known(worker, "zones", pool, "zones");
    encode_pairs(worker, pool, "labels");
    encode_pairs(worker, pool, "annotations");
    encode_known(worker, "taints", pool, "taints");
    return worker;
}

static json_t *encode_provider(const json_t *spec)
{
    const json_t *networking = json_obj(spec, "networking");
    json_t *infrastructure = json_object();
    json_set_str(infrastructure, "floating_pool_name", json_str(networking, "floating_pool"));
    static const char *const optional[][2] = {
        {"network_id", "network_id"}, {"router_id", "router_id"}, {"nodes_cidr", "workers_network_cidr"}};
    for (size_t i = 0; i < ARRAY_LEN(optional); i++)
        if (json_str(networking, optional[i][0]))
            json_set_str(infrastructure, optional[i][1], json_str(networking, optional[i][0]));
    json_t *workers = json_array();
    size_t i;
    json_t *pool;
    json_array_foreach (json_arr(spec, "node_pools"), i, pool)
        json_append_take(workers, encode_worker_v2(pool, true));
    json_t *provider = json_object();
    json_set_take(provider, "infrastructure_config", infrastructure);
    json_set_str(provider, "load_balancer_provider", json_str(networking, "load_balancer_provider"));
    json_set_take(provider, "workers", workers);
    return provider;
}

json_t *encode_pool_v2(const struct upstream_call *call)
{
    return encode_worker_v2(call->body, call->op == UPSTREAM_POOL_CREATE);
}

json_t *encode_patch_v2(const struct upstream_call *call)
{
    const json_t *change = call->body;
    const json_t *cilium = json_obj(json_obj(change, "networking"), "cilium");
    json_t *body = json_object();
    /* In an update the version has another member name than in a create, and is a plain string. */
    if (json_str(change, "kubernetes_version"))
        json_set_str(body, "kubernetes", json_str(change, "kubernetes_version"));
    if (json_arr(change, "allowed_cidrs"))
        json_set_take(body, "allowed_cidrs", json_incref(json_arr(change, "allowed_cidrs")));
    if (json_bool(change, "high_availability", false))
        json_set_bool(body, "enable_ha_control_plane", true);
    if (json_arr(change, "hibernation_schedules"))
        json_set_take(body, "hibernation_schedules",
                      encode_schedules(json_arr(change, "hibernation_schedules")));
    if (json_obj(change, "maintenance"))
        json_set_take(body, "maintenance",
                      encode_maintenance(json_obj(change, "maintenance"), &maintenance_words));
    if (cilium) {
        json_t *networking = json_object();
        json_t *theirs = json_object();
        const char *name;
        json_t *value;
        json_object_foreach ((json_t *)(uintptr_t)cilium, name, value)
            encode_known(theirs, name, cilium, name);
        json_set_take(networking, "cilium_provider_config", theirs);
        json_set_take(body, "networking", networking);
    }
    return body;
}

json_t *encode_create_v2(const struct upstream_call *call)
{
    const json_t *spec = call->body;
    const json_t *networking = json_obj(spec, "networking");
    json_t *body = json_object();
    json_set_str(body, "name", json_str(spec, "name"));
    json_set_str(body, "kubernetes_version", json_str(spec, "kubernetes_version"));
    json_set_take(body, "shoot_provider", encode_provider(spec));
    if (json_array_size(json_arr(spec, "allowed_cidrs")))
        json_set_take(body, "allowed_cidrs", json_incref(json_arr(spec, "allowed_cidrs")));
    if (json_bool(spec, "high_availability", false))
        json_set_bool(body, "enable_ha_control_plane", true);
    if (json_array_size(json_arr(spec, "hibernation_schedules")))
        json_set_take(body, "hibernation_schedules",
                      encode_schedules(json_arr(spec, "hibernation_schedules")));
    if (json_obj(spec, "maintenance"))
        json_set_take(body, "maintenance",
                      encode_maintenance(json_obj(spec, "maintenance"), &maintenance_words));
    if (json_str(networking, "type")) {
        json_t *theirs = json_object();
        json_set_str(theirs, "type", json_str(networking, "type"));
        if (json_obj(networking, "cilium"))
            json_set_take(theirs, "cilium_provider_config", json_incref(json_obj(networking, "cilium")));
        json_set_take(body, "networking", theirs);
    }
    return body;
}

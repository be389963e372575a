/* The v2 shoot object (cleura-api.md 6.4) in our words, and our resolved spec as a v2 create body (6.3). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "upstream/generation_private.h"

enum { DESCRIPTION_MAX = 1024 };

static json_t *decode_taints(const json_t *array)
{
    json_t *taints = json_array();
    size_t i;
    json_t *item;
    json_array_foreach (array, i, item) {
        json_t *taint = json_object();
        json_set_str(taint, "key", json_str(item, "key"));
        json_set_str(taint, "value", json_str_or(item, "value", ""));
        json_set_str(taint, "effect", json_str(item, "effect"));
        (void)json_array_append_new(taints, taint);
    }
    return taints;
}

static json_t *decode_pool(const json_t *worker)
{
    const json_t *machine = json_obj(worker, "machine");
    const json_t *image = json_obj(machine, "image");
    json_t *pool = json_object();
    json_set_str(pool, "name", json_str(worker, "name"));
    json_set_str(pool, "machine_type", json_str(machine, "type"));
    json_t *our_image = json_object();
    json_set_str(our_image, "name", json_str(image, "name"));
    json_set_str(our_image, "version", json_str(image, "version"));
    json_set_take(pool, "image", our_image);
    json_set_int(pool, "minimum", json_int(worker, "minimum", 0));
    json_set_int(pool, "maximum", json_int(worker, "maximum", 0));
    json_set_int(pool, "max_surge", json_int(worker, "max_surge", 1));
    json_set_int(pool, "volume_size_gib", decode_gib(json_str(json_obj(worker, "volume"), "size")));
    json_set_take(pool, "zones", decode_string_array(json_arr(worker, "zones")));
    json_set_take(pool, "labels", decode_map(json_object_get(worker, "labels")));
    json_set_take(pool, "annotations", decode_map(json_object_get(worker, "annotations")));
    json_set_take(pool, "taints", decode_sorted(decode_taints(json_arr(worker, "taints"))));
    return pool;
}

static json_t *decode_pools(const json_t *workers)
{
    json_t *pools = json_array();
    size_t i;
    json_t *worker;
    json_array_foreach (workers, i, worker)
        (void)json_array_append_new(pools, decode_pool(worker));
    return decode_sorted(pools);
}

static json_t *decode_networking(const json_t *doc)
{
    const json_t *networking = json_obj(doc, "networking");
    const json_t *provider = json_obj(doc, "shoot_provider");
    const json_t *infrastructure = json_obj(provider, "infrastructure_config");
    const json_t *networks = json_obj(infrastructure, "networks");
    json_t *ours = json_object();
    json_set_str(ours, "type", json_str(networking, "type"));
    const char *nodes = json_str(networking, "nodes");
    json_set_str(ours, "nodes_cidr", nodes ? nodes : json_str(networks, "workers"));
    json_set_str(ours, "floating_pool", json_str(infrastructure, "floating_pool_name"));
    json_set_str(ours, "network_id", json_str(networks, "id"));
    json_set_str(ours, "router_id", json_str(json_obj(networks, "router"), "id"));
    json_set_str(ours, "load_balancer_provider",
                 json_str(json_obj(provider, "control_plane_config"), "load_balancer_provider"));
    if (json_obj(networking, "cilium_provider_config"))
        json_set_take(ours, "cilium", json_incref(json_obj(networking, "cilium_provider_config")));
    return ours;
}

static json_t *decode_maintenance(const json_t *maintenance)
{
    const json_t *window = json_obj(maintenance, "time_window");
    const json_t *update = json_obj(maintenance, "auto_update");
    json_t *ours = json_object();
    json_set_str(ours, "begin", json_str(window, "begin"));
    json_set_str(ours, "end", json_str(window, "end"));
    json_set_bool(ours, "auto_update_kubernetes", json_bool(update, "kubernetes_version", true));
    json_set_bool(ours, "auto_update_machine_image", json_bool(update, "machine_image_version", true));
    return ours;
}

static json_t *decode_observed(const json_t *doc)
{
    json_t *ours = json_object();
    json_set_str(ours, "kubernetes_version", json_str(json_obj(doc, "kubernetes"), "version"));
    json_set_take(ours, "node_pools", decode_pools(json_arr(json_obj(doc, "shoot_provider"), "workers")));
    json_set_take(ours, "networking", decode_networking(doc));
    json_set_bool(ours, "high_availability", json_obj(doc, "control_plane") != NULL);
    json_set_take(ours, "hibernation_schedules",
                  decode_sorted(decode_schedules(json_arr(json_obj(doc, "hibernation"), "schedules"))));
    json_set_take(ours, "maintenance", decode_maintenance(json_obj(doc, "maintenance")));
    json_set_take(ours, "allowed_cidrs", decode_sorted(decode_string_array(json_arr(doc, "allowed_cidrs"))));
    json_set_str(ours, "purpose", json_str(doc, "purpose"));
    json_set_str(ours, "uid", json_str(doc, "uid"));
    json_set_str(ours, "technical_id", json_str(doc, "technical_id"));
    return ours;
}

static void decode_last_operation(struct shoot *s, const json_t *operation)
{
    if (!operation)
        return;
    s->has_operation = true;
    s->operation_type = mem_strdup(json_str(operation, "type"));
    s->operation_state = mem_strdup(json_str(operation, "state"));
    s->progress = (int)json_int(operation, "progress", 0);
    const char *description = json_str_or(operation, "description", "");
    s->description = mem_strndup(description, strnlen(description, DESCRIPTION_MAX));
    s->operation_at = decode_time(json_str(operation, "last_update_time"));
}

static json_t *decode_last_errors(const json_t *array)
{
    json_t *errors = json_array();
    size_t i;
    json_t *item;
    json_array_foreach (array, i, item) {
        const char *description = json_str_or(item, "description", "");
        json_t *error = json_object();
        json_set_take(error, "description", json_stringn(description, strnlen(description, DESCRIPTION_MAX)));
        json_set_take(error, "codes", decode_string_array(json_arr(item, "codes")));
        json_set_str(error, "task_id", json_str(item, "task_id"));
        json_set_str(error, "updated_at", json_str(item, "last_update_time"));
        (void)json_array_append_new(errors, error);
    }
    return decode_sorted(errors);
}

struct shoot *decode_shoot_v2(const json_t *doc)
{
    if (!json_str(doc, "name"))
        return NULL;
    struct shoot *s = MEM_NEW(struct shoot);
    const json_t *status = json_obj(doc, "status");
    s->name = mem_strdup(json_str(doc, "name"));
    shoot_set_observed(s, decode_observed(doc));
    decode_last_operation(s, json_obj(doc, "last_operation"));
    s->hibernated = json_bool(status, "is_hibernated", false);
    s->conditions = decode_sorted(decode_array(json_arr(status, "conditions")));
    s->constraints = decode_sorted(decode_array(json_arr(status, "constraints")));
    s->last_errors = decode_last_errors(json_arr(status, "last_errors"));
    return s;
}

static json_t *encode_worker(const json_t *pool)
{
    json_t *worker = json_object();
    json_t *machine = json_object();
    char size[32];
    json_set_str(machine, "type", json_str(pool, "machine_type"));
    json_set_str(machine, "image_version", json_str(json_obj(pool, "image"), "version"));
    (void)snprintf(size, sizeof(size), "%lldGi", (long long)json_int(pool, "volume_size_gib", 50));
    json_set_str(worker, "name", json_str(pool, "name"));
    json_set_take(worker, "machine", machine);
    if (json_int(pool, "volume_size_gib", 50) > 0) /* 0: Cleura told it in words that we do not know */
        json_set_str(worker, "volume_size", size);
    json_set_int(worker, "minimum", json_int(pool, "minimum", 1));
    json_set_int(worker, "maximum", json_int(pool, "maximum", 1));
    json_set_int(worker, "max_surge", json_int(pool, "max_surge", 1));
    json_set_take(worker, "zones", decode_string_array(json_arr(pool, "zones")));
    json_set_take(worker, "labels", encode_pairs(json_obj(pool, "labels")));
    json_set_take(worker, "annotations", encode_pairs(json_obj(pool, "annotations")));
    json_set_take(worker, "taints", decode_array(json_arr(pool, "taints")));
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
        (void)json_array_append_new(workers, encode_worker(pool));
    json_t *provider = json_object();
    json_set_take(provider, "infrastructure_config", infrastructure);
    json_set_str(provider, "load_balancer_provider", json_str(networking, "load_balancer_provider"));
    json_set_take(provider, "workers", workers);
    return provider;
}

static const struct maintenance_words maintenance_words = {"auto_update", "kubernetes_version",
                                                           "machine_image_version", "time_window"};

json_t *encode_pool_v2(const struct upstream_call *call)
{
    return encode_worker(call->body);
}

json_t *encode_patch_v2(const struct upstream_call *call)
{
    const json_t *change = call->body;
    const json_t *cilium = json_obj(json_obj(change, "networking"), "cilium");
    json_t *body = json_object();
    /* Another name than in a create, and a plain string (quirk 14). */
    if (json_str(change, "kubernetes_version"))
        json_set_str(body, "kubernetes", json_str(change, "kubernetes_version"));
    if (json_arr(change, "allowed_cidrs"))
        json_set_take(body, "allowed_cidrs", json_incref(json_arr(change, "allowed_cidrs")));
    if (json_bool(change, "high_availability", false))
        json_set_bool(body, "enable_ha_control_plane", true);
    if (json_arr(change, "hibernation_schedules"))
        json_set_take(body, "hibernation_schedules", json_incref(json_arr(change, "hibernation_schedules")));
    if (json_obj(change, "maintenance"))
        json_set_take(body, "maintenance",
                      encode_maintenance(json_obj(change, "maintenance"), &maintenance_words));
    if (cilium) {
        json_t *networking = json_object();
        json_set_take(networking, "cilium_provider_config", json_deep_copy(cilium));
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
        json_set_take(body, "hibernation_schedules", json_incref(json_arr(spec, "hibernation_schedules")));
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

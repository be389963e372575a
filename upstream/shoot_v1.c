/* The v1 {metadata, spec, status} object (cleura-api.md 7.3) in our words, and our spec as a v1 create body
 * (7.2). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/mem.h"
#include "upstream/generation_private.h"

enum { DESCRIPTION_MAX = 1024 };

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
    json_set_int(pool, "max_surge", json_int(worker, "maxSurge", 1));
    json_set_int(pool, "volume_size_gib", decode_gib(json_str(json_obj(worker, "volume"), "size")));
    json_set_take(pool, "zones", decode_string_array(json_arr(worker, "zones")));
    json_set_take(pool, "labels", decode_map(json_object_get(worker, "labels")));
    json_set_take(pool, "annotations", decode_map(json_object_get(worker, "annotations")));
    json_t *taints = json_arr(worker, "taints");
    json_set_take(pool, "taints", decode_sorted(taints ? json_incref(taints) : json_array()));
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

static json_t *decode_observed(const json_t *metadata, const json_t *spec)
{
    const json_t *infrastructure = json_obj(json_obj(spec, "provider"), "infrastructureConfig");
    const json_t *networks = json_obj(infrastructure, "networks");
    const json_t *maintenance = json_obj(spec, "maintenance");
    const json_t *update = json_obj(maintenance, "autoUpdate");
    const json_t *window = json_obj(maintenance, "timeWindow");
    json_t *networking = json_object();
    json_set_str(networking, "type", json_str(json_obj(spec, "networking"), "type"));
    json_set_str(networking, "nodes_cidr", json_str(networks, "workers"));
    json_set_str(networking, "floating_pool", json_str(infrastructure, "floatingPoolName"));
    json_set_str(networking, "network_id", json_str(networks, "id"));
    json_set_str(networking, "router_id", json_str(json_obj(networks, "router"), "id"));
    json_set_str(networking, "load_balancer_provider", NULL); /* v1 does not tell */
    json_t *ours_maintenance = json_object();
    json_set_str(ours_maintenance, "begin", json_str(window, "begin"));
    json_set_str(ours_maintenance, "end", json_str(window, "end"));
    json_set_bool(ours_maintenance, "auto_update_kubernetes", json_bool(update, "kubernetesVersion", true));
    json_set_bool(ours_maintenance, "auto_update_machine_image",
                  json_bool(update, "machineImageVersion", true));
    json_t *ours = json_object();
    json_set_str(ours, "kubernetes_version", json_str(json_obj(spec, "kubernetes"), "version"));
    json_set_take(ours, "node_pools", decode_pools(json_arr(json_obj(spec, "provider"), "workers")));
    json_set_take(ours, "networking", networking);
    json_set_bool(ours, "high_availability",
                  json_obj(json_obj(spec, "controlPlane"), "highAvailability") != NULL);
    json_set_take(ours, "hibernation_schedules",
                  decode_sorted(decode_schedules(json_arr(json_obj(spec, "hibernation"), "schedules"))));
    json_set_take(ours, "maintenance", ours_maintenance);
    json_set_take(ours, "allowed_cidrs", json_array());
    json_set_str(ours, "purpose", json_str(spec, "purpose"));
    json_set_str(ours, "uid", json_str(metadata, "uid"));
    json_set_str(ours, "technical_id", NULL);
    return ours;
}

static json_t *decode_last_errors(const json_t *array)
{
    json_t *errors = json_array();
    size_t i;
    json_t *item;
    json_array_foreach (array, i, item) {
        json_t *error = json_object();
        json_set_str(error, "description", json_str_or(item, "description", ""));
        json_set_take(error, "codes", decode_string_array(json_arr(item, "codes")));
        json_set_str(error, "task_id", json_str(item, "taskID"));
        json_set_str(error, "updated_at", json_str(item, "lastUpdateTime"));
        (void)json_array_append_new(errors, error);
    }
    return decode_sorted(errors);
}

static const char *advertised_url(const json_t *addresses)
{
    size_t i;
    json_t *address;
    json_array_foreach (addresses, i, address)
        if (!strcmp(json_str_or(address, "name", ""), "external"))
            return json_str(address, "url");
    return json_str(json_array_get(addresses, 0), "url");
}

struct shoot *decode_shoot_v1(const json_t *doc)
{
    const json_t *metadata = json_obj(doc, "metadata");
    const json_t *status = json_obj(doc, "status");
    const json_t *operation = json_obj(status, "lastOperation");
    if (!json_str(metadata, "name"))
        return NULL;
    struct shoot *s = MEM_NEW(struct shoot);
    s->name = mem_strdup(json_str(metadata, "name"));
    shoot_set_observed(s, decode_observed(metadata, json_obj(doc, "spec")));
    if (operation) {
        const char *description = json_str_or(operation, "description", "");
        s->has_operation = true;
        s->operation_type = mem_strdup(json_str(operation, "type"));
        s->operation_state = mem_strdup(json_str(operation, "state"));
        s->progress = (int)json_int(operation, "progress", 0);
        s->description = mem_strndup(description, strnlen(description, DESCRIPTION_MAX));
        s->operation_at = decode_time(json_str(operation, "lastUpdateTime"));
    }
    s->hibernated = json_bool(status, "hibernated", false);
    s->conditions = decode_sorted(decode_array(json_arr(status, "conditions")));
    s->constraints = decode_sorted(decode_array(json_arr(status, "constraints")));
    s->last_errors = decode_last_errors(json_arr(status, "lastErrors"));
    s->api_server_url = mem_strdup(advertised_url(json_arr(status, "advertisedAddresses")));
    return s;
}

static json_t *encode_worker(const json_t *pool)
{
    const json_t *image = json_obj(pool, "image");
    json_t *their_image = json_object();
    json_set_str(their_image, "name", json_str_or(image, "name", "gardenlinux"));
    json_set_str(their_image, "version", json_str(image, "version"));
    json_t *machine = json_object();
    json_set_str(machine, "type", json_str(pool, "machine_type"));
    json_set_take(machine, "image", their_image);
    char size[32];
    (void)snprintf(size, sizeof(size), "%lldGi", (long long)json_int(pool, "volume_size_gib", 50));
    json_t *volume CLEANUP_JSON = json_object();
    json_set_str(volume, "size", size);
    json_t *worker = json_object();
    json_set_str(worker, "name", json_str(pool, "name"));
    json_set_int(worker, "minimum", json_int(pool, "minimum", 1));
    json_set_int(worker, "maximum", json_int(pool, "maximum", 1));
    json_set_int(worker, "maxSurge", json_int(pool, "max_surge", 1));
    json_set_take(worker, "machine", machine);
    if (json_int(pool, "volume_size_gib", 50) > 0) /* 0: Cleura told it in words that we do not know */
        json_set_take(worker, "volume", json_incref(volume));
    json_set_take(worker, "labels", encode_pairs(json_obj(pool, "labels")));
    json_set_take(worker, "annotations", encode_pairs(json_obj(pool, "annotations")));
    json_set_take(worker, "taints", decode_array(json_arr(pool, "taints")));
    json_set_take(worker, "zones", decode_string_array(json_arr(pool, "zones")));
    return worker;
}

static json_t *encode_infrastructure(const json_t *networking)
{
    json_t *infrastructure = json_object();
    json_set_str(infrastructure, "floatingPoolName", json_str_or(networking, "floating_pool", "ext-net"));
    json_t *networks CLEANUP_JSON = json_object();
    if (json_str(networking, "network_id"))
        json_set_str(networks, "id", json_str(networking, "network_id"));
    if (json_str(networking, "router_id")) {
        json_t *router = json_object();
        json_set_str(router, "id", json_str(networking, "router_id"));
        json_set_take(networks, "router", router);
    }
    if (json_str(networking, "nodes_cidr"))
        json_set_str(networks, "workers", json_str(networking, "nodes_cidr"));
    if (json_object_size(networks))
        json_set_take(infrastructure, "networks", json_incref(networks));
    return infrastructure;
}

static const struct maintenance_words maintenance_words = {"autoUpdate", "kubernetesVersion",
                                                           "machineImageVersion", "timeWindow"};

static json_t *wrap(const char *name, json_t *value)
{
    json_t *body = json_object();
    json_set_take(body, name, value);
    return body;
}

json_t *encode_pool_v1(const struct upstream_call *call)
{
    return wrap("worker", encode_worker(call->body));
}

/* Only what changes; the provider is left out, as 7.2 allows. */
json_t *encode_patch_v1(const struct upstream_call *call)
{
    const json_t *change = call->body;
    json_t *shoot = json_object();
    if (json_str(change, "kubernetes_version"))
        json_set_take(shoot, "kubernetes",
                      wrap("version", json_string(json_str(change, "kubernetes_version"))));
    if (json_bool(change, "high_availability", false))
        json_set_bool(shoot, "enableHaControlPlane", true);
    if (json_arr(change, "hibernation_schedules"))
        json_set_take(shoot, "hibernation",
                      wrap("schedules", json_incref(json_arr(change, "hibernation_schedules"))));
    if (json_obj(change, "maintenance"))
        json_set_take(shoot, "maintenance",
                      encode_maintenance(json_obj(change, "maintenance"), &maintenance_words));
    return wrap("shoot", shoot);
}

json_t *encode_create_v1(const struct upstream_call *call)
{
    const json_t *spec = call->body;
    json_t *workers = json_array();
    size_t i;
    json_t *pool;
    json_array_foreach (json_arr(spec, "node_pools"), i, pool)
        (void)json_array_append_new(workers, encode_worker(pool));
    json_t *provider = json_object();
    json_set_take(provider, "infrastructureConfig", encode_infrastructure(json_obj(spec, "networking")));
    json_set_take(provider, "workers", workers);
    json_t *kubernetes = json_object();
    json_set_str(kubernetes, "version", json_str(spec, "kubernetes_version"));
    json_t *shoot = json_object();
    json_set_str(shoot, "name", json_str(spec, "name"));
    if (json_bool(spec, "high_availability", false))
        json_set_bool(shoot, "enableHaControlPlane", true);
    json_set_take(shoot, "kubernetes", kubernetes);
    json_set_take(shoot, "provider", provider);
    /* v1 wants the member left out when it is empty (7.2). */
    if (json_array_size(json_arr(spec, "hibernation_schedules"))) {
        json_t *hibernation = json_object();
        json_set_take(hibernation, "schedules", json_incref(json_arr(spec, "hibernation_schedules")));
        json_set_take(shoot, "hibernation", hibernation);
    }
    if (json_obj(spec, "maintenance"))
        json_set_take(shoot, "maintenance",
                      encode_maintenance(json_obj(spec, "maintenance"), &maintenance_words));
    return wrap("shoot", shoot);
}

/* The v1 {metadata, spec, status} object (CL-14) in shootd's format, and shootd's spec as a v1 create
 * body. */
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/mem.h"
#include "upstream/wire/driver_private.h"

static const struct shoot_words words = {.max_surge = "maxSurge",
                                         .operation = "lastOperation",
                                         .operation_at = "lastUpdateTime",
                                         .hibernated = "hibernated",
                                         .last_errors = "lastErrors",
                                         .task_id = "taskID",
                                         .condition_since = "lastTransitionTime",
                                         .condition_updated = "lastUpdateTime"};

static const struct maintenance_words maintenance_words = {"autoUpdate", "kubernetesVersion",
                                                           "machineImageVersion", "timeWindow"};

static json_t *decode_networking_v1(struct decoding *d, const json_t *spec, const json_t *provider)
{
    const json_t *networking = decode_member(d, spec, "networking", JSON_OBJECT);
    const json_t *infrastructure = decode_member(d, provider, "infrastructureConfig", JSON_OBJECT);
    const json_t *networks = decode_member(d, infrastructure, "networks", JSON_OBJECT);
    const json_t *router = decode_member(d, networks, "router", JSON_OBJECT);
    json_t *ours = json_object();
    json_set_str(ours, "type", decode_word(d, networking, "type"));
    json_set_str(ours, "nodes_cidr", decode_word(d, networks, "workers"));
    json_set_str(ours, "floating_pool", decode_word(d, infrastructure, "floatingPoolName"));
    json_set_str(ours, "network_id", decode_word(d, networks, "id"));
    json_set_str(ours, "router_id", decode_word(d, router, "id"));
    json_set_str(ours, "load_balancer_provider", NULL); /* v1 does not report the load balancer provider */
    return ours;
}

static json_t *decode_observed_v1(struct decoding *d, const json_t *metadata, const json_t *spec)
{
    const json_t *provider = decode_member(d, spec, "provider", JSON_OBJECT);
    const json_t *kubernetes = decode_member(d, spec, "kubernetes", JSON_OBJECT);
    const json_t *control_plane = decode_member(d, spec, "controlPlane", JSON_OBJECT);
    const json_t *hibernation = decode_member(d, spec, "hibernation", JSON_OBJECT);
    const json_t *maintenance = decode_member(d, spec, "maintenance", JSON_OBJECT);
    json_t *ours = json_object();
    json_set_str(ours, "kubernetes_version", decode_word(d, kubernetes, "version"));
    json_set_take(ours, "node_pools", decode_pools(d, provider, &words));
    json_set_take(ours, "networking", decode_networking_v1(d, spec, provider));
    json_set_take(ours, "high_availability", decode_presence(d, control_plane, "highAvailability"));
    json_set_take(ours, "hibernation_schedules", decode_schedules(d, hibernation));
    json_set_take(ours, "maintenance", decode_maintenance(d, maintenance, &maintenance_words));
    json_set_take(ours, "allowed_cidrs", json_array());
    json_set_str(ours, "purpose", decode_word(d, spec, "purpose"));
    json_set_str(ours, "uid", decode_word(d, metadata, "uid"));
    json_set_str(ours, "technical_id", NULL);
    return ours;
}

/* Returns the address with the name "external", else the first address. */
static const char *advertised_url(struct decoding *d, const json_t *status)
{
    const json_t *addresses, *chosen = NULL;
    bool is_external = false;
    if (!decode_array(d, status, "advertisedAddresses", &addresses))
        return NULL;
    for (size_t i = 0; i < json_array_size(addresses) && !is_external; i++) {
        const json_t *address = decode_element(d, addresses, i);
        const char *name = decode_word(d, address, "name");
        is_external = name && !strcmp(name, "external");
        chosen = is_external || !chosen ? address : chosen;
    }
    return decode_word(d, chosen, "url");
}

struct shoot *decode_shoot_v1(struct decoding *d, const json_t *doc)
{
    const json_t *metadata = json_obj(doc, "metadata");
    struct shoot *s = decode_new(d, metadata);
    if (!s)
        return NULL;
    const json_t *status = decode_member(d, doc, "status", JSON_OBJECT);
    shoot_set_observed(s, decode_observed_v1(d, metadata, decode_member(d, doc, "spec", JSON_OBJECT)));
    decode_status(d, s, status, status, &words);
    s->api_server_url = mem_strdup(advertised_url(d, status));
    return s;
}

/* `is_new`: the pool does not exist yet. Cleura then chooses the members that are absent. For an existing
 * pool it would change them. */
static json_t *encode_worker_v1(const json_t *pool, bool is_new)
{
    const json_t *image = json_obj(pool, "image");
    const bool has_image = json_str(image, "name") && json_str(image, "version");
    json_t *machine CLEANUP_JSON = json_object();
    encode_known(machine, "type", pool, "machine_type");
    if (has_image) {
        json_t *their_image = json_object();
        encode_known(their_image, "name", image, "name");
        encode_known(their_image, "version", image, "version");
        json_set_take(machine, "image", their_image);
    }
    char *size CLEANUP_FREE = encode_size(pool);
    json_t *worker = json_object();
    encode_known(worker, "name", pool, "name");
    encode_known(worker, "minimum", pool, "minimum");
    encode_known(worker, "maximum", pool, "maximum");
    encode_known(worker, "maxSurge", pool, "max_surge");
    if (is_new || (has_image && json_str(pool, "machine_type")))
        json_set_take(worker, "machine", json_incref(machine));
    if (size) {
        json_t *volume = json_object();
        json_set_str(volume, "size", size);
        json_set_take(worker, "volume", volume);
    }
    encode_pairs(worker, pool, "labels");
    encode_pairs(worker, pool, "annotations");
    encode_known(worker, "taints", pool, "taints");
    encode_known(worker, "zones", pool, "zones");
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

static json_t *wrap(const char *name, json_t *value)
{
    json_t *body = json_object();
    json_set_take(body, name, value);
    return body;
}

json_t *encode_pool_v1(const struct upstream_call *call)
{
    return wrap("worker", encode_worker_v1(call->body, call->op == UPSTREAM_POOL_CREATE));
}

/* The body contains only the changes; Cleura does not require the provider in it. */
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
                      wrap("schedules", encode_schedules(json_arr(change, "hibernation_schedules"))));
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
        json_append_take(workers, encode_worker_v1(pool, true));
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
    /* in v1 an empty list must be left out */
    if (json_array_size(json_arr(spec, "hibernation_schedules"))) {
        json_t *hibernation = json_object();
        json_set_take(hibernation, "schedules", encode_schedules(json_arr(spec, "hibernation_schedules")));
        json_set_take(shoot, "hibernation", hibernation);
    }
    if (json_obj(spec, "maintenance"))
        json_set_take(shoot, "maintenance",
                      encode_maintenance(json_obj(spec, "maintenance"), &maintenance_words));
    return wrap("shoot", shoot);
}

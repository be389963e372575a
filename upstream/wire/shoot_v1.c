/* The v1 {metadata, spec, status} object (CL-14) in our words, and our spec as a v1 create body
 * (7.2). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/mem.h"
#include "upstream/wire/generation_private.h"

static const struct shoot_words words = {.max_surge = "maxSurge",
                                         .operation_at = "lastUpdateTime",
                                         .task_id = "taskID",
                                         .condition_since = "lastTransitionTime",
                                         .condition_updated = "lastUpdateTime"};

static json_t *decode_networking_v1(struct decoding *d, const json_t *spec)
{
    const json_t *infrastructure = json_obj(json_obj(spec, "provider"), "infrastructureConfig");
    const json_t *networks = json_obj(infrastructure, "networks");
    json_t *ours = json_object();
    json_set_str(ours, "type", decode_word(d, json_obj(spec, "networking"), "type"));
    json_set_str(ours, "nodes_cidr", decode_word(d, networks, "workers"));
    json_set_str(ours, "floating_pool", decode_word(d, infrastructure, "floatingPoolName"));
    json_set_str(ours, "network_id", decode_word(d, networks, "id"));
    json_set_str(ours, "router_id", decode_word(d, json_obj(networks, "router"), "id"));
    json_set_str(ours, "load_balancer_provider", NULL); /* v1 does not tell */
    return ours;
}

static json_t *decode_maintenance_v1(struct decoding *d, const json_t *maintenance)
{
    const json_t *update = json_obj(maintenance, "autoUpdate");
    const json_t *window = json_obj(maintenance, "timeWindow");
    json_t *ours = json_object();
    json_set_str(ours, "begin", decode_word(d, window, "begin"));
    json_set_str(ours, "end", decode_word(d, window, "end"));
    json_set_bool(ours, "auto_update_kubernetes", json_bool(update, "kubernetesVersion", true));
    json_set_bool(ours, "auto_update_machine_image", json_bool(update, "machineImageVersion", true));
    return ours;
}

static json_t *decode_observed_v1(struct decoding *d, const json_t *metadata, const json_t *spec)
{
    const json_t *provider = decode_member(d, spec, "provider", JSON_OBJECT);
    const char *version = decode_word(d, json_obj(spec, "kubernetes"), "version");
    if (!version)
        (void)decode_refuse(d, "it has no Kubernetes version");
    json_t *ours = json_object();
    json_set_str(ours, "kubernetes_version", version);
    json_set_take(ours, "node_pools",
                  decode_pools(d, decode_member(d, provider, "workers", JSON_ARRAY), &words));
    json_set_take(ours, "networking", decode_networking_v1(d, spec));
    json_set_bool(ours, "high_availability",
                  json_obj(json_obj(spec, "controlPlane"), "highAvailability") != NULL);
    json_set_take(ours, "hibernation_schedules",
                  decode_schedules(d, json_arr(json_obj(spec, "hibernation"), "schedules")));
    json_set_take(ours, "maintenance", decode_maintenance_v1(d, json_obj(spec, "maintenance")));
    json_set_take(ours, "allowed_cidrs", json_array());
    json_set_str(ours, "purpose", decode_word(d, spec, "purpose"));
    json_set_str(ours, "uid", decode_word(d, metadata, "uid"));
    json_set_str(ours, "technical_id", NULL);
    return ours;
}

static const char *advertised_url(struct decoding *d, const json_t *addresses)
{
    size_t i;
    json_t *address;
    json_array_foreach (addresses, i, address)
        if (!strcmp(json_str_or(address, "name", ""), "external"))
            return decode_word(d, address, "url");
    return decode_word(d, json_array_get(addresses, 0), "url");
}

struct shoot *decode_shoot_v1(struct decoding *d, const json_t *doc)
{
    const json_t *metadata = json_obj(doc, "metadata");
    struct shoot *s = decode_new(d, json_str(metadata, "name"));
    if (!s)
        return NULL;
    const json_t *status = decode_member(d, doc, "status", JSON_OBJECT);
    shoot_set_observed(s, decode_observed_v1(d, metadata, json_obj(doc, "spec")));
    decode_last_operation(d, s, decode_member(d, status, "lastOperation", JSON_OBJECT), &words);
    s->hibernated = json_bool(status, "hibernated", false);
    s->conditions =
        json_doc_new(decode_conditions(d, decode_member(d, status, "conditions", JSON_ARRAY), &words));
    s->constraints =
        json_doc_new(decode_conditions(d, decode_member(d, status, "constraints", JSON_ARRAY), &words));
    s->last_errors =
        json_doc_new(decode_last_errors(d, decode_member(d, status, "lastErrors", JSON_ARRAY), &words));
    s->api_server_url = mem_strdup(advertised_url(d, json_arr(status, "advertisedAddresses")));
    return decode_finish(d, s);
}

static json_t *encode_worker_v1(const json_t *pool)
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
    json_set_take(worker, "taints", array_or_empty(json_arr(pool, "taints")));
    json_set_take(worker, "zones", array_or_empty(json_arr(pool, "zones")));
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
    return wrap("worker", encode_worker_v1(call->body));
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
        (void)json_array_append_new(workers, encode_worker_v1(pool));
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
        json_set_take(hibernation, "schedules", encode_schedules(json_arr(spec, "hibernation_schedules")));
        json_set_take(shoot, "hibernation", hibernation);
    }
    if (json_obj(spec, "maintenance"))
        json_set_take(shoot, "maintenance",
                      encode_maintenance(json_obj(spec, "maintenance"), &maintenance_words));
    return wrap("shoot", shoot);
}

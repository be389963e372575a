/* The v2 shoot object (CL-12) in our words, and our resolved spec as a v2 create body (CL-11). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/mem.h"
#include "upstream/wire/generation_private.h"

static const struct shoot_words words = {.max_surge = "max_surge",
                                         .operation_at = "last_update_time",
                                         .task_id = "task_id",
                                         .condition_since = "last_transition_time",
                                         .condition_updated = "last_update_time"};

/* The members of CiliumProviderConfig (CL-11). */
static json_t *decode_cilium(struct decoding *d, const json_t *theirs)
{
    static const char *const flags[] = {"debug",
                                        "encryption_enabled",
                                        "encryption_node_to_node_enabled",
                                        "encryption_strict_mode_enabled",
                                        "hubble_enabled",
                                        "policy_audit_mode"};
    static const char *const texts[] = {"encryption_mode", "tunnel"};
    json_t *ours = json_object();
    for (size_t i = 0; i < ARRAY_LEN(flags); i++)
        if (json_is_boolean(json_object_get(theirs, flags[i])))
            json_set_bool(ours, flags[i], json_bool(theirs, flags[i], false));
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (decode_word(d, theirs, texts[i]))
            json_set_str(ours, texts[i], decode_word(d, theirs, texts[i]));
    return ours;
}

static json_t *decode_networking_v2(struct decoding *d, const json_t *doc)
{
    const json_t *networking = json_obj(doc, "networking");
    const json_t *provider = json_obj(doc, "shoot_provider");
    const json_t *infrastructure = json_obj(provider, "infrastructure_config");
    const json_t *networks = json_obj(infrastructure, "networks");
    json_t *ours = json_object();
    json_set_str(ours, "type", decode_word(d, networking, "type"));
    const char *nodes = decode_word(d, networking, "nodes");
    json_set_str(ours, "nodes_cidr", nodes ? nodes : decode_word(d, networks, "workers"));
    json_set_str(ours, "floating_pool", decode_word(d, infrastructure, "floating_pool_name"));
    json_set_str(ours, "network_id", decode_word(d, networks, "id"));
    json_set_str(ours, "router_id", decode_word(d, json_obj(networks, "router"), "id"));
    json_set_str(ours, "load_balancer_provider",
                 decode_word(d, json_obj(provider, "control_plane_config"), "load_balancer_provider"));
    if (json_obj(networking, "cilium_provider_config"))
        json_set_take(ours, "cilium", decode_cilium(d, json_obj(networking, "cilium_provider_config")));
    return ours;
}

static json_t *decode_maintenance_v2(struct decoding *d, const json_t *maintenance)
{
    const json_t *window = json_obj(maintenance, "time_window");
    const json_t *update = json_obj(maintenance, "auto_update");
    json_t *ours = json_object();
    json_set_str(ours, "begin", decode_word(d, window, "begin"));
    json_set_str(ours, "end", decode_word(d, window, "end"));
    json_set_bool(ours, "auto_update_kubernetes", json_bool(update, "kubernetes_version", true));
    json_set_bool(ours, "auto_update_machine_image", json_bool(update, "machine_image_version", true));
    return ours;
}

static json_t *decode_observed_v2(struct decoding *d, const json_t *doc)
{
    const json_t *provider = decode_member(d, doc, "shoot_provider", JSON_OBJECT);
    const char *version = decode_word(d, json_obj(doc, "kubernetes"), "version");
    if (!version)
        (void)decode_refuse(d, "it has no Kubernetes version");
    json_t *ours = json_object();
    json_set_str(ours, "kubernetes_version", version);
    json_set_take(ours, "node_pools",
                  decode_pools(d, decode_member(d, provider, "workers", JSON_ARRAY), &words));
    json_set_take(ours, "networking", decode_networking_v2(d, doc));
    json_set_bool(ours, "high_availability", json_obj(doc, "control_plane") != NULL);
    json_set_take(ours, "hibernation_schedules",
                  decode_schedules(d, json_arr(json_obj(doc, "hibernation"), "schedules")));
    json_set_take(ours, "maintenance", decode_maintenance_v2(d, json_obj(doc, "maintenance")));
    json_set_take(ours, "allowed_cidrs",
                  decode_sorted(decode_words(d, decode_member(d, doc, "allowed_cidrs", JSON_ARRAY))));
    json_set_str(ours, "purpose", decode_word(d, doc, "purpose"));
    json_set_str(ours, "uid", decode_word(d, doc, "uid"));
    json_set_str(ours, "technical_id", decode_word(d, doc, "technical_id"));
    return ours;
}

struct shoot *decode_shoot_v2(struct decoding *d, const json_t *doc)
{
    struct shoot *s = decode_new(d, json_str(doc, "name"));
    if (!s)
        return NULL;
    const json_t *status = decode_member(d, doc, "status", JSON_OBJECT);
    shoot_set_observed(s, decode_observed_v2(d, doc));
    decode_last_operation(d, s, decode_member(d, doc, "last_operation", JSON_OBJECT), &words);
    s->hibernated = json_bool(status, "is_hibernated", false);
    s->conditions =
        json_doc_new(decode_conditions(d, decode_member(d, status, "conditions", JSON_ARRAY), &words));
    s->constraints =
        json_doc_new(decode_conditions(d, decode_member(d, status, "constraints", JSON_ARRAY), &words));
    s->last_errors =
        json_doc_new(decode_last_errors(d, decode_member(d, status, "last_errors", JSON_ARRAY), &words));
    return decode_finish(d, s);
}

static json_t *encode_worker_v2(const json_t *pool)
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
    json_set_take(worker, "zones", array_or_empty(json_arr(pool, "zones")));
    json_set_take(worker, "labels", encode_pairs(json_obj(pool, "labels")));
    json_set_take(worker, "annotations", encode_pairs(json_obj(pool, "annotations")));
    json_set_take(worker, "taints", array_or_empty(json_arr(pool, "taints")));
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
        (void)json_array_append_new(workers, encode_worker_v2(pool));
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
    return encode_worker_v2(call->body);
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
        json_set_take(body, "hibernation_schedules",
                      encode_schedules(json_arr(change, "hibernation_schedules")));
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

#include "simulator/wire/wire.h"

#include <stddef.h>

/* Copies members under their v2 names; absent members stay absent. */
struct renaming {
    const char *from;
    const char *to;
};

static void rename_members(const json_t *from, json_t *to, const struct renaming *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        json_t *value = json_object_get(from, names[i].from);
        if (value)
            (void)json_object_set(to, names[i].to, value);
    }
}

#define RENAME(from, to, table) rename_members(from, to, table, sizeof(table) / sizeof((table)[0]))

json_t *decode_v1_worker(const json_t *worker)
{
    static const struct renaming plain[] = {{"name", "name"},       {"minimum", "minimum"},
                                            {"maximum", "maximum"}, {"maxSurge", "max_surge"},
                                            {"labels", "labels"},   {"annotations", "annotations"},
                                            {"taints", "taints"},   {"zones", "zones"}};
    const json_t *machine = json_object_get(worker, "machine");
    const json_t *image = json_object_get(machine, "image");
    json_t *out = json_object();
    json_t *type = json_object_get(machine, "type");
    if (!json_is_object(worker))
        return out;
    RENAME(worker, out, plain);
    if (machine) {
        json_t *flat = json_object();
        if (type)
            (void)json_object_set(flat, "type", type);
        if (json_object_get(image, "name"))
            (void)json_object_set(flat, "image_name", json_object_get(image, "name"));
        if (json_object_get(image, "version"))
            (void)json_object_set(flat, "image_version", json_object_get(image, "version"));
        (void)json_object_set_new(out, "machine", flat);
    }
    if (json_object_get(json_object_get(worker, "volume"), "size"))
        (void)json_object_set(out, "volume_size", json_object_get(json_object_get(worker, "volume"), "size"));
    return out;
}

static json_t *convert_maintenance(const json_t *maintenance)
{
    static const struct renaming updates[] = {{"kubernetesVersion", "kubernetes_version"},
                                              {"machineImageVersion", "machine_image_version"}};
    const json_t *auto_update = json_object_get(maintenance, "autoUpdate");
    json_t *out = json_object();
    if (auto_update) {
        json_t *converted = json_object();
        RENAME(auto_update, converted, updates);
        (void)json_object_set_new(out, "auto_update", converted);
    }
    if (json_object_get(maintenance, "timeWindow"))
        (void)json_object_set(out, "time_window", json_object_get(maintenance, "timeWindow"));
    return out;
}

static void convert_common(const json_t *shoot, json_t *out)
{
    static const struct renaming plain[] = {{"name", "name"},
                                            {"enableHaControlPlane", "enable_ha_control_plane"}};
    json_t *schedules = json_object_get(json_object_get(shoot, "hibernation"), "schedules");
    const json_t *maintenance = json_object_get(shoot, "maintenance");
    RENAME(shoot, out, plain);
    if (schedules)
        (void)json_object_set(out, "hibernation_schedules", schedules);
    if (json_is_object(maintenance))
        (void)json_object_set_new(out, "maintenance", convert_maintenance(maintenance));
}

static json_t *convert_infrastructure(const json_t *config)
{
    const json_t *networks = json_object_get(config, "networks");
    json_t *out = json_object();
    static const struct renaming plain[] = {{"floatingPoolName", "floating_pool_name"}};
    static const struct renaming network[] = {{"id", "network_id"}, {"workers", "workers_network_cidr"}};
    static const struct renaming router[] = {{"id", "router_id"}};
    RENAME(config, out, plain);
    RENAME(networks, out, network);
    RENAME(json_object_get(networks, "router"), out, router);
    return out;
}

json_t *decode_v1_create(const json_t *shoot)
{
    const json_t *provider = json_object_get(shoot, "provider");
    json_t *out = json_object();
    json_t *workers = json_array();
    json_t *worker;
    size_t i;
    if (!json_is_object(shoot)) {
        json_decref(workers);
        return out;
    }
    json_array_foreach (json_object_get(provider, "workers"), i, worker)
        (void)json_array_append_new(workers, decode_v1_worker(worker));
    convert_common(shoot, out);
    if (json_object_get(json_object_get(shoot, "kubernetes"), "version"))
        (void)json_object_set(out, "kubernetes_version",
                              json_object_get(json_object_get(shoot, "kubernetes"), "version"));
    (void)json_object_set_new(
        out, "shoot_provider",
        json_pack("{s:o, s:s, s:o}", "infrastructure_config",
                  convert_infrastructure(json_object_get(provider, "infrastructureConfig")),
                  "load_balancer_provider", "amphora", "workers", workers));
    return out;
}

json_t *decode_v1_patch(const json_t *shoot)
{
    json_t *out = json_object();
    json_t *version = json_object_get(json_object_get(shoot, "kubernetes"), "version");
    if (!json_is_object(shoot))
        return out;
    convert_common(shoot, out);
    (void)json_object_del(out, "name");
    if (version)
        (void)json_object_set(out, "kubernetes", version);
    return out;
}

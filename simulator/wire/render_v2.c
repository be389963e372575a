#include "simulator/wire/wire.h"

#include "simulator/cloud/sim_shoot.h"
#include "simulator/cloud/sim.h"

#include <stdio.h>
#include <string.h>

static json_t *text_format(const char *before, const char *text)
{
    char joined[160];
    (void)snprintf(joined, sizeof(joined), "%s%s", before, text);
    return json_string(joined);
}

static json_t *id_or_null(json_t *given, const char *made, bool ready)
{
    if (json_is_string(given))
        return json_incref(given);
    return ready ? json_string(made) : json_null();
}

static json_t *render_networks(const struct sim_shoot *shoot, int64_t now_us)
{
    bool ready = shoot_has_infrastructure(shoot, now_us);
    json_t *router = id_or_null(json_object_get(shoot->spec, "router_id"), shoot->router_id, ready);
    if (!json_is_null(router))
        router = json_pack("{s:o}", "id", router);
    return json_pack("{s:o, s:o, s:O}", "id",
                     id_or_null(json_object_get(shoot->spec, "network_id"), shoot->network_id, ready),
                     "router", router, "workers", json_object_get(shoot->spec, "workers_cidr"));
}

static json_t *render_provider_v2(const struct sim_shoot *shoot, int64_t now_us)
{
    return json_pack("{s:s, s:{s:O}, s:{s:O, s:o}, s:O}", "type", "openstack", "control_plane_config",
                     "load_balancer_provider", json_object_get(shoot->spec, "load_balancer_provider"),
                     "infrastructure_config", "floating_pool_name",
                     json_object_get(shoot->spec, "floating_pool_name"), "networks",
                     render_networks(shoot, now_us), "workers", json_object_get(shoot->spec, "workers"));
}

static json_t *render_control_plane(const struct sim_shoot *shoot)
{
    if (!json_is_true(json_object_get(shoot->spec, "high_availability")))
        return json_null();
    return json_pack("{s:{s:{s:s}}}", "high_availability", "failure_tolerance", "type", "node");
}

json_t *render_v2(const struct sim *sim, const struct sim_shoot *shoot)
{
    int64_t now_us = clock_now_us(&sim->clock);
    char technical_id[160];
    json_t *object;
    (void)snprintf(technical_id, sizeof(technical_id), "shoot--%s--%s", shoot->garden_project, shoot->name);
    object = json_pack(
        "{s:s, s:o, s:s, s:s, s:s, s:{s:O, s:b}, s:{s:O, s:O, s:O}, s:O, s:o}", "name", shoot->name,
        "namespace", text_format("garden-", shoot->garden_project), "cloud_profile_name", "cleuracloud",
        "region", shoot->region, "purpose", "evaluation", "kubernetes", "version",
        json_object_get(shoot->spec, "kubernetes_version"), "enable_static_token_kubeconfig", 0, "networking",
        "type", json_object_get(shoot->spec, "networking_type"), "nodes",
        json_object_get(shoot->spec, "workers_cidr"), "cilium_provider_config",
        json_object_get(shoot->spec, "cilium"), "maintenance", json_object_get(shoot->spec, "maintenance"),
        "shoot_provider", render_provider_v2(shoot, now_us));
    (void)json_object_set(object, "allowed_cidrs", json_object_get(shoot->spec, "allowed_cidrs"));
    (void)json_object_set_new(object, "control_plane", render_control_plane(shoot));
    (void)json_object_set_new(object, "credentials_binding_name",
                              text_format("binding-", shoot->garden_project));
    (void)json_object_set_new(object, "hibernation",
                              json_pack("{s:O}", "schedules", json_object_get(shoot->spec, "schedules")));
    (void)json_object_set_new(object, "uid", json_string(shoot->uid));
    (void)json_object_set_new(object, "technical_id",
                              shoot->has_run ? json_string(technical_id) : json_null());
    (void)json_object_set_new(object, "last_operation",
                              shoot->has_run ? status_last_operation(shoot, now_us) : json_null());
    (void)json_object_set_new(object, "status",
                              shoot->has_run ? status_object(shoot, now_us, sim->settings.hibernation_blocked)
                                             : json_null());
    return object;
}

void render_api_url(const struct sim_shoot *shoot, const char *kind, char *out, size_t size)
{
    if (!strcmp(kind, "external")) {
        (void)snprintf(out, size, "https://api.%s.%s.k8s.cleura.cloud", shoot->name, shoot->garden_project);
    } else if (!strcmp(kind, "internal")) {
        (void)snprintf(out, size, "https://api.%s.%s.internal.k8s.cleura.cloud", shoot->name,
                       shoot->garden_project);
    } else {
        char seed[64];
        (void)snprintf(seed, sizeof(seed), "%s", shoot->region);
        for (char *at = seed; *at; at++)
            if (*at >= 'A' && *at <= 'Z')
                *at = (char)(*at - 'A' + 'a');
        (void)snprintf(out, size, "https://%s-%s--%s.ingress.%s-1.garden.k8s.cleura.cloud",
                       !strcmp(kind, "wildcard-tls-seed-bound") ? "api" : kind, shoot->garden_project,
                       shoot->name, seed);
    }
}

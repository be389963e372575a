#include "simulator/wire/wire.h"

#include "simulator/cloud/conditions.h"
#include "simulator/cloud/sim_shoot.h"
#include "simulator/cloud/sim.h"

#include <string.h>

/* Converts an array of {key, value} to a map. The values of the map are the values of the pairs or, with
 * `whole`, the whole pairs. */
static json_t *as_map(const json_t *pairs, bool whole)
{
    json_t *map = json_object();
    json_t *pair;
    size_t i;
    json_array_foreach (pairs, i, pair)
        (void)json_object_set(map, json_string_value(json_object_get(pair, "key")),
                              whole ? pair : json_object_get(pair, "value"));
    return map;
}

static json_t *render_worker(const json_t *worker, bool created)
{
    const json_t *machine = json_object_get(worker, "machine");
    return json_pack(
        "{s:O, s:O, s:O, s:O, s:{s:O, s:O}, s:O, s:o, s:o, s:O, s:O}", "name",
        json_object_get(worker, "name"), "minimum", json_object_get(worker, "minimum"), "maximum",
        json_object_get(worker, "maximum"), "maxSurge", json_object_get(worker, "max_surge"), "machine",
        "type", json_object_get(machine, "type"), "image", json_object_get(machine, "image"), "volume",
        json_object_get(worker, "volume"), "labels", as_map(json_object_get(worker, "labels"), created),
        "annotations", as_map(json_object_get(worker, "annotations"), created), "taints",
        json_object_get(worker, "taints"), "zones", json_object_get(worker, "zones"));
}

static json_t *render_provider_v1(const struct sim_shoot *shoot, bool created, int64_t now_us)
{
    json_t *networks = json_pack("{s:O}", "workers", json_object_get(shoot->spec, "workers_cidr"));
    json_t *workers = json_array();
    json_t *network = json_object_get(shoot->spec, "network_id");
    json_t *router = json_object_get(shoot->spec, "router_id");
    json_t *worker;
    size_t i;
    if (json_is_string(network))
        (void)json_object_set(networks, "id", network);
    else if (shoot_has_infrastructure(shoot, now_us))
        (void)json_object_set_new(networks, "id", json_string(shoot->network_id));
    if (json_is_string(router))
        (void)json_object_set_new(networks, "router", json_pack("{s:O}", "id", router));
    else if (shoot_has_infrastructure(shoot, now_us))
        (void)json_object_set_new(networks, "router", json_pack("{s:s}", "id", shoot->router_id));
    json_array_foreach (json_object_get(shoot->spec, "workers"), i, worker)
        (void)json_array_append_new(workers, render_worker(worker, created));
    return json_pack("{s:{s:O, s:o}, s:o}", "infrastructureConfig", "floatingPoolName",
                     json_object_get(shoot->spec, "floating_pool_name"), "networks", networks, "workers",
                     workers);
}

static json_t *render_maintenance(const json_t *maintenance)
{
    const json_t *update = json_object_get(maintenance, "auto_update");
    return json_pack("{s:{s:O, s:O}, s:O}", "autoUpdate", "kubernetesVersion",
                     json_object_get(update, "kubernetes_version"), "machineImageVersion",
                     json_object_get(update, "machine_image_version"), "timeWindow",
                     json_object_get(maintenance, "time_window"));
}

/* Whether hibernation is requested: true as soon as the request is accepted. */
static bool wants_hibernation(const struct sim_shoot *shoot)
{
    const struct run *run = shoot->has_queued ? &shoot->queued : &shoot->run;
    return run_does(run, RUN_HIBERNATE) || (shoot->hibernated && !run_does(run, RUN_WAKE));
}

static json_t *render_spec(const struct sim_shoot *shoot, bool created, int64_t now_us)
{
    json_t *spec =
        json_pack("{s:s, s:s, s:o, s:{s:O}, s:{s:b, s:O}, s:o}", "purpose", "evaluation", "region",
                  shoot->region, "provider", render_provider_v1(shoot, created, now_us), "kubernetes",
                  "version", json_object_get(shoot->spec, "kubernetes_version"), "hibernation", "enabled",
                  wants_hibernation(shoot), "schedules", json_object_get(shoot->spec, "schedules"),
                  "maintenance", render_maintenance(json_object_get(shoot->spec, "maintenance")));
    if (json_is_true(json_object_get(shoot->spec, "high_availability")))
        (void)json_object_set_new(
            spec, "controlPlane",
            json_pack("{s:{s:{s:s}}}", "highAvailability", "failureTolerance", "type", "node"));
    return spec;
}

static json_t *render_last_operation(const struct sim_shoot *shoot, int64_t now_us)
{
    json_t *operation = status_last_operation(shoot, now_us);
    json_t *time = json_object_get(operation, "last_update_time");
    if (!operation)
        return json_null();
    (void)json_object_set(operation, "lastUpdateTime", time);
    (void)json_object_del(operation, "last_update_time");
    return operation;
}

static json_t *render_last_errors(json_t *errors)
{
    json_t *error;
    size_t i;
    json_array_foreach (errors, i, error) {
        (void)json_object_set(error, "taskID", json_object_get(error, "task_id"));
        (void)json_object_set(error, "lastUpdateTime", json_object_get(error, "last_update_time"));
        (void)json_object_del(error, "task_id");
        (void)json_object_del(error, "last_update_time");
    }
    return json_incref(errors);
}

static json_t *render_conditions(const struct sim_shoot *shoot, json_t *list, int64_t now_us)
{
    json_t *condition;
    size_t i;
    json_array_foreach (list, i, condition) {
        struct condition_times times = {.since_us = status_changed_us(shoot, now_us)};
        times.updated_us = times.since_us;
        conditions_times(shoot, json_string_value(json_object_get(condition, "type")), &times);
        (void)json_object_set_new(condition, "lastTransitionTime", clock_json(times.since_us));
        (void)json_object_set_new(condition, "lastUpdateTime", clock_json(times.updated_us));
    }
    return json_incref(list);
}

static json_t *render_addresses(const struct sim_shoot *shoot, int64_t now_us)
{
    static const char *const names[] = {"external", "internal", "wildcard-tls-seed-bound"};
    json_t *list = json_array();
    if (!shoot_has_api_server(shoot, now_us))
        return list;
    for (size_t i = 0; i < 3; i++) {
        char url[256];
        render_api_url(shoot, names[i], url, sizeof(url));
        (void)json_array_append_new(list, json_pack("{s:s, s:s}", "name", names[i], "url", url));
    }
    return list;
}

static json_t *render_status(const struct sim *sim, const struct sim_shoot *shoot, int64_t now_us)
{
    json_t *state = status_object(shoot, now_us, sim->settings.hibernation_blocked);
    json_t *status;
    if (!state)
        return json_object();
    status =
        json_pack("{s:o, s:o, s:o, s:b, s:o, s:o}", "conditions",
                  render_conditions(shoot, json_object_get(state, "conditions"), now_us), "constraints",
                  render_conditions(shoot, json_object_get(state, "constraints"), now_us), "lastErrors",
                  render_last_errors(json_object_get(state, "last_errors")), "hibernated",
                  shoot_shows_hibernated(shoot, now_us), "advertisedAddresses",
                  render_addresses(shoot, now_us), "lastOperation", render_last_operation(shoot, now_us));
    json_decref(state);
    return status;
}

json_t *render_v1(const struct sim *sim, const struct sim_shoot *shoot)
{
    int64_t now_us = clock_now_us(&sim->clock);
    return json_pack("{s:{s:s, s:s}, s:o, s:o}", "metadata", "name", shoot->name, "uid", shoot->uid, "spec",
                     render_spec(shoot, false, now_us), "status", render_status(sim, shoot, now_us));
}

json_t *render_v1_created(const struct sim *sim, const struct sim_shoot *shoot)
{
    json_t *flat = render_spec(shoot, true, clock_now_us(&sim->clock));
    (void)json_object_set_new(flat, "name", json_string(shoot->name));
    (void)json_object_set_new(flat, "uid", json_string(shoot->uid));
    return json_pack("{s:o}", "shoot", flat);
}

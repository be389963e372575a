/* Answers the calls for whole shoots: list, create, get, edit, delete. Also answers the calls for the cloud
 * profile, the bootstrap and the check of a name. */
#include "simulator/cloud/sim_catalog.h"
#include "simulator/cloud/sim_shoot.h"
#include "simulator/cloud/sim.h"
#include "simulator/handlers/handlers.h"
#include "simulator/request/sim_exchange.h"
#include "simulator/wire/wire.h"

#include <stdio.h>
#include <string.h>

static json_t *render_shoot(const struct sim_exchange *x, const struct sim_shoot *shoot)
{
    return exchange_generation(x) == 1 ? render_v1(x->sim, shoot) : render_v2(x->sim, shoot);
}

void handle_cloud_profiles(struct sim_exchange *x)
{
    answer_json(x, 200,
                exchange_generation(x) == 1 ? catalog_render_v1(x->sim->catalog)
                                            : json_pack("[O]", x->sim->catalog));
}

void handle_bootstrap(struct sim_exchange *x)
{
    const char *tag = x->params[PARAM_REGION];
    const char *region = sim_region(x->sim, tag, exchange_generation(x) == 1);
    const char *project = sim_project(x->sim, x->params[PARAM_PROJECT]);
    char message[256];
    if (!region) {
        (void)snprintf(message, sizeof(message), "OpenStack region %s was not found", tag);
        answer_error(x, 404, message);
    } else if (!project) {
        answer_error(x, 500, "Internal Server Error");
    } else {
        sim_bootstrap(x->sim, region, project);
        answer_empty(x, 204);
    }
}

static json_t *render_list(const struct sim_exchange *x)
{
    json_t *list = json_array();
    for (const struct sim_shoot *shoot = x->sim->shoots; shoot; shoot = shoot_next(shoot))
        if (!strcmp(shoot->region, x->region) && !strcmp(shoot->project, x->project))
            (void)json_array_append_new(list, render_shoot(x, shoot));
    return list;
}

/*
 * Returns the list of one of two nodes, which answer alternately. One node has the current list. The other
 * has a cached list, which is at most `list_cache_seconds` old.
 */
static json_t *list_of_a_node(const struct sim_exchange *x)
{
    json_t *caches = x->sim->list_caches;
    int64_t now_us = clock_now_us(&x->sim->clock);
    char key[256];
    json_t *cache;
    bool cached;
    (void)snprintf(key, sizeof(key), "%d/%s/%s", exchange_generation(x), x->region, x->project);
    cache = json_object_get(caches, key);
    if (!cache) {
        cache = json_pack("{s:I, s:b, s:o}", "at", (json_int_t)now_us, "turn", 0, "list", render_list(x));
        (void)json_object_set_new(caches, key, cache);
    }
    cached = json_is_true(json_object_get(cache, "turn"));
    (void)json_object_set_new(cache, "turn", json_boolean(!cached));
    if (!cached)
        return render_list(x);
    if (now_us - json_integer_value(json_object_get(cache, "at")) >=
        clock_from_seconds(x->sim->settings.list_cache_seconds)) {
        (void)json_object_set_new(cache, "at", json_integer((json_int_t)now_us));
        (void)json_object_set_new(cache, "list", render_list(x));
    }
    return json_deep_copy(json_object_get(cache, "list")); /* a copy, because an answer is used without the
                                                            * lock */
}

void handle_list_shoots(struct sim_exchange *x)
{
    answer_json(x, 200, x->sim->settings.list_cache_seconds > 0 ? list_of_a_node(x) : render_list(x));
}

static void create(struct sim_exchange *x, const char *name, json_t *spec)
{
    struct sim_shoot *shoot = shoot_new(&x->sim->random, name, x->region, x->project, spec);
    shoot->created_us = clock_now_us(&x->sim->clock);
    shoot_add(&x->sim->shoots, shoot);
    lifecycle_accept(x->sim, shoot, RUN_CREATE);
    request_log_count_name(x->sim->log.creates, name);
    if (exchange_generation(x) == 1)
        answer_json(x, 200, render_v1_created(x->sim, shoot));
    else
        answer_json(x, 202, render_v2(x->sim, shoot));
}

static json_t *create_body(const struct sim_exchange *x)
{
    if (exchange_generation(x) == 1)
        return decode_v1_create(json_object_get(x->json, "shoot"));
    return json_incref(x->json);
}

void handle_create_shoot(struct sim_exchange *x)
{
    json_t *body = create_body(x);
    json_t *errors = json_array();
    json_t *spec = decode_create(x->sim, x->region, body, errors);
    const char *name = json_string_value(json_object_get(body, "name"));
    if (!spec || !name) {
        answer_invalid(x, json_incref(errors));
        json_decref(spec);
    } else if (!sim_is_bootstrapped(x->sim, x->region, x->project)) {
        answer_error(x, 400, "Project is not bootstrapped for Gardener in this region");
        json_decref(spec);
    } else if (shoot_find(x->sim->shoots, NULL, NULL, name)) {
        answer_error(x, 409, "A shoot with this name exists already");
        json_decref(spec);
    } else {
        create(x, name, spec);
    }
    json_decref(errors);
    json_decref(body);
}

void handle_get_shoot(struct sim_exchange *x)
{
    answer_json(x, 200, render_shoot(x, x->shoot));
}

/* Returns the reason why a change is refused with 409, whatever its other members are. NULL: none. */
static const char *conflict_of(const struct sim_shoot *shoot, const json_t *body)
{
    const json_t *cilium = json_object_get(json_object_get(body, "networking"), "cilium_provider_config");
    const char *type = json_string_value(json_object_get(shoot->spec, "networking_type"));
    if (json_is_true(json_object_get(body, "enable_ha_control_plane")) &&
        json_is_true(json_object_get(shoot->spec, "high_availability")))
        return "High availability of the control plane is enabled already";
    if (json_is_object(cilium) && type && strcmp(type, "cilium") != 0)
        return "cilium_provider_config needs networking of type cilium";
    return NULL;
}

/* v1 clients send the HA switch with every update. Therefore v1 ignores the switch when HA is on. */
static json_t *edit_body(const struct sim_exchange *x)
{
    json_t *body;
    if (exchange_generation(x) != 1)
        return json_incref(x->json);
    body = decode_v1_patch(json_object_get(x->json, "shoot"));
    if (json_is_true(json_object_get(x->shoot->spec, "high_availability")))
        (void)json_object_del(body, "enable_ha_control_plane");
    return body;
}

static void edit(struct sim_exchange *x, const json_t *body)
{
    const char *conflict = conflict_of(x->shoot, body);
    json_t *errors = json_array();
    enum run_kind kind = RUN_PATCH;
    json_t *spec = decode_patch(x->sim, x->shoot, body, errors, &kind);
    if (!spec) {
        answer_invalid(x, json_incref(errors));
    } else if (conflict) {
        answer_error(x, 409, conflict);
        json_decref(spec);
    } else {
        bool same = json_equal(spec, x->shoot->spec);
        json_decref(x->shoot->spec);
        x->shoot->spec = spec;
        x->no_effect = same;
        if (!same)
            lifecycle_accept(x->sim, x->shoot, kind);
        answer_json(x, 202, render_shoot(x, x->shoot));
    }
    json_decref(errors);
}

void handle_edit_shoot(struct sim_exchange *x)
{
    json_t *body;
    if (refuse_when_busy(x))
        return;
    body = edit_body(x);
    edit(x, body);
    json_decref(body);
}

void handle_delete_shoot(struct sim_exchange *x)
{
    if (x->shoot->deleting) {
        bool over = x->shoot->has_run && x->shoot->run.kind == RUN_DELETE &&
                    (x->shoot->run.state == RUN_FAILED || x->shoot->run.state == RUN_ERROR);
        x->no_effect = true;
        if (over)
            lifecycle_accept(x->sim, x->shoot, RUN_DELETE);
    } else {
        lifecycle_accept(x->sim, x->shoot, RUN_DELETE);
        request_log_count_name(x->sim->log.deletes, x->shoot->name);
    }
    if (exchange_generation(x) == 1)
        answer_json(x, 202, json_string("Shoot deletion has been accepted"));
    else
        answer_action(x);
}

void handle_name_taken(struct sim_exchange *x)
{
    answer_json(x, 200,
                json_pack("{s:b}", "is_taken",
                          shoot_find(x->sim->shoots, NULL, NULL, x->params[PARAM_SHOOT]) != NULL));
}

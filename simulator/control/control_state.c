/* Handles a part of /_sim/: prepared shoots, the whole state. */
#include "simulator/cloud/check.h"

#include "base/mem.h"
#include "simulator/control/orders.h"
#include "simulator/cloud/sim_shoot.h"
#include "simulator/cloud/sim.h"
#include "simulator/handlers/handlers.h"
#include "simulator/request/sim_exchange.h"
#include "simulator/wire/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEED_MAX        10000
#define SEED_PREFIX_MAX 10

static const char *text_or(const json_t *value, const char *otherwise)
{
    return json_is_string(value) ? json_string_value(value) : otherwise;
}

static const struct rule seed_rules[] = {
    {"count", KIND_INTEGER, PATTERN_NONE, 0}, {"prefix", KIND_STRING, PATTERN_NONE, 0},
    {"region", KIND_STRING, PATTERN_NONE, 0}, {"project", KIND_STRING, PATTERN_NONE, 0},
    {"state", KIND_STRING, PATTERN_NONE, 0},
};

static json_t *seed_body(const char *name)
{
    return json_pack("{s:s, s:s, s:{s:s, s:{s:s}, s:[{s:s, s:{s:s, s:s}, s:s, s:i, s:i, s:i}]}}", "name",
                     name, "kubernetes_version", "1.33.7", "shoot_provider", "load_balancer_provider",
                     "amphora", "infrastructure_config", "floating_pool_name", "ext-net", "workers", "name",
                     "wg1", "machine", "type", "b.2c4gb", "image_version", "1877.9.0", "volume_size", "50Gi",
                     "minimum", 1, "maximum", 3, "max_surge", 1);
}

/* Gives the shoot a run that succeeded some time ago. */
static void make_ready(struct sim *sim, struct sim_shoot *shoot, enum run_kind kind)
{
    int64_t duration_us = clock_from_seconds(sim->settings.durations[kind]);
    int64_t ended_us = clock_now_us(&sim->clock) - clock_from_seconds(sim->settings.care_seconds + 3600);
    shoot->created_us = ended_us - duration_us;
    shoot->has_run = true;
    shoot->ever_succeeded = true;
    shoot->hibernated = kind == RUN_HIBERNATE;
    shoot->run.kind = kind;
    shoot->run.kinds = 1U << (unsigned)kind;
    shoot->run.type = kind == RUN_CREATE ? RUN_TYPE_CREATE : RUN_TYPE_RECONCILE;
    shoot->run.state = RUN_SUCCEEDED;
    shoot->run.starts_us = ended_us - duration_us;
    shoot->run.duration_us = duration_us;
    shoot->run.changed_us = ended_us;
}

static void make_failed(struct sim_shoot *shoot)
{
    shoot->ever_succeeded = false;
    shoot->run.state = RUN_FAILED;
    shoot->run.at_progress = 88;
    shoot->run.description = mem_strdup("Quota exceeded for cores");
    shoot->run.errors = json_pack("[{s:s, s:s, s:[s]}]", "task_id", RUN_TASK_ID, "description",
                                  shoot->run.description, "codes", "ERR_INFRA_QUOTA_EXCEEDED");
}

static bool set_condition(struct sim *sim, struct sim_shoot *shoot, const char *state)
{
    if (!strcmp(state, "creating")) {
        lifecycle_accept(sim, shoot, RUN_CREATE);
        return true;
    }
    make_ready(sim, shoot, !strcmp(state, "hibernated") ? RUN_HIBERNATE : RUN_CREATE);
    if (!strcmp(state, "failed"))
        make_failed(shoot);
    else if (!strcmp(state, "deleting"))
        lifecycle_accept(sim, shoot, RUN_DELETE);
    else
        return !strcmp(state, "ready") || !strcmp(state, "hibernated");
    return true;
}

/* Returns NULL when the request (v2 form) is not valid; errors gives the reasons. */
static struct sim_shoot *make_shoot(struct sim *sim, const json_t *body, const char *region,
                                    const char *project, json_t *errors)
{
    json_t *spec = decode_create(sim, region, body, errors);
    struct sim_shoot *shoot;
    if (!spec)
        return NULL;
    shoot = shoot_new(&sim->random, json_string_value(json_object_get(body, "name")), region, project, spec);
    shoot->created_us = clock_now_us(&sim->clock);
    return shoot;
}

static void seed_one(struct sim *sim, const char *name, const char *region, const char *project,
                     const char *state)
{
    json_t *body = seed_body(name);
    json_t *errors = json_array();
    struct sim_shoot *shoot = NULL;
    if (!shoot_find(sim->shoots, NULL, NULL, name))
        shoot = make_shoot(sim, body, region, project, errors);
    if (shoot) {
        (void)set_condition(sim, shoot, state);
        shoot_add(&sim->shoots, shoot);
    }
    json_decref(errors);
    json_decref(body);
}

static bool is_good_seed(struct sim_exchange *x, const char *state, const char *prefix)
{
    static const char *const states[] = {"ready", "hibernated", NULL};
    const json_t *count = json_object_get(x->json, "count");
    json_t *errors = json_array();
    if (count && (json_integer_value(count) < 0 || json_integer_value(count) > SEED_MAX))
        check_fail(errors, "count", "must be from 0 to 10000");
    if (strlen(prefix) > SEED_PREFIX_MAX)
        check_fail(errors, "prefix", "must have at most 10 letters");
    check_word(errors, "state", state, states);
    return !control_refuse_faults(x, errors);
}

void control_shoots_seed(struct sim_exchange *x)
{
    const struct options *options = x->sim->options;
    const json_t *count = json_object_get(x->json, "count");
    const char *prefix = text_or(json_object_get(x->json, "prefix"), "idle");
    const char *state = text_or(json_object_get(x->json, "state"), "ready");
    const char *region =
        sim_region(x->sim, text_or(json_object_get(x->json, "region"), options->regions[0]), false);
    const char *project =
        sim_project(x->sim, text_or(json_object_get(x->json, "project"), options->projects[0]));
    json_int_t wanted = count ? json_integer_value(count) : 1;
    if (!control_is_good(x, RULES(seed_rules)) || !is_good_seed(x, state, prefix))
        return;
    if (!region || !project) {
        answer_invalid(x, json_pack("[{s:s, s:s}]", "key", region ? "project" : "region", "value",
                                    "is not known to the simulator"));
        return;
    }
    sim_bootstrap(x->sim, region, project);
    for (json_int_t i = 0; i < wanted; i++) {
        char name[64];
        (void)snprintf(name, sizeof(name), "%s-%04d", prefix, (int)i);
        seed_one(x->sim, name, region, project, state);
    }
    answer_json(x, 201, json_pack("{s:I}", "count", wanted));
}

void control_shoot_vanish(struct sim_exchange *x)
{
    struct sim_shoot *shoot = control_shoot(x);
    if (!shoot)
        return;
    shoot_remove(&x->sim->shoots, shoot);
    answer_empty(x, 204);
}

static const char *state_word(const struct sim_shoot *shoot)
{
    if (shoot->deleting)
        return "deleting";
    if (!shoot->ever_succeeded)
        return shoot->has_run && shoot->run.state == RUN_FAILED ? "failed" : "creating";
    return shoot->hibernated ? "hibernated" : "ready";
}

static json_t *state_of(const struct sim *sim, const struct sim_shoot *shoot)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:b, s:s, s:O, s:o}", "name", shoot->name, "region",
                     shoot->region, "project", shoot->project, "uid", shoot->uid, "state", state_word(shoot),
                     "busy", lifecycle_is_busy(shoot), "ca_stage", ca_stage_name(shoot->ca_stage), "spec",
                     shoot->spec, "shown", render_v2(sim, shoot));
}

void control_state(struct sim_exchange *x)
{
    json_t *shoots = json_array();
    json_t *bootstrapped = json_array();
    for (const struct sim_shoot *shoot = x->sim->shoots; shoot; shoot = shoot_next(shoot))
        (void)json_array_append_new(shoots, state_of(x->sim, shoot));
    for (void *at = json_object_iter(x->sim->bootstrapped); at;
         at = json_object_iter_next(x->sim->bootstrapped, at))
        json_array_append_new(bootstrapped, json_string(json_object_iter_key(at)));
    answer_json(x, 200,
                json_pack("{s:o, s:o, s:o}", "now", clock_json(clock_now_us(&x->sim->clock)), "bootstrapped",
                          bootstrapped, "shoots", shoots));
}

/* True when `given` has the same types as `model` at all levels. */
static bool has_shape(const json_t *model, const json_t *given)
{
    json_t *object = (json_t *)(uintptr_t)model; /* jansson's iterators take no const pointer */
    json_t *item;
    size_t i;
    if (json_is_null(model))
        return true;
    if (json_is_boolean(model))
        return json_is_boolean(given);
    if (json_typeof(model) != (given ? json_typeof(given) : JSON_NULL))
        return false;
    for (void *at = json_object_iter(object); at; at = json_object_iter_next(object, at))
        if (!has_shape(json_object_iter_value(at), json_object_get(given, json_object_iter_key(at))))
            return false;
    if (json_is_array(model) && json_array_size(model) > 0) {
        json_array_foreach (given, i, item)
            if (!has_shape(json_array_get(model, 0), item))
                return false;
    }
    return true;
}

/* Returns the spec of a state document. Absent members get the values of a prepared shoot. */
static json_t *state_spec(struct sim *sim, const char *name, const char *region, const json_t *given,
                          json_t *errors)
{
    json_t *body = seed_body(name);
    json_t *model = decode_create(sim, region, body, errors);
    json_t *spec = json_deep_copy(model);
    json_decref(body);
    if (spec && json_is_object(given))
        (void)json_object_update(spec, (json_t *)(uintptr_t)given);
    if (spec && !has_shape(model, spec)) {
        (void)json_array_append_new(errors,
                                    json_pack("{s:s, s:s}", "key", "spec", "value", "has the wrong shape"));
        json_decref(spec);
        spec = NULL;
    }
    json_decref(model);
    return spec;
}

/* Called when a shoot is replaced. The conditions that a test has set stay. When the spec has changed, the
 * time of the shoot's last operation is set to now; otherwise this time never goes back. */
static void carry_on(struct sim *sim, struct sim_shoot *shoot)
{
    const struct sim_shoot *before = shoot_find(sim->shoots, shoot->region, shoot->project, shoot->name);
    if (!before || strcmp(before->uid, shoot->uid) != 0)
        return;
    shoot->held = json_incref(before->held);
    if (!before->has_run || !shoot->has_run)
        return;
    if (!json_equal(before->spec, shoot->spec))
        shoot->run.changed_us = clock_now_us(&sim->clock);
    else if (shoot->run.changed_us < before->run.changed_us)
        shoot->run.changed_us = before->run.changed_us;
}

/* Returns NULL when the item is not valid, or `loaded` has its name already. */
static struct sim_shoot *load_shoot(struct sim *sim, const json_t *item, struct sim_shoot *loaded,
                                    json_t *errors)
{
    const char *name = text_or(json_object_get(item, "name"), "");
    const char *region =
        sim_region(sim, text_or(json_object_get(item, "region"), sim->options->regions[0]), false);
    const char *project =
        sim_project(sim, text_or(json_object_get(item, "project"), sim->options->projects[0]));
    const char *uid = text_or(json_object_get(item, "uid"), "");
    enum ca_stage stage = ca_stage_find(text_or(json_object_get(item, "ca_stage"), "NotInitiated"));
    struct sim_shoot *shoot;
    json_t *spec;
    if (!region || !project || stage == CA_STAGE_MAX_)
        return NULL;
    if (shoot_find(loaded, NULL, NULL, name)) {
        (void)json_array_append_new(errors, json_pack("{s:s, s:s}", "key", "name", "value", "occurs twice"));
        return NULL;
    }
    spec = state_spec(sim, name, region, json_object_get(item, "spec"), errors);
    if (!spec)
        return NULL;
    shoot = shoot_new(&sim->random, name, region, project, spec);
    shoot->created_us = clock_now_us(&sim->clock);
    shoot->ca_stage = stage;
    if (*uid)
        (void)snprintf(shoot->uid, sizeof(shoot->uid), "%s", uid);
    if (!set_condition(sim, shoot, text_or(json_object_get(item, "state"), "ready")))
        return shoot_free(shoot);
    carry_on(sim, shoot);
    return shoot;
}

static void load_bootstrapped(struct sim *sim, const json_t *list)
{
    json_t *key;
    size_t i;
    if (!json_is_array(list))
        return;
    (void)json_object_clear(sim->bootstrapped);
    json_array_foreach (list, i, key)
        if (json_is_string(key))
            (void)json_object_set_new(sim->bootstrapped, json_string_value(key), json_true());
}

void control_state_set(struct sim_exchange *x)
{
    const json_t *list = json_object_get(x->json, "shoots");
    json_t *errors = json_array();
    struct sim_shoot *loaded = NULL;
    json_t *item;
    size_t i;
    json_array_foreach (list, i, item) {
        struct sim_shoot *shoot = load_shoot(x->sim, item, loaded, errors);
        if (!shoot)
            break;
        shoot_add(&loaded, shoot);
    }
    if (!json_is_array(list) || i < json_array_size(list)) {
        shoot_remove_all(&loaded);
        answer_invalid(x, errors);
        return;
    }
    json_decref(errors);
    shoot_remove_all(&x->sim->shoots);
    x->sim->shoots = loaded;
    load_bootstrapped(x->sim, json_object_get(x->json, "bootstrapped"));
    control_state(x);
}

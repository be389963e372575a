/* Handles /_sim/shoots/{name}/conditions: a test sets conditions and constraints of a shoot. */
#include "simulator/control/orders.h"

#include "simulator/cloud/conditions.h"
#include "simulator/cloud/sim_shoot.h"
#include "simulator/cloud/sim.h"
#include "simulator/handlers/handlers.h"
#include "simulator/request/sim_exchange.h"

#include <stdio.h>
#include <string.h>

static const struct rule order_rules[] = {
    {"conditions", KIND_ARRAY, PATTERN_NONE, 0},
    {"constraints", KIND_ARRAY, PATTERN_NONE, 0},
};

static const struct rule item_rules[] = {
    {"type", KIND_STRING, PATTERN_NONE, RULE_REQUIRED},
    {"status", KIND_STRING, PATTERN_NONE, RULE_REQUIRED},
    {"reason", KIND_STRING, PATTERN_NONE, RULE_REQUIRED},
    {"message", KIND_STRING, PATTERN_NONE, RULE_REQUIRED},
    {"codes", KIND_ARRAY, PATTERN_NONE, 0},
};

static const json_t *find_type(const json_t *list, const json_t *type)
{
    const json_t *item;
    size_t i;
    json_array_foreach (list, i, item)
        if (json_equal(json_object_get(item, "type"), type))
            return item;
    return NULL;
}

static void check_item(json_t *errors, const json_t *list, size_t index, enum condition_group group)
{
    const json_t *item = json_array_get(list, index);
    const json_t *type = json_object_get(item, "type");
    const json_t *status = json_object_get(item, "status");
    char prefix[64];
    char key[80];
    (void)snprintf(prefix, sizeof(prefix), "%s[%zu]", condition_group_name(group), index);
    check_order(errors, prefix, item, RULES(item_rules));
    check_key(key, sizeof(key), prefix, "type");
    if (json_is_string(type))
        check_word(errors, key, json_string_value(type), condition_types[group]);
    if (json_is_string(type) && find_type(list, type) != item)
        check_fail(errors, key, "occurs twice");
    check_key(key, sizeof(key), prefix, "status");
    if (json_is_string(status))
        check_word(errors, key, json_string_value(status), condition_statuses);
    check_key(key, sizeof(key), prefix, "codes");
    control_check_codes(errors, key, json_object_get(item, "codes"));
}

static bool is_good_conditions(struct sim_exchange *x)
{
    json_t *errors = json_array();
    size_t count = 0;
    for (int group = 0; group < CONDITION_GROUP_MAX_; group++) {
        const json_t *list = json_object_get(x->json, condition_group_name((enum condition_group)group));
        for (size_t i = 0; i < json_array_size(list); i++)
            check_item(errors, list, i, (enum condition_group)group);
        count += json_array_size(list);
    }
    if (count == 0)
        check_fail(errors, "conditions", "needs an item, or constraints needs one");
    return !control_refuse_faults(x, errors);
}

/* Returns those of the group that are set, with their times. */
static json_t *render_held(const struct sim_shoot *shoot, enum condition_group group)
{
    json_t *list = json_array();
    json_t *item;
    size_t i;
    conditions_put_held(shoot, group, list);
    json_array_foreach (list, i, item) {
        struct condition_times times = {.since_us = 0};
        conditions_times(shoot, json_string_value(json_object_get(item, "type")), &times);
        (void)json_object_set_new(item, "last_transition_time", clock_json(times.since_us));
        (void)json_object_set_new(item, "last_update_time", clock_json(times.updated_us));
    }
    return list;
}

static void answer_held(struct sim_exchange *x, const struct sim_shoot *shoot)
{
    answer_json(x, 200,
                json_pack("{s:o, s:o}", "conditions", render_held(shoot, CONDITIONS), "constraints",
                          render_held(shoot, CONSTRAINTS)));
}

void control_conditions(struct sim_exchange *x)
{
    const struct sim_shoot *shoot = control_shoot(x);
    if (shoot)
        answer_held(x, shoot);
}

static void hold_all(struct sim_exchange *x, struct sim_shoot *shoot)
{
    int64_t now_us = clock_now_us(&x->sim->clock);
    json_t *shown = status_object(shoot, now_us, x->sim->settings.hibernation_blocked);
    int64_t changed_us = shown ? status_changed_us(shoot, now_us) : now_us;
    for (int group = 0; group < CONDITION_GROUP_MAX_; group++) {
        const char *name = condition_group_name((enum condition_group)group);
        const json_t *before = json_object_get(shown, name);
        const json_t *item;
        size_t i;
        json_array_foreach (json_object_get(x->json, name), i, item)
            conditions_hold(shoot, item, find_type(before, json_object_get(item, "type")),
                            (struct condition_times){.since_us = changed_us, .updated_us = changed_us},
                            now_us);
    }
    json_decref(shown);
}

void control_conditions_set(struct sim_exchange *x)
{
    struct sim_shoot *shoot = control_shoot(x);
    if (!shoot || !control_is_good(x, RULES(order_rules)) || !is_good_conditions(x))
        return;
    hold_all(x, shoot);
    answer_held(x, shoot);
}

void control_conditions_clear(struct sim_exchange *x)
{
    struct sim_shoot *shoot = control_shoot(x);
    if (!shoot)
        return;
    for (int group = 0; group < CONDITION_GROUP_MAX_; group++)
        for (const char *const *type = condition_types[group]; *type; type++)
            (void)conditions_release(shoot, *type, clock_now_us(&x->sim->clock));
    answer_empty(x, 204);
}

void control_condition_clear(struct sim_exchange *x)
{
    struct sim_shoot *shoot = control_shoot(x);
    if (!shoot)
        return;
    if (conditions_release(shoot, x->params[PARAM_ID], clock_now_us(&x->sim->clock)))
        answer_empty(x, 204);
    else
        answer_error(x, 404, "No condition or constraint of this type is set");
}

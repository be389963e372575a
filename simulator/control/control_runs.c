/* Handles a part of /_sim/: the outcome of runs, of the next ones and of one that is imposed on a shoot. */
#include "simulator/control/orders.h"

#include "base/attrs.h"
#include "base/mem.h"
#include "simulator/cloud/conditions.h"
#include "simulator/cloud/sim_shoot.h"
#include "simulator/cloud/sim.h"
#include "simulator/handlers/handlers.h"
#include "simulator/request/sim_exchange.h"

#include <stdio.h>
#include <string.h>

#define HEAL_SECONDS_MAX 1e9

static const char *const outcomes[OUTCOME_MAX_ + 1] = {[OUTCOME_SUCCESS] = "success",
                                                       [OUTCOME_FAILED] = "failed",
                                                       [OUTCOME_ERROR_HEALS] = "error_heals",
                                                       [OUTCOME_HANG] = "hang"};

/* The first two members are only for runs that begin later. */
static const struct rule script_rules[] = {
    {"shoot", KIND_STRING, PATTERN_NONE, 0},        {"count", KIND_INTEGER, PATTERN_NONE, 0},
    {"operation", KIND_STRING, PATTERN_NONE, 0},    {"outcome", KIND_STRING, PATTERN_NONE, RULE_REQUIRED},
    {"at_progress", KIND_INTEGER, PATTERN_NONE, 0}, {"codes", KIND_ARRAY, PATTERN_NONE, 0},
    {"description", KIND_STRING, PATTERN_NONE, 0},  {"heal_after_seconds", KIND_NUMBER, PATTERN_NONE, 0},
    {"errors", KIND_ARRAY, PATTERN_NONE, 0},
};

#define NEXT_RULES RULES(script_rules)
#define RUN_RULES  script_rules + 2, ARRAY_LEN(script_rules) - 2

static const struct rule error_rules[] = {
    {"description", KIND_STRING, PATTERN_NONE, RULE_REQUIRED},
    {"task_id", KIND_STRING, PATTERN_NONE, 0},
    {"codes", KIND_ARRAY, PATTERN_NONE, 0},
};

static const char *text_of(const json_t *order, const char *name, const char *otherwise)
{
    const json_t *value = json_object_get(order, name);
    return value ? json_string_value(value) : otherwise;
}

static void check_range(json_t *errors, const json_t *order, const char *name, double most, const char *words)
{
    const json_t *value = json_object_get(order, name);
    if (value && (json_number_value(value) < 0 || json_number_value(value) > most))
        check_fail(errors, name, words);
}

static void check_operation(json_t *errors, const char *name, bool any)
{
    const char *words[RUN_KIND_MAX_ + 2] = {NULL};
    size_t count = 0;
    if (any)
        words[count++] = "*";
    for (int kind = 0; kind < RUN_KIND_MAX_; kind++)
        words[count++] = run_kind_name((enum run_kind)kind);
    check_word(errors, "operation", name, words);
}

static void check_errors(json_t *errors, const json_t *order)
{
    const json_t *list = json_object_get(order, "errors");
    const json_t *error;
    size_t i;
    if (list && json_object_get(order, "codes"))
        check_fail(errors, "codes", "belongs into the items of errors");
    json_array_foreach (list, i, error) {
        char key[64];
        char codes[80];
        (void)snprintf(key, sizeof(key), "errors[%zu]", i);
        check_order(errors, key, error, RULES(error_rules));
        check_key(codes, sizeof(codes), key, "codes");
        control_check_codes(errors, codes, json_object_get(error, "codes"));
    }
}

/* Checks the values of an order whose members have the right types. */
static bool is_good_script(struct sim_exchange *x, const char *operation, bool any)
{
    json_t *errors = json_array();
    check_operation(errors, operation, any);
    check_word(errors, "outcome", text_of(x->json, "outcome", ""), outcomes);
    check_range(errors, x->json, "at_progress", 99, "must be from 0 to 99");
    check_range(errors, x->json, "heal_after_seconds", HEAL_SECONDS_MAX, "must be from 0 to 1e9");
    check_range(errors, x->json, "count", HEAL_SECONDS_MAX, "must be from 0 to 1e9");
    control_check_codes(errors, "codes", json_object_get(x->json, "codes"));
    check_errors(errors, x->json);
    return !control_refuse_faults(x, errors);
}

static enum run_outcome find_outcome(const char *name)
{
    int i = 0;
    while (i < OUTCOME_MAX_ - 1 && strcmp(outcomes[i], name) != 0)
        i++;
    return (enum run_outcome)i;
}

static json_t *make_error(const char *description, const char *task_id, json_t *codes)
{
    return json_pack("{s:s, s:s, s:o}", "task_id", task_id, "description", description, "codes",
                     codes ? json_deep_copy(codes) : json_array());
}

/* Returns the errors that the run will show. A run that hangs has none, unless the order names one. */
static json_t *make_errors(const json_t *order, enum run_outcome outcome)
{
    json_t *codes = json_object_get(order, "codes");
    const char *description = text_of(order, "description", NULL);
    json_t *list = json_array();
    const json_t *error;
    size_t i;
    json_array_foreach (json_object_get(order, "errors"), i, error)
        (void)json_array_append_new(list, make_error(text_of(error, "description", ""),
                                                     text_of(error, "task_id", RUN_TASK_ID),
                                                     json_object_get(error, "codes")));
    if (!json_object_get(order, "errors") && (outcome != OUTCOME_HANG || codes || description))
        (void)json_array_append_new(
            list, make_error(description ? description : "Simulated failure", RUN_TASK_ID, codes));
    return list;
}

static struct script *make_script(const json_t *order, const char *operation)
{
    struct script *script = mem_calloc(1, sizeof(*script));
    const json_t *progress = json_object_get(order, "at_progress");
    const json_t *heal = json_object_get(order, "heal_after_seconds");
    const json_t *count = json_object_get(order, "count");
    const char *shoot = text_of(order, "shoot", "*");
    script->outcome = find_outcome(text_of(order, "outcome", ""));
    script->type = !strcmp(operation, "reconcile") ? RUN_TYPE_RECONCILE : RUN_TYPE_MAX_;
    script->kind = script->type == RUN_TYPE_RECONCILE ? RUN_KIND_INVALID : run_kind_find(operation);
    script->shoot = !strcmp(shoot, "*") ? NULL : mem_strdup(shoot);
    script->at_progress = progress ? (int)json_integer_value(progress) : 50;
    script->heal_seconds = heal ? json_number_value(heal) : 60;
    script->count = count ? json_integer_value(count) : 1;
    script->errors = make_errors(order, script->outcome);
    script->description = mem_strdup(text_of(order, "description", NULL));
    return script;
}

void control_lifecycle(struct sim_exchange *x)
{
    const char *operation;
    if (!control_is_good(x, NEXT_RULES))
        return;
    operation = text_of(x->json, "operation", "*");
    if (!is_good_script(x, operation, true))
        return;
    lifecycle_take_script(x->sim, make_script(x->json, operation));
    answer_json(x, 201, json_pack("{s:b}", "ok", 1));
}

void control_lifecycle_clear(struct sim_exchange *x)
{
    lifecycle_clear_scripts(x->sim);
    answer_empty(x, 204);
}

void control_run(struct sim_exchange *x)
{
    struct sim_shoot *shoot = control_shoot(x);
    const char *operation;
    struct script *script;
    if (!shoot || !control_is_good(x, RUN_RULES))
        return;
    operation = text_of(x->json, "operation", "reconcile");
    if (!is_good_script(x, operation, false))
        return;
    if (shoot->deleting && run_kind_find(operation) != RUN_DELETE) {
        answer_invalid(x, json_pack("[{s:s, s:s}]", "key", "operation", "value",
                                    "must be delete: the shoot is being deleted"));
        return;
    }
    script = make_script(x->json, operation);
    lifecycle_impose(x->sim, shoot, run_kind_find(operation), script);
    lifecycle_free_script(script);
    answer_json(
        x, 200,
        json_pack("{s:o}", "last_operation", status_last_operation(shoot, clock_now_us(&x->sim->clock))));
}

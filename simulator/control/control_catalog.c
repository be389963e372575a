/* Handles /_sim/catalog: tests add machine types and zones to the cloud profile. */
#include "simulator/cloud/sim_catalog.h"
#include "simulator/cloud/check.h"
#include "simulator/request/sim_exchange.h"
#include "simulator/handlers/handlers.h"
#include "simulator/cloud/sim.h"

#include <stdio.h>
#include <string.h>

static const struct rule change_rules[] = {
    {"machine_types", KIND_ARRAY, PATTERN_NONE, 0},
    {"zones", KIND_OBJECT, PATTERN_NONE, 0},
};

static const struct rule type_rules[] = {
    {"name", KIND_STRING, PATTERN_TEXT, RULE_REQUIRED},  {"cpu", KIND_INTEGER, PATTERN_NONE, RULE_REQUIRED},
    {"gpu", KIND_INTEGER, PATTERN_NONE, RULE_REQUIRED},  {"memory", KIND_STRING, PATTERN_GIB, RULE_REQUIRED},
    {"architecture", KIND_STRING, PATTERN_DNS_LABEL, 0}, {"usable", KIND_BOOLEAN, PATTERN_NONE, 0},
};

static void check_count(json_t *errors, const char *prefix, const json_t *type, const char *name)
{
    char key[64];
    if (json_integer_value(json_object_get(type, name)) >= 0)
        return;
    check_key(key, sizeof(key), prefix, name);
    check_fail(errors, key, "must not be negative");
}

/* Adds a type, or replaces the type with the same name. */
static void put_type(json_t *types, const json_t *given)
{
    json_t *type = json_pack("{s:s, s:b}", "architecture", "amd64", "usable", 1);
    json_t *other;
    size_t i;
    (void)json_object_update(type, (json_t *)(uintptr_t)given);
    json_array_foreach (types, i, other) {
        if (json_equal(json_object_get(other, "name"), json_object_get(given, "name"))) {
            (void)json_array_set_new(types, i, type);
            return;
        }
    }
    (void)json_array_append_new(types, type);
}

static void put_types(json_t *catalog, const json_t *list, json_t *errors)
{
    json_t *type;
    size_t i;
    json_array_foreach (list, i, type) {
        size_t before = json_array_size(errors);
        char key[64];
        (void)snprintf(key, sizeof(key), "machine_types[%zu]", i);
        check_members(errors, key, type, RULES(type_rules));
        check_count(errors, key, type, "cpu");
        check_count(errors, key, type, "gpu");
        if (json_array_size(errors) == before)
            put_type(json_object_get(catalog, "machine_types"), type);
    }
}

/* Returns the zones; NULL when there is no name, or when an item is not a name. */
static json_t *control_make_zones(const json_t *names)
{
    json_t *zones = json_array();
    json_t *name;
    size_t i;
    json_array_foreach (names, i, name)
        if (json_is_string(name) && json_string_length(name) > 0)
            (void)json_array_append_new(zones, json_pack("{s:O}", "name", name));
    if (json_array_size(zones) > 0 && json_array_size(zones) == json_array_size(names))
        return zones;
    json_decref(zones);
    return NULL;
}

static json_t *find_region(const json_t *catalog, const char *tag)
{
    json_t *region;
    size_t i;
    json_array_foreach (json_object_get(catalog, "regions"), i, region)
        if (!strcmp(json_string_value(json_object_get(region, "name")), tag))
            return region;
    return NULL;
}

static void put_zones(json_t *catalog, const json_t *zones, json_t *errors)
{
    json_t *object = (json_t *)(uintptr_t)zones; /* jansson's iterators take no const pointer */
    for (void *at = json_object_iter(object); at; at = json_object_iter_next(object, at)) {
        json_t *region = find_region(catalog, json_object_iter_key(at));
        json_t *list = control_make_zones(json_object_iter_value(at));
        char key[160];
        check_key(key, sizeof(key), "zones", json_object_iter_key(at));
        if (!region)
            check_fail(errors, key, "is not a region of the simulator");
        else if (!list)
            check_fail(errors, key, "must be an array of one name or more");
        else
            (void)json_object_set(region, "zones", list);
        json_decref(list);
    }
}

void control_catalog(struct sim_exchange *x)
{
    answer_json(x, 200, json_incref(x->sim->catalog));
}

void control_catalog_change(struct sim_exchange *x)
{
    json_t *changed = json_deep_copy(x->sim->catalog);
    json_t *errors = json_array();
    check_order(errors, "", x->json, RULES(change_rules));
    put_types(changed, json_object_get(x->json, "machine_types"), errors);
    put_zones(changed, json_object_get(x->json, "zones"), errors);
    if (json_array_size(errors) > 0) {
        json_decref(changed);
        answer_invalid(x, errors);
        return;
    }
    json_decref(errors);
    json_decref(x->sim->catalog);
    x->sim->catalog = changed;
    control_catalog(x);
}

/* Reads the worker groups of requests. */
#include "simulator/wire/wire.h"

#include "base/attrs.h"
#include "simulator/cloud/sim_catalog.h"
#include "simulator/cloud/check.h"
#include "simulator/cloud/sim_shoot.h"
#include "simulator/cloud/sim.h"

#include <stdio.h>
#include <string.h>

#define WORKER_NAME_LONGEST 15
#define VOLUME_DEFAULT      "50Gi"

static const struct rule worker_rules[] = {
    {"name", KIND_STRING, PATTERN_WORKER, RULE_NULLABLE},
    {"machine", KIND_OBJECT, PATTERN_NONE, RULE_REQUIRED},
    {"volume_size", KIND_STRING, PATTERN_SIZE, RULE_NULLABLE},
    {"minimum", KIND_INTEGER, PATTERN_NONE, RULE_NULLABLE},
    {"maximum", KIND_INTEGER, PATTERN_NONE, RULE_NULLABLE},
    {"max_surge", KIND_INTEGER, PATTERN_NONE, RULE_NULLABLE},
    {"zones", KIND_ARRAY, PATTERN_NONE, RULE_NULLABLE},
    {"labels", KIND_ARRAY, PATTERN_NONE, RULE_NULLABLE},
    {"annotations", KIND_ARRAY, PATTERN_NONE, RULE_NULLABLE},
    {"taints", KIND_ARRAY, PATTERN_NONE, RULE_NULLABLE},
};

static const struct rule change_rules[] = {
    {"name", KIND_STRING, PATTERN_WORKER, 0},
    {"machine", KIND_OBJECT, PATTERN_NONE, RULE_NULLABLE},
    {"volume_size", KIND_STRING, PATTERN_SIZE, RULE_NULLABLE},
    {"minimum", KIND_INTEGER, PATTERN_NONE, 0},
    {"maximum", KIND_INTEGER, PATTERN_NONE, 0},
    {"max_surge", KIND_INTEGER, PATTERN_NONE, 0},
    {"zones", KIND_ARRAY, PATTERN_NONE, RULE_NULLABLE},
    {"labels", KIND_ARRAY, PATTERN_NONE, RULE_NULLABLE},
    {"annotations", KIND_ARRAY, PATTERN_NONE, RULE_NULLABLE},
    {"taints", KIND_ARRAY, PATTERN_NONE, RULE_NULLABLE},
};

static const struct rule machine_rules[] = {
    {"type", KIND_STRING, PATTERN_TEXT, RULE_NULLABLE},
    {"image_version", KIND_STRING, PATTERN_VERSION, RULE_NULLABLE},
    {"image_name", KIND_STRING, PATTERN_TEXT, RULE_NULLABLE},
};

static const struct rule pair_rules[] = {
    {"key", KIND_STRING, PATTERN_NONE, RULE_REQUIRED},
    {"value", KIND_STRING, PATTERN_NONE, RULE_REQUIRED},
};

static const struct rule taint_rules[] = {
    {"key", KIND_STRING, PATTERN_NONE, RULE_REQUIRED},
    {"effect", KIND_STRING, PATTERN_NONE, RULE_REQUIRED},
    {"value", KIND_STRING, PATTERN_NONE, RULE_NULLABLE},
};

static void check_each(json_t *errors, const char *prefix, const char *name, const json_t *list,
                       const struct rule *rules, size_t count)
{
    json_t *item;
    size_t i;
    json_array_foreach (list, i, item) {
        char key[160];
        (void)snprintf(key, sizeof(key), "%s%s%s[%zu]", prefix, *prefix ? "." : "", name, i);
        check_members(errors, key, item, rules, count);
    }
}

static void check_taints(json_t *errors, const char *prefix, const json_t *taints)
{
    static const char *const effects[] = {"NoSchedule", "NoExecute", "PreferNoSchedule"};
    json_t *taint;
    size_t i;
    check_each(errors, prefix, "taints", taints, RULES(taint_rules));
    json_array_foreach (taints, i, taint) {
        const char *effect = json_string_value(json_object_get(taint, "effect"));
        bool known = !effect;
        for (size_t e = 0; !known && e < 3; e++)
            known = !strcmp(effect, effects[e]);
        if (!known)
            check_fail(errors, "taints.effect", "is not one of the known values");
    }
}

static void fail_member(json_t *errors, const char *prefix, const char *name, const char *reason)
{
    char key[160];
    if (!reason)
        return;
    check_key(key, sizeof(key), prefix, name);
    check_fail(errors, key, reason);
}

/* Returns the worker in v2 form. The values of the request replace the values of `base`. */
static json_t *merge_worker(const json_t *base, const json_t *body)
{
    static const char *const plain[] = {"minimum", "maximum", "max_surge", "zones", "labels", "annotations"};
    json_t *worker = json_deep_copy(base);
    json_t *machine = json_object_get(worker, "machine");
    json_t *asked = json_object_get(body, "machine");
    json_t *size = json_object_get(body, "volume_size");
    json_t *taint;
    size_t t;
    for (size_t i = 0; i < ARRAY_LEN(plain); i++) {
        json_t *value = json_object_get(body, plain[i]);
        if (value && !json_is_null(value))
            (void)json_object_set(worker, plain[i], value);
    }
    if (json_is_string(json_object_get(asked, "type")))
        (void)json_object_set(machine, "type", json_object_get(asked, "type"));
    if (json_is_string(json_object_get(asked, "image_name")))
        (void)json_object_set(json_object_get(machine, "image"), "name",
                              json_object_get(asked, "image_name"));
    if (json_is_string(json_object_get(asked, "image_version")))
        (void)json_object_set(json_object_get(machine, "image"), "version",
                              json_object_get(asked, "image_version"));
    if (json_is_string(size))
        (void)json_object_set(json_object_get(worker, "volume"), "size", size);
    if (json_is_array(json_object_get(body, "taints")))
        (void)json_object_set_new(worker, "taints", json_deep_copy(json_object_get(body, "taints")));
    json_array_foreach (json_object_get(worker, "taints"), t, taint)
        if (!json_is_string(json_object_get(taint, "value")))
            (void)json_object_set_new(taint, "value", json_string(""));
    return worker;
}

static void check_sizes(json_t *errors, const char *prefix, const json_t *worker)
{
    json_int_t minimum = json_integer_value(json_object_get(worker, "minimum"));
    json_int_t maximum = json_integer_value(json_object_get(worker, "maximum"));
    if (minimum < 0)
        fail_member(errors, prefix, "minimum", "must not be negative");
    if (maximum < minimum)
        fail_member(errors, prefix, "maximum", "must not be lower than minimum");
    if (json_integer_value(json_object_get(worker, "max_surge")) < 1)
        fail_member(errors, prefix, "max_surge", "must be at least 1");
    if (!check_pattern(PATTERN_GIB,
                       json_string_value(json_object_get(json_object_get(worker, "volume"), "size"))))
        fail_member(errors, prefix, "volume_size", "must be a number of Gi");
}

static void check_offers(struct sim *sim, json_t *errors, const char *prefix, const char *region,
                         const json_t *worker, const json_t *before)
{
    const json_t *machine = json_object_get(worker, "machine");
    const json_t *image = json_object_get(machine, "image");
    json_t *zone;
    size_t i;
    fail_member(errors, prefix, "machine.type",
                catalog_refuse_machine(sim->catalog, json_string_value(json_object_get(machine, "type"))));
    if (!json_equal(image, json_object_get(json_object_get(before, "machine"), "image")))
        fail_member(errors, prefix, "machine.image_version",
                    catalog_refuse_image(sim->catalog, json_string_value(json_object_get(image, "name")),
                                         json_string_value(json_object_get(image, "version")),
                                         clock_now_us(&sim->clock)));
    if (json_array_size(json_object_get(worker, "zones")) == 0)
        fail_member(errors, prefix, "zones", "must have at least one zone");
    json_array_foreach (json_object_get(worker, "zones"), i, zone)
        fail_member(errors, prefix, "zones",
                    json_is_string(zone) ? catalog_refuse_zone(sim->catalog, region, json_string_value(zone))
                                         : "must be strings");
}

static void check_parts(json_t *errors, const char *prefix, const json_t *body)
{
    char key[160];
    check_key(key, sizeof(key), prefix, "machine");
    if (json_is_object(json_object_get(body, "machine")))
        check_members(errors, key, json_object_get(body, "machine"), RULES(machine_rules));
    check_each(errors, prefix, "labels", json_object_get(body, "labels"), RULES(pair_rules));
    check_each(errors, prefix, "annotations", json_object_get(body, "annotations"), RULES(pair_rules));
    check_taints(errors, prefix, json_object_get(body, "taints"));
}

static void check_worker_name(json_t *errors, const char *prefix, const char *name)
{
    if (!name)
        return;
    if (strlen(name) > WORKER_NAME_LONGEST)
        fail_member(errors, prefix, "name", "must have at most 15 characters");
    else if (!check_pattern(PATTERN_DNS_LABEL, name))
        fail_member(errors, prefix, "name", "must be a lower case DNS label");
}

static json_t *blank_worker(struct sim *sim, const char *region, const json_t *body)
{
    const char *given = json_string_value(json_object_get(body, "name"));
    json_t *maximum = json_object_get(body, "maximum");
    json_t *minimum = json_object_get(body, "minimum");
    json_int_t low = json_is_integer(minimum) ? json_integer_value(minimum) : 3;
    char made[7];
    if (!json_is_integer(minimum) && json_is_integer(maximum) && json_integer_value(maximum) < low)
        low = json_integer_value(maximum);
    random_text(&sim->random, "0123456789abcdef", made, sizeof(made));
    return json_pack("{s:s, s:{s:s, s:s, s:{s:s, s:s}}, s:I, s:I, s:i, s:i, s:{s:s}, s:o, s:[], s:[], s:[]}",
                     "name", given != NULL ? given : made, "machine", "type",
                     catalog_default_machine(sim->catalog), "architecture", "amd64", "image", "name",
                     "gardenlinux", "version", catalog_default_image(sim->catalog), "minimum", low, "maximum",
                     low > 5 ? low : 5, "max_surge", 1, "max_unavailable", 0, "volume", "size",
                     VOLUME_DEFAULT, "zones", catalog_default_zones(sim->catalog, region), "labels",
                     "annotations", "taints");
}

json_t *decode_worker(struct sim *sim, const char *region, const json_t *body, const char *prefix,
                      json_t *errors)
{
    size_t before = json_array_size(errors);
    json_t *blank;
    json_t *worker;
    check_members(errors, prefix, body, RULES(worker_rules));
    check_parts(errors, prefix, body);
    check_worker_name(errors, prefix, json_string_value(json_object_get(body, "name")));
    if (json_array_size(errors) > before)
        return NULL;
    blank = blank_worker(sim, region, body);
    worker = merge_worker(blank, body);
    json_decref(blank);
    check_sizes(errors, prefix, worker);
    check_offers(sim, errors, prefix, region, worker, NULL);
    if (json_array_size(errors) == before)
        return worker;
    json_decref(worker);
    return NULL;
}

/* Gardener makes new nodes when machine, image or volume change. */
static enum run_kind kind_of_change(const json_t *before, const json_t *after)
{
    bool same = json_equal(json_object_get(before, "machine"), json_object_get(after, "machine")) &&
                json_equal(json_object_get(before, "volume"), json_object_get(after, "volume"));
    return same ? RUN_SCALE : RUN_ROLL;
}

static void check_zones_kept(json_t *errors, const json_t *before, const json_t *after)
{
    const json_t *old = json_object_get(before, "zones");
    json_t *zone;
    size_t i;
    json_array_foreach (old, i, zone) {
        if (!json_equal(zone, json_array_get(json_object_get(after, "zones"), i))) {
            check_fail(errors, "zones", "may be appended only");
            return;
        }
    }
}

json_t *decode_worker_change(struct sim *sim, const struct sim_shoot *shoot, const json_t *worker,
                             const json_t *body, json_t *errors, enum run_kind *ret_kind)
{
    const json_t *name = json_object_get(body, "name");
    json_t *changed;
    check_members(errors, "", body, RULES(change_rules));
    check_parts(errors, "", body);
    if (json_is_string(name) && !json_equal(name, json_object_get(worker, "name")))
        check_fail(errors, "name", "cannot be changed");
    if (json_array_size(errors) > 0)
        return NULL;
    changed = merge_worker(worker, body);
    check_sizes(errors, "", changed);
    check_offers(sim, errors, "", shoot->region, changed, worker);
    check_zones_kept(errors, worker, changed);
    *ret_kind = kind_of_change(worker, changed);
    if (json_array_size(errors) == 0)
        return changed;
    json_decref(changed);
    return NULL;
}

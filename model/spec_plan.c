/*
 * Plans the calls that lead to a desired spec, one change per step (CL-17). The cluster comes first, then its
 * pools: first the pools to change, then the pools to create, then the pools to remove. A step stores the
 * wanted state. The body to send is made when the step's turn comes, from the state at that time.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/mem.h"
#include "model/spec_check_private.h"

/* The members that Cleura can change in one call on an existing cluster. */
static const char *const cluster_members[] = {"kubernetes_version",    "allowed_cidrs",
                                              "hibernation_schedules", "maintenance",
                                              "high_availability",     "networking"};

/* `rolls` is the reason why nodes are replaced one by one, NULL when they are not. */
static void plan_add_step(json_t *plan, enum step_type type, const char *target, json_t *want,
                          const char *rolls)
{
    json_t *step = json_object();
    json_set_str(step, "type", step_type_name(type));
    json_set_str(step, "target", target);
    json_set_take(step, "want", want);
    json_set_bool(step, "rolls_nodes", rolls != NULL);
    json_set_str(step, "reason", rolls);
    json_append_take(plan, step);
}

static const char *cluster_rolls(const json_t *want, const json_t *observed)
{
    const char *reason;
    (void)spec_change_rolls_nodes(NULL, json_array_get(json_arr(observed, "node_pools"), 0),
                                  json_str(want, "kubernetes_version"),
                                  json_str(observed, "kubernetes_version"), &reason);
    return reason;
}

static const char *pool_rolls(const json_t *want, const json_t *observed)
{
    const char *reason;
    (void)spec_change_rolls_nodes(want, observed, NULL, NULL, &reason);
    return reason;
}

static bool member_is_met(const char *member, const json_t *wanted, const json_t *observed)
{
    json_t *differences CLEANUP_JSON = json_array();
    json_t *one CLEANUP_JSON = json_object();
    (void)json_object_set(one, member, (json_t *)(uintptr_t)wanted);
    return spec_differences(one, observed, SPEC_UNKNOWN_DIFFERS, differences) == 0;
}

/* Returns the part of a member that can be changed. In `networking` this part contains only cilium's
 * settings; an earlier check has found the other members equal. */
static json_t *changeable(const char *member, json_t *wanted)
{
    if (strcmp(member, "networking") != 0)
        return json_incref(wanted);
    json_t *cilium = json_obj(wanted, "cilium");
    return cilium ? json_pack("{sO}", "cilium", cilium) : NULL;
}

static void plan_cluster(json_t *plan, const json_t *spec, const json_t *observed)
{
    json_t *want CLEANUP_JSON = json_object();
    for (size_t i = 0; i < ARRAY_LEN(cluster_members); i++) {
        json_t *wanted = json_object_get(spec, cluster_members[i]);
        json_t *part CLEANUP_JSON =
            wanted && !json_is_null(wanted) ? changeable(cluster_members[i], wanted) : NULL;
        if (part && !member_is_met(cluster_members[i], part, observed))
            (void)json_object_set(want, cluster_members[i], part);
    }
    if (json_object_size(want))
        plan_add_step(plan, STEP_PATCH_CLUSTER, "", json_deep_copy(want), cluster_rolls(want, observed));
}

static const char *pool_name_of(const json_t *wanted_pools, const json_t *pool, const json_t *there)
{
    const char *name = json_str(pool, "name");
    return name ? name : json_str(spec_pool_there(wanted_pools, pool, there), "name");
}

static bool pool_is_wanted(const json_t *pools, const json_t *there, const char *name)
{
    size_t i;
    json_t *pool;
    json_array_foreach (pools, i, pool) {
        const char *wanted = pool_name_of(pools, pool, there);
        if (wanted && !strcmp(wanted, name))
            return true;
    }
    return false;
}

/* Returns the wanted pool. When the pool already has the wanted image in any version, the image is left out,
 * because a newer version would replace the nodes. */
static json_t *pool_want(const json_t *pool, const json_t *found)
{
    json_t *want = json_deep_copy(pool), *image = json_obj(want, "image");
    json_t *one CLEANUP_JSON = image ? json_pack("{sO}", "image", image) : NULL;
    if (one && found && !json_str(image, "version") && spec_pool_is_met(one, found, SPEC_UNKNOWN_DIFFERS))
        (void)json_object_del(want, "image");
    return want;
}

static void plan_pools(json_t *plan, const json_t *pools, const json_t *there,
                       const struct spec_context *context)
{
    const bool known = spec_pools_are_known(there);
    size_t i;
    json_t *pool;
    json_array_foreach (pools, i, pool) {
        const char *name = pool_name_of(pools, pool, there);
        const json_t *found = name ? spec_find_named(there, name) : NULL;
        const bool may_be_unseen = name && !found && !known;
        if (may_be_unseen || (found && !spec_pool_is_met(pool, found, SPEC_UNKNOWN_DIFFERS)))
            plan_add_step(plan, STEP_UPDATE_POOL, name, pool_want(pool, found), pool_rolls(pool, found));
    }
    json_array_foreach (pools, i, pool) {
        const char *name = pool_name_of(pools, pool, there);
        if (!known || (name && spec_find_named(there, name)))
            continue;
        json_t *resolved = spec_resolve_pool(pool, context);
        plan_add_step(plan, STEP_CREATE_POOL, json_str(resolved, "name"), resolved, NULL);
    }
    json_array_foreach (there, i, pool) {
        const char *name = json_str(pool, "name");
        if (name && !pool_is_wanted(pools, there, name))
            plan_add_step(plan, STEP_DELETE_POOL, name, NULL, NULL);
    }
}

json_t *spec_plan(const json_t *spec, const json_t *observed, const struct spec_context *context)
{
    json_t *plan = json_array();
    plan_cluster(plan, spec, observed);
    if (json_arr(spec, "node_pools"))
        plan_pools(plan, json_arr(spec, "node_pools"), json_arr(observed, "node_pools"), context);
    return plan;
}

bool spec_step_is_met(enum step_type type, const char *target, const json_t *want, const json_t *observed,
                      enum spec_unknown unknown)
{
    if (type == STEP_PATCH_CLUSTER) {
        json_t *differences CLEANUP_JSON = json_array();
        return spec_differences(want, observed, unknown, differences) == 0;
    }
    assert(type == STEP_CREATE_POOL || type == STEP_UPDATE_POOL || type == STEP_DELETE_POOL);
    const json_t *pools = json_arr(observed, "node_pools"), *pool = spec_find_named(pools, target);
    if (!pool && !spec_pools_are_known(pools))
        return unknown == SPEC_UNKNOWN_AGREES;
    if (type == STEP_DELETE_POOL)
        return !pool;
    return pool && spec_pool_is_met(want, pool, unknown);
}

/* Cleura requires both ends of the window together, and both switches together. */
static json_t *maintenance_body(const json_t *want, const json_t *there)
{
    static const char *const groups[][2] = {{"begin", "end"},
                                            {"auto_update_kubernetes", "auto_update_machine_image"}};
    json_t *body = json_object();
    for (size_t g = 0; g < ARRAY_LEN(groups); g++) {
        bool changes = false;
        for (size_t i = 0; i < 2; i++) {
            const json_t *value = json_object_get(want, groups[g][i]);
            changes |= value && !json_equal(value, json_object_get(there, groups[g][i]));
        }
        for (size_t i = 0; changes && i < 2; i++) {
            json_t *value = json_object_get(want, groups[g][i]);
            (void)json_object_set(body, groups[g][i], value ? value : json_object_get(there, groups[g][i]));
        }
    }
    return body;
}

static json_t *networking_body(const json_t *want, const json_t *there)
{
    json_t *cilium = json_deep_copy(json_obj(there, "cilium"));
    if (!cilium)
        cilium = json_object();
    (void)json_object_update(cilium, json_obj(want, "cilium"));
    json_t *body = json_object();
    json_set_take(body, "cilium", cilium);
    return body;
}

static json_t *cluster_body(const json_t *want, const json_t *observed, const struct spec_context *context)
{
    json_t *body = json_object();
    const char *member;
    json_t *value;
    json_object_foreach ((json_t *)(uintptr_t)want, member, value) {
        const json_t *there = json_object_get(observed, member);
        if (member_is_met(member, value, observed))
            continue;
        if (!strcmp(member, "kubernetes_version")) {
            const char *version = spec_resolve_version(json_string_value(value), context);
            json_set_str(body, member, version ? version : json_string_value(value));
        } else if (!strcmp(member, "maintenance")) {
            json_set_take(body, member, maintenance_body(value, there));
        } else if (!strcmp(member, "networking")) {
            json_set_take(body, member, networking_body(value, there));
        } else {
            json_set_take(body, member, json_deep_copy(value));
        }
    }
    return body;
}

/*
 * A different image without a version gets its newest version, not the version of the old image. The same
 * image in an unreadable version stays: no image is sent, unless the machine type changes and replaces the
 * nodes anyway.
 */
static json_t *image_body(const json_t *image, const json_t *there, bool new_type,
                          const struct spec_context *context)
{
    const json_t *old = json_obj(there, "image");
    const char *name = json_str_or(image, "name", json_str(old, "name")),
               *version = json_str(image, "version"), *old_name = json_str(old, "name");
    const bool same = old_name && name && !strcmp(name, old_name);
    json_t *named CLEANUP_JSON = name ? json_pack("{s{ss}}", "image", "name", name) : NULL;
    json_t *resolved CLEANUP_JSON = spec_resolve_pool(named, context);
    const json_t *newest = json_obj(resolved, "image");
    json_t *body = json_object();
    if (!version && same)
        version = json_str(old, "version");
    if (!version && (!same || new_type))
        version = json_str(newest, "version");
    json_set_str(body, "name", name ? name : json_str(newest, "name"));
    json_set_str(body, "version", version);
    return body;
}

static bool machine_type_changes(const json_t *want, const json_t *there)
{
    const char *wanted = json_str(want, "machine_type"), *old = json_str(there, "machine_type");
    return wanted && old && strcmp(wanted, old) != 0;
}

/* Returns the zones to send: existing zones keep their order, and new zones follow (GA-9). */
static json_t *zones_body(const json_t *want, const json_t *there)
{
    json_t *body = json_array();
    size_t i;
    json_t *zone;
    (void)json_array_extend(body, (json_t *)(uintptr_t)there);
    json_array_foreach (want, i, zone) {
        bool has = false;
        for (size_t j = 0; j < json_array_size(there); j++)
            has |= json_equal(zone, json_array_get(there, j));
        if (!has)
            (void)json_array_append(body, zone);
    }
    return body;
}

json_t *spec_step_body(enum step_type type, const char *target, const json_t *want, const json_t *observed,
                       const struct spec_context *context)
{
    if (type == STEP_PATCH_CLUSTER)
        return cluster_body(want, observed, context);
    if (type == STEP_DELETE_POOL)
        return NULL;
    assert(type == STEP_CREATE_POOL || type == STEP_UPDATE_POOL);
    const json_t *there = spec_find_named(json_arr(observed, "node_pools"), target);
    json_t *body = there ? json_deep_copy(there) : json_object();
    const char *member;
    json_t *value;
    json_object_foreach ((json_t *)(uintptr_t)want, member, value)
        if (!json_is_null(value))
            (void)json_object_set_new(body, member, json_deep_copy(value));
    if (json_arr(want, "zones") && there)
        json_set_take(body, "zones", zones_body(json_arr(want, "zones"), json_arr(there, "zones")));
    const bool new_type = machine_type_changes(want, there);
    if (json_obj(want, "image") || (new_type && json_str(json_obj(there, "image"), "name")))
        json_set_take(body, "image", image_body(json_obj(want, "image"), there, new_type, context));
    json_set_str(body, "name", target);
    return body;
}

#include "model/spec_limits.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define POOL "spec/node_pools/*"

/*
 * The limits of names, labels and annotations are those of GA-7 and GA-9. There are at most 50 pools, because
 * an update has at most 160 steps (model/operation.h). Neither Cleura nor Gardener publishes limits for
 * schedules, networks, labels, taints and zones. Their limits here are above every known use, and checks
 * within them take less than a millisecond.
 */
const struct spec_limit spec_limits[] = {
    {"name", LIMIT_BYTES, 15},
    {"description", LIMIT_BYTES, 1000},
    {"labels", LIMIT_MEMBERS, 50},
    {"labels", LIMIT_KEYS, 317},
    {"labels/*", LIMIT_BYTES, 63},
    {"spec/kubernetes_version", LIMIT_BYTES, 32},
    {"spec/node_pools", LIMIT_ITEMS, 50},
    {POOL "/name", LIMIT_BYTES, 15},
    {POOL "/machine_type", LIMIT_BYTES, 63},
    {POOL "/image/name", LIMIT_BYTES, 63},
    {POOL "/image/version", LIMIT_BYTES, 63},
    {POOL "/zones", LIMIT_ITEMS, 16},
    {POOL "/zones/*", LIMIT_BYTES, 63},
    {POOL "/labels", LIMIT_MEMBERS, 50},
    {POOL "/labels", LIMIT_KEYS, 317},
    {POOL "/labels/*", LIMIT_BYTES, 63},
    {POOL "/annotations", LIMIT_MEMBERS, 50},
    {POOL "/annotations", LIMIT_KEYS, 317},
    {POOL "/annotations/*", LIMIT_BYTES, 262144},
    {POOL "/taints", LIMIT_ITEMS, 20},
    {POOL "/taints/*/key", LIMIT_BYTES, 317},
    {POOL "/taints/*/value", LIMIT_BYTES, 63},
    {POOL "/taints/*/effect", LIMIT_BYTES, 16},
    {"spec/networking/type", LIMIT_BYTES, 16},
    {"spec/networking/nodes_cidr", LIMIT_BYTES, 18},
    {"spec/networking/floating_pool", LIMIT_BYTES, 255},
    {"spec/networking/network_id", LIMIT_BYTES, 36},
    {"spec/networking/router_id", LIMIT_BYTES, 36},
    {"spec/networking/load_balancer_provider", LIMIT_BYTES, 63},
    {"spec/networking/cilium/encryption_mode", LIMIT_BYTES, 32},
    {"spec/networking/cilium/tunnel", LIMIT_BYTES, 32},
    {"spec/hibernation_schedules", LIMIT_ITEMS, 50},
    {"spec/hibernation_schedules/*/start", LIMIT_BYTES, 100},
    {"spec/hibernation_schedules/*/end", LIMIT_BYTES, 100},
    {"spec/hibernation_schedules/*/location", LIMIT_BYTES, 64},
    {"spec/maintenance/begin", LIMIT_BYTES, 11},
    {"spec/maintenance/end", LIMIT_BYTES, 11},
    {"spec/allowed_cidrs", LIMIT_ITEMS, 500},
    {"spec/allowed_cidrs/*", LIMIT_BYTES, 18},
    {"spec/uid", LIMIT_BYTES, 64},
    {"spec/technical_id", LIMIT_BYTES, 255},
    {"spec/purpose", LIMIT_BYTES, 64},
    {NULL, LIMIT_ITEMS, 0},
};

struct limits_walk {
    const struct spec_limit *limit;
    struct problem **faults;
};

static bool has_fault(const struct limits_walk *w)
{
    return *w->faults != NULL;
}

static void limit_too_many(const struct limits_walk *w, const char *pointer, const char *of)
{
    problem_add_fault(w->faults, PROBLEM_VALIDATION_FAILED, FAULT_AT_BODY, pointer, "too_many", NULL,
                      "must have at most %lld %s", (long long)w->limit->max, of);
}

/* Values of a wrong type are reported by the check of types. */
static void check_here(const struct limits_walk *w, const char *pointer, const json_t *value,
                       const json_t *known)
{
    size_t max = (size_t)w->limit->max;
    if (w->limit->kind == LIMIT_ITEMS && json_array_size(value) > max &&
        json_array_size(value) > json_array_size(known))
        limit_too_many(w, pointer, "items");
    if (w->limit->kind == LIMIT_MEMBERS && json_object_size(value) > max &&
        json_object_size(value) > json_object_size(known))
        limit_too_many(w, pointer, "members");
}

static void go(const struct limits_walk *w, const char *path, const char *pointer, const json_t *value,
               const json_t *known);

static void go_everywhere(const struct limits_walk *w, const char *rest, const char *pointer,
                          const json_t *value, const json_t *known)
{
    size_t i;
    const char *key;
    json_t *item;
    json_array_foreach (value, i, item) {
        char *here CLEANUP_FREE = mem_printf("%s/%zu", pointer, i);
        go(w, rest, here, item, json_array_get(known, i));
    }
    json_object_foreach ((json_t *)(uintptr_t)value, key, item) {
        char *here CLEANUP_FREE = json_pointer_to(pointer, key);
        go(w, rest, here, item, json_object_get(known, key));
    }
}

/* Checks each value that `path` names, beginning at `value`. */
static void go(const struct limits_walk *w, const char *path, const char *pointer, const json_t *value,
               const json_t *known)
{
    if (!value || has_fault(w))
        return;
    if (!*path) {
        check_here(w, pointer, value, known);
        return;
    }
    size_t len = strcspn(path, "/");
    const char *rest = path + len + (path[len] == '/');
    if (len == 1 && *path == '*') {
        go_everywhere(w, rest, pointer, value, known);
        return;
    }
    char *name CLEANUP_FREE = mem_strndup(path, len);
    char *here CLEANUP_FREE = json_pointer_to(pointer, name);
    go(w, rest, here, json_object_get(value, name), json_object_get(known, name));
}

/* Counts the values in a document; stops at `enough`. */
static size_t count_values(const json_t *value, size_t enough)
{
    size_t count = 1, i;
    const char *key;
    json_t *item;
    json_array_foreach (value, i, item) {
        if (count > enough)
            break;
        count += count_values(item, enough - count);
    }
    json_object_foreach ((json_t *)(uintptr_t)value, key, item) {
        if (count > enough)
            break;
        count += count_values(item, enough - count);
    }
    return count;
}

void spec_check_limits(const json_t *body, enum spec_part part, const json_t *known, struct problem **faults)
{
    static const char pool[] = POOL "/";
    struct problem *found = NULL;
    for (const struct spec_limit *limit = spec_limits; limit->path && !found; limit++) {
        const struct limits_walk w = {limit, &found};
        if (limit->kind != LIMIT_ITEMS && limit->kind != LIMIT_MEMBERS)
            continue; /* the separate checks of strings report better faults */
        if (part == SPEC_PART_BODY)
            go(&w, limit->path, "#", body, known);
        else if (!strncmp(limit->path, pool, strlen(pool)))
            go(&w, limit->path + strlen(pool), "#", body, known);
    }
    /* Values that are not in the table are refused later as unknown. Here only their number is checked. */
    if (!found && count_values(body, SPEC_VALUES_MAX) > SPEC_VALUES_MAX)
        problem_add_fault(&found, PROBLEM_VALIDATION_FAILED, FAULT_AT_BODY, "#", "too_many", NULL,
                          "must have at most %d values in all", SPEC_VALUES_MAX);
    if (found)
        *faults = found;
}

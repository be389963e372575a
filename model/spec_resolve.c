/* The default values that a create uses for absent members. */
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/timefmt.h"
#include "model/spec.h"

/* Whether the numbers of a version end here: a pre-release ("-rc.1") or build metadata ("+…") may follow. */
static bool numbers_end(const char *at)
{
    return !*at || *at == '-' || *at == '+';
}

/* Compares the numbers between dots. */
static int compare_numbers(const char *left, const char *right)
{
    while (!numbers_end(left) || !numbers_end(right)) {
        char *left_end = (char *)(uintptr_t)left, *right_end = (char *)(uintptr_t)right;
        unsigned long a = numbers_end(left) ? 0 : strtoul(left, &left_end, 10);
        unsigned long b = numbers_end(right) ? 0 : strtoul(right, &right_end, 10);
        if (a != b)
            return a < b ? -1 : 1;
        if (left_end == left && right_end == right)
            return strcmp(left, right);
        left = *left_end == '.' ? left_end + 1 : left_end;
        right = *right_end == '.' ? right_end + 1 : right_end;
    }
    return 0;
}

/* Returns the pre-release of a version without its hyphen, or NULL when the version is a release. */
static const char *prerelease_of(const char *version)
{
    const char *found = version + strcspn(version, "-+");
    return *found == '-' ? found + 1 : NULL;
}

/* Compares one part of a pre-release: numbers as such, and below all other texts (semver.org, 11). */
static int compare_parts(const char *left, size_t left_len, const char *right, size_t right_len)
{
    const bool left_number = strspn(left, "0123456789") >= left_len;
    const bool right_number = strspn(right, "0123456789") >= right_len;
    if (left_number && right_number) {
        const unsigned long a = strtoul(left, NULL, 10), b = strtoul(right, NULL, 10);
        return (a > b) - (a < b);
    }
    if (left_number != right_number)
        return left_number ? -1 : 1;
    const int order = strncmp(left, right, left_len < right_len ? left_len : right_len);
    return order ? order : (left_len > right_len) - (left_len < right_len);
}

static int compare_prereleases(const char *left, const char *right)
{
    for (;; left++, right++) {
        const size_t left_len = strcspn(left, ".+"), right_len = strcspn(right, ".+");
        const int order = compare_parts(left, left_len, right, right_len);
        left += left_len;
        right += right_len;
        if (order || *left != '.' || *right != '.')
            return order ? order : (*left == '.') - (*right == '.');
    }
}

int version_compare(const char *left, const char *right)
{
    const char *left_pre = prerelease_of(left), *right_pre = prerelease_of(right);
    const int order = compare_numbers(left, right);
    if (order || !left_pre || !right_pre)
        return order ? order : !left_pre - !right_pre;
    return compare_prereleases(left_pre, right_pre);
}

/* Whether `version` is the better choice of a version that nobody named: releases come before pre-releases,
 * then the newer one. */
static bool is_better(const char *version, const char *best)
{
    const bool is_release = !prerelease_of(version);
    if (!best)
        return true;
    return is_release == !prerelease_of(best) ? version_compare(version, best) > 0 : is_release;
}

void version_minor(const char *version, char line[static VERSION_LINE_BYTES])
{
    const char *dot = strchr(version, '.');
    const char *end = dot ? strchr(dot + 1, '.') : NULL;
    (void)snprintf(line, VERSION_LINE_BYTES, "%.*s", (int)(end ? (size_t)(end - version) : strlen(version)),
                   version);
}

void version_next_minor(const char *version, char line[static VERSION_LINE_BYTES])
{
    const char *dot = strchr(version, '.');
    long minor = dot ? strtol(dot + 1, NULL, 10) : -1;
    (void)snprintf(line, VERSION_LINE_BYTES, "%ld.%ld", strtol(version, NULL, 10),
                   minor < LONG_MAX ? minor + 1 : minor);
}

bool version_is_expired(const json_t *entry, wall_us now)
{
    const char *expires = json_str(entry, "expires_at");
    wall_us at;
    if (!strcmp(json_str_or(entry, "state", ""), "expired"))
        return true;
    return now && expires && time_parse_rfc3339(expires, &at) && at <= now;
}

bool version_is_within(const char *wanted, const char *version)
{
    size_t len = strlen(wanted);
    return !strncmp(wanted, version, len) && (version[len] == '\0' || version[len] == '.');
}

const char *version_newest(const json_t *versions, const char *wanted, wall_us now)
{
    const char *best = NULL;
    size_t i;
    json_t *entry;
    json_array_foreach (versions, i, entry) {
        const char *version = json_str(entry, "version");
        if (wanted && !strcmp(wanted, version))
            return version;
        if (version_is_expired(entry, now) ||
            strcmp(json_str_or(entry, "state", "supported"), "supported") != 0 ||
            (wanted && !version_is_within(wanted, version)))
            continue;
        if (is_better(version, best))
            best = version;
    }
    return best;
}

/* Returns the smallest usable machine type that can run the system components, which need 2 CPUs. */
static const char *default_machine_type(const struct spec_context *context)
{
    const char *best = NULL;
    int64_t best_cpus = INT64_MAX, best_memory = INT64_MAX;
    size_t i;
    json_t *type;
    json_array_foreach (json_arr(context->catalog, "machine_types"), i, type) {
        int64_t cpus = json_int(type, "cpus", 0);
        int64_t memory = json_int(type, "memory_mib", 0);
        bool is_smaller = cpus < best_cpus || (cpus == best_cpus && memory < best_memory);
        if (!json_bool(type, "usable", true) || cpus < 2 || !is_smaller)
            continue;
        best = json_str(type, "name");
        best_cpus = cpus;
        best_memory = memory;
    }
    return json_str_or(context->defaults, "machine_type", best);
}

static json_t *resolve_image(const json_t *image, const struct spec_context *context)
{
    const json_t *images = json_arr(context->catalog, "machine_images");
    const json_t *known = json_array_get(images, 0);
    const char *name = json_str(image, "name");
    size_t i;
    json_t *item;
    json_array_foreach (images, i, item)
        if (name && !strcmp(name, json_str_or(item, "name", "")))
            known = item;
    json_t *resolved = json_object();
    const char *version = json_str(image, "version");
    json_set_str(resolved, "name", name ? name : json_str(known, "name"));
    json_set_str(resolved, "version",
                 version ? version : version_newest(json_arr(known, "versions"), NULL, context->now));
    return resolved;
}

static json_t *first_zone(const struct spec_context *context)
{
    json_t *zones = json_array();
    const json_t *known = json_array_get(json_arr(context->catalog, "zones"), 0);
    if (json_arr(context->defaults, "zones"))
        (void)json_array_extend(zones, json_arr(context->defaults, "zones"));
    else
        json_append_take(zones, json_string(known ? json_string_value(known) : "nova"));
    return zones;
}

static json_t *or_new(json_t *value, json_t *(*make)(void))
{
    return value ? json_incref(value) : make();
}

static json_t *resolve_pool(const json_t *pool, const struct spec_context *context)
{
    const json_t *defaults = context->defaults;
    json_t *resolved = json_object();
    int64_t minimum = json_int(pool, "minimum", json_int(defaults, "minimum", 1));
    int64_t maximum = json_int(pool, "maximum", json_int(defaults, "maximum", minimum > 3 ? minimum : 3));
    const char *name = json_str(pool, "name");
    const char *machine_type = json_str(pool, "machine_type");
    json_set_str(resolved, "name", name ? name : context->abilities->default_pool_name);
    json_set_str(resolved, "machine_type", machine_type ? machine_type : default_machine_type(context));
    json_set_take(resolved, "image", resolve_image(json_obj(pool, "image"), context));
    json_set_int(resolved, "minimum", minimum);
    json_set_int(resolved, "maximum", maximum);
    json_set_int(resolved, "max_surge", json_int(pool, "max_surge", json_int(defaults, "max_surge", 1)));
    json_set_int(resolved, "volume_size_gib",
                 json_int(pool, "volume_size_gib", json_int(defaults, "volume_size_gib", 50)));
    json_set_take(resolved, "zones",
                  json_arr(pool, "zones") ? json_incref(json_arr(pool, "zones")) : first_zone(context));
    json_set_take(resolved, "labels", or_new(json_obj(pool, "labels"), json_object));
    json_set_take(resolved, "annotations", or_new(json_obj(pool, "annotations"), json_object));
    json_set_take(resolved, "taints", or_new(json_arr(pool, "taints"), json_array));
    return resolved;
}

static json_t *resolve_pools(const json_t *pools, const struct spec_context *context)
{
    json_t *resolved = json_array();
    size_t i;
    json_t *pool;
    json_array_foreach (pools, i, pool)
        json_append_take(resolved, resolve_pool(pool, context));
    if (!json_array_size(resolved))
        json_append_take(resolved, resolve_pool(NULL, context));
    return resolved;
}

static json_t *resolve_networking(const json_t *networking, const struct spec_context *context)
{
    json_t *resolved = networking ? json_deep_copy(networking) : json_object();
    static const char *const members[][2] = {{"floating_pool", "floating_pools"},
                                             {"load_balancer_provider", "load_balancer_providers"}};
    for (size_t i = 0; i < ARRAY_LEN(members); i++) {
        const json_t *first = json_array_get(json_arr(context->catalog, members[i][1]), 0);
        const char *preset = json_str(context->defaults, members[i][0]);
        if (!json_str(resolved, members[i][0]))
            json_set_str(resolved, members[i][0], preset ? preset : json_string_value(first));
    }
    return resolved;
}

/* Fills in the maintenance settings. Both automatic updates are on by default, as in Cleura's own control
 * panel. */
static json_t *resolve_maintenance(const json_t *maintenance)
{
    json_t *resolved = json_deep_copy(maintenance);
    json_set_bool(resolved, "auto_update_kubernetes", json_bool(maintenance, "auto_update_kubernetes", true));
    json_set_bool(resolved, "auto_update_machine_image",
                  json_bool(maintenance, "auto_update_machine_image", true));
    return resolved;
}

json_t *spec_resolve(const char *name, const json_t *spec, const struct spec_context *context)
{
    json_t *resolved = json_object();
    const char *wanted =
        json_str_or(spec, "kubernetes_version", json_str(context->defaults, "kubernetes_version"));
    json_set_str(resolved, "name", name);
    json_set_str(resolved, "kubernetes_version",
                 version_newest(json_arr(context->catalog, "kubernetes_versions"), wanted, context->now));
    json_set_take(resolved, "node_pools", resolve_pools(json_arr(spec, "node_pools"), context));
    json_set_take(resolved, "networking", resolve_networking(json_obj(spec, "networking"), context));
    json_set_bool(resolved, "high_availability", json_bool(spec, "high_availability", false));
    json_set_take(resolved, "hibernation_schedules",
                  or_new(json_arr(spec, "hibernation_schedules"), json_array));
    if (json_obj(spec, "maintenance"))
        json_set_take(resolved, "maintenance", resolve_maintenance(json_obj(spec, "maintenance")));
    json_set_take(resolved, "allowed_cidrs", or_new(json_arr(spec, "allowed_cidrs"), json_array));
    return resolved;
}

json_t *spec_resolve_pool(const json_t *pool, const struct spec_context *context)
{
    return resolve_pool(pool, context);
}

const char *spec_resolve_version(const char *wanted, const struct spec_context *context)
{
    return version_newest(json_arr(context->catalog, "kubernetes_versions"), wanted, context->now);
}

json_t *spec_defaults(const struct spec_context *context)
{
    json_t *defaults = spec_resolve("", NULL, context);
    (void)json_object_del(defaults, "name");
    return defaults;
}

/* Valid settings of a spec that are probably a mistake. Dry runs report them. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/spec_check_private.h"

/* The source address of Cleura's management service (CL-23). */
#define CLEURA_ADDRESS "141.255.187.164/32"

void spec_warn(json_t *warnings, const char *pointer, const char *code, const char *format, ...)
{
    va_list args;
    char *detail = NULL;
    va_start(args, format);
    if (vasprintf(&detail, format, args) < 0)
        abort();
    va_end(args);
    json_t *warning = json_object();
    json_set_str(warning, "pointer", pointer);
    json_set_str(warning, "code", code);
    json_set_str(warning, "detail", detail);
    json_append_take(warnings, warning);
    free(detail);
}

/* Warns when a zone may get no surge: Gardener distributes a pool's size and surge over its zones (GA-9). */
static void warn_of_surge(json_t *warnings, const json_t *pools, bool given)
{
    size_t i;
    json_t *pool;
    json_array_foreach (pools, i, pool) {
        size_t zones = json_array_size(json_arr(pool, "zones"));
        int64_t surge = json_int(pool, "max_surge", 1);
        if (surge >= (int64_t)zones || json_int(pool, "maximum", 0) == 0)
            continue;
        char *here CLEANUP_FREE =
            given ? mem_printf("#/spec/node_pools/%zu/max_surge", i) : mem_strdup("#/spec/node_pools");
        spec_warn(
            warnings, here, "surge_below_zones",
            "pool '%s' has %zu zones and a max_surge of %lld: in some zone a node is drained before its "
            "replacement is there; %zu gives each zone one",
            json_str_or(pool, "name", "default"), zones, (long long)surge, zones);
    }
}

static void warn_of_networks(json_t *warnings, const json_t *networks)
{
    struct ipv4_net cleura, net;
    bool canonical;
    size_t i;
    json_t *text;
    (void)ipv4_net_parse(CLEURA_ADDRESS, &cleura, &canonical);
    json_array_foreach (networks, i, text)
        if (ipv4_net_parse(json_string_value(text), &net, &canonical) && ipv4_net_overlaps(&net, &cleura))
            return;
    if (json_array_size(networks))
        spec_warn(warnings, "#/spec/allowed_cidrs", "monitoring_blocked",
                  "Cleura's own address " CLEURA_ADDRESS
                  " is not in the list: its monitoring views, and what shootd reads of nodes, stop working");
}

static void warn_of_zones(json_t *warnings, const json_t *schedules, const json_t *there)
{
    size_t i;
    json_t *schedule;
    json_array_foreach (schedules, i, schedule) {
        const json_t *kept = spec_schedule_there(there, schedule);
        if (!kept || spec_zone_is_utc(kept) || strcmp(json_str_or(schedule, "location", ""), "UTC") != 0)
            continue;
        char *here CLEANUP_FREE = mem_printf("#/spec/hibernation_schedules/%zu/location", i);
        spec_warn(warnings, here, "time_zone_lost", "'%s' becomes UTC: the same times there",
                  json_str(kept, "location"));
    }
}

void spec_warnings(const json_t *spec, const json_t *observed, const json_t *pools, json_t *warnings)
{
    bool given = json_arr(spec, "node_pools") != NULL;
    if (given || !observed)
        warn_of_surge(warnings, pools, given);
    warn_of_networks(warnings, json_arr(spec, "allowed_cidrs"));
    warn_of_zones(warnings, json_arr(spec, "hibernation_schedules"),
                  json_arr(observed, "hibernation_schedules"));
}

/* A resource of OpenStack's quota, and the member of a pool that takes it. */
struct quota_kind {
    const char *use, *limit, *what, *unit, *larger_unit, *member;
};

/* Returns a pointer to the member of the request that takes most of this kind, or to the pool without it. */
static char *pointer_of_most(const struct quota_kind *kind, const json_t *given, const json_t *shares)
{
    size_t i, most = 0;
    int64_t largest = -1;
    json_t *share;
    json_array_foreach (given ? shares : NULL, i, share)
        if (json_int(share, kind->use, 0) > largest) {
            largest = json_int(share, kind->use, 0);
            most = i;
        }
    if (largest < 0)
        return mem_strdup("#/spec/node_pools");
    const bool is_there = json_object_get(json_array_get(given, most), kind->member) != NULL;
    return mem_printf("#/spec/node_pools/%zu%s%s", most, is_there ? "/" : "", is_there ? kind->member : "");
}

static void warn_of_kind(json_t *warnings, const struct quota_kind *kind, int64_t wanted, int64_t limit,
                         const char *pointer)
{
    const bool is_large = kind->larger_unit && wanted % 1024 == 0 && limit % 1024 == 0;
    const int64_t divisor = is_large ? 1024 : 1;
    spec_warn(warnings, pointer, "quota_exceeded",
              "%s: %lld of %lld%s if all pools of the project grow to their maximum", kind->what,
              (long long)(wanted / divisor), (long long)(limit / divisor),
              is_large ? kind->larger_unit : kind->unit);
}

void spec_warn_of_quota(json_t *warnings, const json_t *use, const json_t *limits, const json_t *given,
                        const json_t *shares)
{
    static const struct quota_kind kinds[] = {
        {"nodes", "instances", "machines", "", NULL, "maximum"},
        {"cores", "cores", "cores", "", NULL, "machine_type"},
        {"memory_mib", "memory_mib", "memory", " MiB", " GiB", "machine_type"},
        {"volume_gib", "volume_gib", "volumes", " GiB", NULL, "volume_size_gib"}};
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        const int64_t limit = json_int(limits, kinds[i].limit, -1), wanted = json_int(use, kinds[i].use, -1);
        if (limit < 0 ||
            wanted <= limit) /* OpenStack uses -1 for no limit; unknown limits are reported below */
            continue;
        char *pointer CLEANUP_FREE = pointer_of_most(&kinds[i], given, shares);
        warn_of_kind(warnings, &kinds[i], wanted, limit, pointer);
    }
    if (!limits)
        spec_warn(
            warnings, "#/spec/node_pools", "quota_unknown",
            "Cleura did not show the quota of the project: whether it suffices shows when machines are made");
    else if (json_is_null(json_object_get(use, "cores")))
        spec_warn(warnings, "#/spec/node_pools", "quota_unknown",
                  "the catalog lacks a machine type of the project: cores and memory were not compared");
}

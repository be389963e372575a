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

void spec_warn_of_quota(json_t *warnings, const json_t *use, const json_t *limits)
{
    static const struct {
        const char *use, *limit, *what;
        int64_t unit;
    } kinds[] = {{"nodes", "instances", "machines", 1},
                 {"cores", "cores", "cores", 1},
                 {"memory_mib", "memory_mib", "MiB of memory", 1},
                 {"volume_gib", "volume_gib", "GiB of volumes", 1}};
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        int64_t limit = json_int(limits, kinds[i].limit, -1), wanted = json_int(use, kinds[i].use, -1);
        if (limit < 0) /* OpenStack uses -1 for no limit; unknown limits are reported below */
            continue;
        if (wanted * kinds[i].unit > limit)
            spec_warn(warnings, "#/spec/node_pools", "quota_exceeded",
                      "with all clusters of the project at their maximum there are %lld %s, the quota allows "
                      "%lld; what else the project has comes on top",
                      (long long)(wanted * kinds[i].unit), kinds[i].what, (long long)limit);
    }
    if (!limits)
        spec_warn(
            warnings, "#/spec/node_pools", "quota_unknown",
            "Cleura did not show the quota of the project: whether it suffices shows when machines are made");
    else if (json_is_null(json_object_get(use, "cores")))
        spec_warn(warnings, "#/spec/node_pools", "quota_unknown",
                  "the catalog lacks a machine type of the project: cores and memory were not compared");
}

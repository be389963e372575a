#include "simulator/cloud/conditions.h"

#include "simulator/cloud/sim_shoot.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

const char *const condition_types[CONDITION_GROUP_MAX_][10] = {
    [CONDITIONS] = {"APIServerAvailable", "ControlPlaneHealthy", "EveryNodeReady", "SystemComponentsHealthy",
                    "ObservabilityComponentsHealthy", "BackupBucketsReady", "ExtensionsReady",
                    "GardenletReady", "SeedSystemComponentsHealthy", NULL},
    [CONSTRAINTS] = {"HibernationPossible", "MaintenancePreconditionsSatisfied",
                     "CACertificateValiditiesAcceptable", "CRDsWithProblematicConversionWebhooks",
                     "ManualInPlaceWorkersUpdated", "APIServerProxyUsesHTTPProxy", NULL},
};

const char *const condition_statuses[] = {"True", "False", "Unknown", "Progressing", NULL};

const char *const error_codes[] = {"ERR_INFRA_UNAUTHENTICATED",    "ERR_INFRA_UNAUTHORIZED",
                                   "ERR_INFRA_QUOTA_EXCEEDED",     "ERR_INFRA_RATE_LIMITS_EXCEEDED",
                                   "ERR_INFRA_DEPENDENCIES",       "ERR_RETRYABLE_INFRA_DEPENDENCIES",
                                   "ERR_INFRA_RESOURCES_DEPLETED", "ERR_CLEANUP_CLUSTER_RESOURCES",
                                   "ERR_CONFIGURATION_PROBLEM",    "ERR_RETRYABLE_CONFIGURATION_PROBLEM",
                                   "ERR_PROBLEMATIC_WEBHOOK",      NULL};

const char *condition_group_name(enum condition_group group)
{
    assert((unsigned)group < CONDITION_GROUP_MAX_);
    return group == CONDITIONS ? "conditions" : "constraints";
}

/* An entry of shoot->held: {since_us, updated_us, shown}. Without `shown` the condition was cleared, and only
 * its times are still needed. */
static void put_entry(struct sim_shoot *shoot, const char *type, struct condition_times times, json_t *shown)
{
    json_t *entry = json_pack("{s:I, s:I}", "since_us", (json_int_t)times.since_us, "updated_us",
                              (json_int_t)times.updated_us);
    if (shown)
        (void)json_object_set_new(entry, "shown", shown);
    if (!shoot->held)
        shoot->held = json_object();
    (void)json_object_set_new(shoot->held, type, entry);
}

static json_t *held_of(const struct sim_shoot *shoot, const char *type)
{
    return json_object_get(json_object_get(shoot->held, type), "shown");
}

void conditions_times(const struct sim_shoot *shoot, const char *type, struct condition_times *times)
{
    const json_t *entry = json_object_get(shoot->held, type);
    int64_t since_us = json_integer_value(json_object_get(entry, "since_us"));
    int64_t updated_us = json_integer_value(json_object_get(entry, "updated_us"));
    bool set = json_object_get(entry, "shown");
    if (set || since_us > times->since_us)
        times->since_us = since_us;
    if (set || updated_us > times->updated_us)
        times->updated_us = updated_us;
}

void conditions_hold(struct sim_shoot *shoot, const json_t *given, const json_t *shown,
                     struct condition_times before, int64_t now_us)
{
    const char *type = json_string_value(json_object_get(given, "type"));
    struct condition_times times = before;
    json_t *codes = json_object_get(given, "codes");
    json_t *held =
        json_pack("{s:O, s:O, s:O, s:O, s:o}", "type", json_object_get(given, "type"), "status",
                  json_object_get(given, "status"), "reason", json_object_get(given, "reason"), "message",
                  json_object_get(given, "message"), "codes", codes ? json_incref(codes) : json_array());
    conditions_times(shoot, type, &times);
    if (!json_equal(json_object_get(held, "status"), json_object_get(shown, "status")))
        times.since_us = now_us;
    if (!json_equal(held, shown))
        times.updated_us = now_us;
    put_entry(shoot, type, times, held);
}

bool conditions_release(struct sim_shoot *shoot, const char *type, int64_t now_us)
{
    struct condition_times times = {.since_us = now_us, .updated_us = now_us};
    if (!held_of(shoot, type))
        return false;
    put_entry(shoot, type, times, NULL);
    return true;
}

static size_t index_of(const json_t *list, const char *type)
{
    const json_t *item;
    size_t i;
    json_array_foreach (list, i, item)
        if (!strcmp(json_string_value(json_object_get(item, "type")), type))
            break;
    return i;
}

void conditions_put_held(const struct sim_shoot *shoot, enum condition_group group, json_t *list)
{
    if (!shoot->held)
        return;
    for (const char *const *type = condition_types[group]; *type; type++) {
        json_t *held = json_copy(held_of(shoot, *type)); /* the caller may add members */
        size_t at = index_of(list, *type);
        if (!held)
            continue;
        if (at < json_array_size(list))
            (void)json_array_set_new(list, at, held);
        else
            (void)json_array_append_new(list, held);
    }
}

bool conditions_forbid_hibernation(const struct sim_shoot *shoot)
{
    const json_t *held = held_of(shoot, "HibernationPossible");
    return held && strcmp(json_string_value(json_object_get(held, "status")), "True") != 0;
}

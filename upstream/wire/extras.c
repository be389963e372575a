/* Sub-resources of a shoot and of its project in our words (CL-7, CL-12, CL-25): fetched on demand,
 * never stored. */
#include <string.h>

#include "base/attrs.h"
#include "base/mem.h"
#include "upstream/wire/generation_private.h"

bool decode_ca_stage(const struct answer_about *about, json_t *doc, struct upstream_result *result)
{
    (void)about;
    if (!json_str(doc, "stage"))
        return false;
    result->document = json_object();
    json_set_str(result->document, "stage", json_str(doc, "stage"));
    return true;
}

static json_t *credentials(const json_t *theirs)
{
    if (!json_str(theirs, "url"))
        return NULL;
    json_t *ours = json_object();
    json_set_str(ours, "url", json_str(theirs, "url"));
    json_set_str(ours, "username", json_str(theirs, "username"));
    json_set_str(ours, "password", json_str(theirs, "password"));
    return ours;
}

bool decode_monitoring(const struct answer_about *about, json_t *doc, struct upstream_result *result)
{
    (void)about;
    json_t *prometheus = credentials(json_obj(doc, "prometheus"));
    json_t *plutono = credentials(json_obj(doc, "plutono"));
    if (!prometheus && !plutono)
        return false;
    result->document = json_object();
    json_set_take(result->document, "prometheus", prometheus);
    json_set_take(result->document, "plutono", plutono);
    return true;
}

static void take_number(json_t *ours, const char *name, const json_t *theirs, const char *their_name)
{
    json_t *value = json_object_get(theirs, their_name);
    json_set_take(ours, name, json_is_number(value) ? json_incref(value) : NULL);
}

bool decode_nodes(const struct answer_about *about, json_t *doc, struct upstream_result *result)
{
    static const char *const numbers[][2] = {
        {"cpu_cores_used", "cpu_usage"},
        {"cpu_cores_allocatable", "allocatable_cpu"},
        {"memory_bytes_used", "memory_usage"},
        {"memory_bytes_allocatable", "allocatable_memory"},
        {"pods", "pods"},
    };
    if (!json_is_array(doc))
        return false;
    size_t i;
    json_t *item;
    struct decoding d = {.now = about->now};
    result->document = json_array();
    json_array_foreach (doc, i, item) {
        json_t *node = json_object();
        const char *pool = decode_word(&d, item, "worker_group");
        json_set_str(node, "name", decode_word(&d, item, "node_name"));
        json_set_str(node, "pool", pool ? pool : about->item);
        for (size_t n = 0; n < ARRAY_LEN(numbers); n++)
            take_number(node, numbers[n][0], item, numbers[n][1]);
        (void)json_array_append_new(result->document, node);
    }
    return true;
}

bool decode_upgrade_check(const struct answer_about *about, json_t *doc, struct upstream_result *result)
{
    struct decoding d = {.now = about->now};
    const char *outcome = decode_word(&d, doc, "outcome");
    if (!outcome)
        return false;
    result->document = json_object();
    json_set_str(result->document, "version", about->item);
    /* Mixed case upstream (quirk 35). */
    json_set_str(result->document, "outcome", !strcmp(outcome, "Success") ? "success" : outcome);
    json_set_take(result->document, "details", decode_words(&d, json_arr(doc, "details")));
    decode_prose(result->document, "notes", json_str(doc, "upgrade_notes"));
    return true;
}

/* [{region, project_id, domain_id}], flat. */
bool decode_own_projects(const struct answer_about *about, json_t *doc, struct upstream_result *result)
{
    (void)about;
    if (!json_is_array(doc))
        return false;
    size_t i, j;
    json_t *entry, *project;
    result->document = json_array();
    json_array_foreach (doc, i, entry) {
        json_array_foreach (json_arr(entry, "projects"), j, project) {
            json_t *ours = json_object();
            json_set_str(ours, "region", json_str(json_obj(entry, "region"), "tag"));
            json_set_str(ours, "project_id", json_str(project, "id"));
            json_set_str(ours, "domain_id", json_str(project, "domain_id"));
            (void)json_array_append_new(result->document, ours);
        }
    }
    return true;
}

bool decode_quota(const struct answer_about *about, json_t *doc, struct upstream_result *result)
{
    static const struct {
        const char *ours, *group, *theirs;
    } limits[] = {
        {"cores", "compute", "cores"},
        {"instances", "compute", "instances"},
        {"ram_mib", "compute", "ram"},
        {"volumes", "block_storage", "volumes"},
        {"volume_gib", "block_storage", "gigabytes"},
        {"snapshots", "block_storage", "snapshots"},
        {"floating_ips", "networking", "floating_ip"},
        {"networks", "networking", "network"},
        {"ports", "networking", "port"},
        {"routers", "networking", "router"},
        {"security_groups", "networking", "security_group"},
    };
    (void)about;
    if (!json_obj(doc, "compute"))
        return false;
    result->document = json_object();
    for (size_t i = 0; i < ARRAY_LEN(limits); i++)
        take_number(result->document, limits[i].ours, json_obj(doc, limits[i].group), limits[i].theirs);
    return true;
}

bool decode_name_taken(const struct answer_about *about, json_t *doc, struct upstream_result *result)
{
    (void)about;
    if (!json_is_boolean(json_object_get(doc, "is_taken")))
        return false;
    result->document = json_object();
    json_set_bool(result->document, "is_taken", json_bool(doc, "is_taken", false));
    return true;
}

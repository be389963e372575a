/* Sub-resources of a shoot and of its project in shootd's format (CL-7, CL-12, CL-25). They are read on
 * demand and never stored. */
#include <string.h>
#include <strings.h>

#include "base/attrs.h"
#include "base/mem.h"
#include "upstream/wire/driver_private.h"

/* The answer contains nothing but the stage. When the stage cannot be read, the answer is not understood. */
bool decode_ca_stage(struct decoding *d, const struct answer_about *about ATTR_UNUSED, json_t *doc,
                     struct upstream_result *result)
{
    const char *stage = decode_word(d, doc, "stage");
    if (!stage)
        return false;
    result->document = json_object();
    json_set_str(result->document, "stage", stage);
    return true;
}

static json_t *credentials(struct decoding *d, const json_t *doc, const char *name)
{
    const json_t *theirs = decode_member(d, doc, name, JSON_OBJECT);
    const char *url = decode_text(d, theirs, "url");
    if (!url)
        return NULL;
    json_t *ours = json_object();
    json_set_str(ours, "url", url);
    json_set_str(ours, "username", decode_text(d, theirs, "username"));
    json_set_str(ours, "password", decode_text(d, theirs, "password"));
    return ours;
}

bool decode_monitoring(struct decoding *d, const struct answer_about *about ATTR_UNUSED, json_t *doc,
                       struct upstream_result *result)
{
    json_t *prometheus = credentials(d, doc, "prometheus");
    json_t *plutono = credentials(d, doc, "plutono");
    if (!prometheus && !plutono)
        return false;
    result->document = json_object();
    json_set_take(result->document, "prometheus", prometheus);
    json_set_take(result->document, "plutono", plutono);
    return true;
}

/* Servers in Go write an empty list as null. */
static bool decode_is_list(const json_t *doc)
{
    return json_is_array(doc) || json_is_null(doc);
}

bool decode_nodes(struct decoding *d, const struct answer_about *about, json_t *doc,
                  struct upstream_result *result)
{
    /* The cores have fractions; Cleura also writes the others with a point. */
    static const struct {
        const char *ours, *theirs;
        bool is_whole;
    } numbers[] = {
        {"cpu_cores_used", "cpu_usage", false},
        {"cpu_cores_allocatable", "allocatable_cpu", false},
        {"memory_bytes_used", "memory_usage", true},
        {"memory_bytes_allocatable", "allocatable_memory", true},
        {"pods", "pods", true},
    };
    if (!decode_is_list(doc))
        return false;
    result->document = json_array();
    for (size_t i = 0; i < json_array_size(doc); i++) {
        const json_t *item = decode_element(d, doc, i);
        json_t *node = json_object();
        const char *pool = decode_word(d, item, "worker_group");
        json_set_str(node, "name", decode_word(d, item, "node_name"));
        json_set_str(node, "pool", pool ? pool : about->item);
        for (size_t n = 0; n < ARRAY_LEN(numbers); n++)
            json_set_take(
                node, numbers[n].ours,
                (numbers[n].is_whole ? decode_rounded : decode_quantity)(d, item, numbers[n].theirs));
        json_append_take(result->document, node);
    }
    return true;
}

/* Returns shootd's enum value for the result of a check. Cleura's values are in mixed case (CL-25). Any other
 * value means that the check is running. */
static const char *outcome_of(const char *word)
{
    static const char *const outcomes[][2] = {
        {"Success", "success"}, {"ready", "ready"}, {"not_ready", "not_ready"}, {"pending", "pending"}};
    for (size_t i = 0; i < ARRAY_LEN(outcomes); i++)
        if (!strcasecmp(word, outcomes[i][0]))
            return outcomes[i][1];
    return "pending";
}

bool decode_upgrade_check(struct decoding *d, const struct answer_about *about, json_t *doc,
                          struct upstream_result *result)
{
    if (!json_is_object(doc))
        return false;
    const char *word = decode_word(d, doc, "outcome");
    result->document = json_object();
    json_set_str(result->document, "version", about->item);
    json_set_str(result->document, "outcome", word ? outcome_of(word) : NULL);
    json_set_str(result->document, "word", word);
    json_set_take(result->document, "details", decode_words(d, doc, "details"));
    decode_prose(result->document, "notes", decode_text(d, doc, "upgrade_notes"));
    return true;
}

/* Decodes a flat list [{region, project_id, domain_id}]. */
bool decode_own_projects(struct decoding *d, const struct answer_about *about ATTR_UNUSED, json_t *doc,
                         struct upstream_result *result)
{
    if (!decode_is_list(doc))
        return false;
    result->document = json_array();
    for (size_t i = 0; i < json_array_size(doc); i++) {
        const json_t *entry = decode_element(d, doc, i), *projects = NULL;
        const char *region = decode_text(d, decode_member(d, entry, "region", JSON_OBJECT), "tag");
        bool has_list = decode_array(d, entry, "projects", &projects);
        for (size_t j = 0; has_list && j < json_array_size(projects); j++) {
            const json_t *project = decode_element(d, projects, j);
            json_t *ours = json_object();
            json_set_str(ours, "region", region);
            json_set_str(ours, "project_id", decode_text(d, project, "id"));
            json_set_str(ours, "domain_id", decode_text(d, project, "domain_id"));
            json_append_take(result->document, ours);
        }
    }
    return true;
}

bool decode_quota(struct decoding *d, const struct answer_about *about ATTR_UNUSED, json_t *doc,
                  struct upstream_result *result)
{
    enum { COMPUTE, STORAGE, NETWORKING, GROUPS };
    static const char *const group_names[GROUPS] = {"compute", "block_storage", "networking"};
    static const struct {
        const char *ours, *theirs;
        size_t group;
    } limits[] = {
        {"cores", "cores", COMPUTE},
        {"instances", "instances", COMPUTE},
        {"memory_mib", "ram", COMPUTE},
        {"volumes", "volumes", STORAGE},
        {"volume_gib", "gigabytes", STORAGE},
        {"snapshots", "snapshots", STORAGE},
        {"floating_ips", "floating_ip", NETWORKING},
        {"networks", "network", NETWORKING},
        {"ports", "port", NETWORKING},
        {"routers", "router", NETWORKING},
        {"security_groups", "security_group", NETWORKING},
    };
    const json_t *groups[GROUPS];
    bool has_any = false;
    for (size_t i = 0; i < GROUPS; i++) {
        groups[i] = decode_member(d, doc, group_names[i], JSON_OBJECT);
        has_any |= json_is_object(groups[i]) && json_is_object(doc);
    }
    if (!has_any)
        return false;
    result->document = json_object();
    for (size_t i = 0; i < ARRAY_LEN(limits); i++)
        json_set_take(result->document, limits[i].ours,
                      decode_rounded(d, groups[limits[i].group], limits[i].theirs));
    return true;
}

bool decode_name_taken(struct decoding *d, const struct answer_about *about ATTR_UNUSED, json_t *doc,
                       struct upstream_result *result)
{
    json_t *taken CLEANUP_JSON = decode_bool(d, doc, "is_taken", false);
    if (!json_is_boolean(json_object_get(doc, "is_taken")))
        return false;
    result->document = json_object();
    json_set_bool(result->document, "is_taken", json_is_true(taken));
    return true;
}

/* The body is the key itself (CL-25), whatever the content type says. */
bool decode_ssh_key(wall_us now ATTR_UNUSED, const char *body, size_t len, struct upstream_result *result)
{
    json_t *valid CLEANUP_JSON = json_stringn(body, len); /* NULL when it is not UTF-8 */
    bool ok = valid && strlen(body) == len && strstr(body, "PRIVATE KEY");
    json_wipe(valid);
    if (ok)
        result->text = mem_strndup(body, len);
    return ok;
}

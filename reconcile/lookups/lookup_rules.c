/* The sub-resources of a cluster or project: their calls, and how the answers become one document. */
#include <assert.h>
#include <string.h>

#include "base/attrs.h"
#include "model/spec.h"
#include "reconcile/lookups/lookup_rule.h"
#include "reconcile/world/entity.h"
#include "reconcile/world/project.h"

static json_t *only_answer(const struct project *p ATTR_UNUSED, const struct entity *e ATTR_UNUSED,
                           const json_t *answers)
{
    return json_deep_copy(json_array_get(answers, 0));
}

static json_t *compose_ssh_key(const struct project *p ATTR_UNUSED, const struct entity *e ATTR_UNUSED,
                               const json_t *answers)
{
    json_t *doc = json_object();
    json_set_str(doc, "private_key", json_string_value(json_array_get(answers, 0)));
    return doc;
}

/* ---- nodes ---- */

static json_t *pool_names(const struct project *p ATTR_UNUSED, const struct entity *e)
{
    json_t *names = json_array();
    size_t i;
    json_t *pool;
    if (e->cluster->shoot->hibernated) /* a hibernated cluster has no nodes */
        return names;
    json_array_foreach (json_arr(shoot_observed(e->cluster->shoot), "node_pools"), i, pool)
        if (json_str(pool, "name"))
            (void)json_array_append(names, json_object_get(pool, "name"));
    return names;
}

static json_t *compose_nodes(const struct project *p ATTR_UNUSED, const struct entity *e ATTR_UNUSED,
                             const json_t *answers)
{
    json_t *items = json_array();
    size_t i;
    json_t *nodes;
    json_array_foreach (answers, i, nodes) {
        json_t *copy CLEANUP_JSON = json_deep_copy(nodes);
        (void)json_array_extend(items, copy);
    }
    json_t *doc = json_object();
    json_set_take(doc, "items", items);
    return doc;
}

/* ---- upgrades: catalog, expiry and Cleura's own check ---- */

/* Returns NULL when the version cannot be read: then it is not known which versions are newer. */
static const char *present_version(const struct entity *e)
{
    return e->cluster->shoot ? e->cluster->shoot->kubernetes_version : NULL;
}

/* Returns the two versions to check: the newest patch version of the present minor version, and of the next
 * minor version. */
static json_t *recommended(const struct project *p, const struct entity *e)
{
    const char *present = present_version(e);
    json_t *list = json_array();
    struct spec_context context;
    if (!present)
        return list;
    char minors[2][VERSION_LINE_BYTES];
    project_spec_context(p, &context);
    version_minor(present, minors[0]);
    version_next_minor(present, minors[1]);
    for (size_t i = 0; i < ARRAY_LEN(minors); i++) {
        const char *version = spec_resolve_version(minors[i], &context);
        if (version && version_compare(version, present) > 0)
            json_append_take(list, json_string(version));
    }
    return list;
}

/* There are no versions to check when the account's API lacks this call. */
static json_t *versions_to_check(const struct project *p, const struct entity *e)
{
    return upstream_supports(project_lane(p), UPSTREAM_UPGRADE_CHECK) ? recommended(p, e) : json_array();
}

static json_t *check_of(const json_t *answers, const char *version)
{
    size_t i;
    json_t *check;
    json_array_foreach (answers, i, check)
        if (!strcmp(json_str_or(check, "version", ""), version))
            return json_deep_copy(check);
    return NULL;
}

static bool names_version(const json_t *list, const char *version)
{
    size_t i;
    json_t *item;
    json_array_foreach (list, i, item)
        if (!strcmp(json_string_value(item), version))
            return true;
    return false;
}

static void set_present(json_t *doc, const json_t *versions, const char *version)
{
    size_t i;
    json_t *entry, *found = NULL;
    json_array_foreach (versions, i, entry)
        if (version && !strcmp(json_str_or(entry, "version", ""), version))
            found = entry;
    json_set_str(doc, "current", version);
    json_set_str(doc, "state", json_str(found, "state"));
    json_set_str(doc, "expires_at", json_str(found, "expires_at"));
}

static json_t *make_offer(const json_t *entry)
{
    static const char *const members[] = {"version", "state", "expires_at"};
    json_t *offer = json_object();
    for (size_t i = 0; i < ARRAY_LEN(members); i++)
        json_set_str(offer, members[i], json_str(entry, members[i]));
    return offer;
}

static json_t *kubernetes_offers(const struct project *p, const struct entity *e, const json_t *answers)
{
    struct spec_context context;
    if (!present_version(e))
        return json_array();
    project_spec_context(p, &context);
    json_t *versions CLEANUP_JSON = spec_version_offers(present_version(e), &context);
    json_t *best CLEANUP_JSON = recommended(p, e);
    json_t *offers = json_array();
    char minor[VERSION_LINE_BYTES];
    size_t i;
    json_t *entry;
    version_minor(present_version(e), minor);
    json_array_foreach (versions, i, entry) {
        const char *version = json_str_or(entry, "version", "");
        bool patch = version_is_within(minor, version);
        json_t *offer = make_offer(entry);
        json_set_str(offer, "kind", patch ? "patch" : "minor");
        json_set_bool(offer, "recommended", names_version(best, version));
        json_set_bool(offer, "rolls_nodes", !patch);
        json_set_take(offer, "check", check_of(answers, version));
        json_append_take(offers, offer);
    }
    return offers;
}

static json_t *image_offers(const struct project *p, const json_t *pool)
{
    const json_t *image = json_obj(pool, "image");
    const char *present = json_str(image, "version");
    const json_t *versions = NULL;
    struct spec_context context;
    project_spec_context(p, &context);
    json_t *newer CLEANUP_JSON = spec_image_offers(pool, &context);
    json_t *offers = json_array();
    size_t i;
    json_t *entry;
    json_array_foreach (json_arr(p->state->catalog, "machine_images"), i, entry)
        if (!strcmp(json_str_or(entry, "name", ""), json_str_or(image, "name", "")))
            versions = json_arr(entry, "versions");
    json_array_foreach (newer, i, entry)
        json_append_take(offers, make_offer(entry));
    json_t *doc = json_object();
    json_set_str(doc, "pool", json_str(pool, "name"));
    json_set_str(doc, "image", json_str(image, "name"));
    set_present(doc, versions, present);
    json_set_take(doc, "offers", offers);
    return doc;
}

static json_t *compose_upgrades(const struct project *p, const struct entity *e, const json_t *answers)
{
    const json_t *observed = shoot_observed(e->cluster->shoot);
    json_t *kubernetes = json_object();
    json_t *images = json_array();
    size_t i;
    json_t *pool;
    set_present(kubernetes, json_arr(p->state->catalog, "kubernetes_versions"), present_version(e));
    json_set_take(kubernetes, "offers", kubernetes_offers(p, e, answers));
    json_array_foreach (json_arr(observed, "node_pools"), i, pool)
        json_append_take(images, image_offers(p, pool));
    json_t *doc = json_object();
    json_set_take(doc, "kubernetes", kubernetes);
    json_set_take(doc, "machine_images", images);
    json_set_bool(doc, "checked_by_cleura", upstream_supports(project_lane(p), UPSTREAM_UPGRADE_CHECK));
    return doc;
}

/* ---- quota ---- */

static const char *domain_of(const struct project *p, const json_t *own_projects)
{
    size_t i;
    json_t *item;
    json_array_foreach (own_projects, i, item)
        if (!strcasecmp(json_str_or(item, "region", ""), p->region) &&
            !strcmp(json_str_or(item, "project_id", ""), p->project_id))
            return json_str(item, "domain_id");
    return NULL;
}

static json_t *compose_quota(const struct project *p, const struct entity *e ATTR_UNUSED,
                             const json_t *answers)
{
    json_t *doc = json_object();
    json_set_str(doc, "project", p->name);
    json_set_take(doc, "limits", json_deep_copy(json_array_get(answers, json_array_size(answers) - 1)));
    return doc;
}

static const struct lookup_rule rules[LOOKUP_KIND_MAX_] = {
    [LOOKUP_MONITORING] = {.kind = LOOKUP_MONITORING,
                           .command = COMMAND_MONITORING,
                           .what = "monitoring credentials",
                           .op = UPSTREAM_MONITORING,
                           .keep_s = 30,
                           .secret = true,
                           .compose = only_answer},
    [LOOKUP_NODES] = {.kind = LOOKUP_NODES,
                      .command = COMMAND_NODES,
                      .what = "nodes overview",
                      .op = UPSTREAM_NODES,
                      .keep_s = 15,
                      .items = pool_names,
                      .compose = compose_nodes},
    [LOOKUP_SSH_KEY] = {.kind = LOOKUP_SSH_KEY,
                        .command = COMMAND_SSH_KEY,
                        .what = "SSH key",
                        .op = UPSTREAM_SSH_KEY,
                        .keep_s = 30,
                        .secret = true,
                        .compose = compose_ssh_key},
    [LOOKUP_UPGRADES] = {.kind = LOOKUP_UPGRADES,
                         .command = COMMAND_UPGRADES,
                         .what = "upgrade check",
                         .op = UPSTREAM_UPGRADE_CHECK,
                         .keep_s = 60,
                         .parts_may_fail = true,
                         .of_catalog = true,
                         .items = versions_to_check,
                         .compose = compose_upgrades},
    [LOOKUP_QUOTA] = {.kind = LOOKUP_QUOTA,
                      .command = COMMAND_QUOTA,
                      .need = NEED_QUOTA,
                      .what = "quota",
                      .op = UPSTREAM_OWN_PROJECTS,
                      .keep_s = 60,
                      .then = UPSTREAM_QUOTA,
                      .then_item = domain_of,
                      .compose = compose_quota},
    [LOOKUP_CA_STAGE] = {.kind = LOOKUP_CA_STAGE,
                         .command = COMMAND_NONE,
                         .need = NEED_STAGE,
                         .what = "stage of the CA rotation",
                         .op = UPSTREAM_CA_STAGE,
                         .compose = only_answer},
};

const struct lookup_rule *lookup_rule(enum lookup_kind kind)
{
    assert(kind < LOOKUP_KIND_MAX_ && rules[kind].compose);
    return &rules[kind];
}

const struct lookup_rule *lookup_rule_of(enum command_type type)
{
    size_t kind = 0;
    while (kind < ARRAY_LEN(rules) && rules[kind].command != type)
        kind++;
    return lookup_rule((enum lookup_kind)kind);
}

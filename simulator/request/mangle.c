/* Makes faulty variants of JSON answers. */
#include "simulator/request/answers.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/attrs.h"

/* Called by mangle_walk for every value, before its parts. Returns a replacement, or NULL when the parts of
 * the value must be visited. */
typedef json_t *change_fn(const char *key, const char *parent, const json_t *value);

/* Returns a copy of the value in which `change` has replaced values. The caller owns it. */
static json_t *mangle_walk(const char *key, const char *parent, const json_t *value, change_fn *change)
{
    json_t *changed = change(key, parent, value);
    json_t *object = (json_t *)(uintptr_t)value;
    json_t *item;
    size_t i;
    if (changed)
        return changed;
    if (json_is_object(value)) {
        changed = json_object();
        for (void *at = json_object_iter(object); at; at = json_object_iter_next(object, at))
            (void)json_object_set_new(
                changed, json_object_iter_key(at),
                mangle_walk(json_object_iter_key(at), key, json_object_iter_value(at), change));
        return changed;
    }
    if (json_is_array(value)) {
        changed = json_array();
        json_array_foreach (value, i, item)
            (void)json_array_append_new(changed, mangle_walk("", key, item, change));
        return changed;
    }
    return json_incref(object);
}

static json_t *wrong_type(const char *key ATTR_UNUSED, const char *parent ATTR_UNUSED, const json_t *value)
{
    char text[64];
    json_t *object;
    json_t *item;
    size_t i;
    if (json_is_integer(value)) {
        (void)snprintf(text, sizeof(text), "%lld", (long long)json_integer_value(value));
        return json_string(text);
    }
    if (json_is_real(value)) {
        real_text(json_real_value(value), text);
        return json_string(text);
    }
    if (!json_is_array(value))
        return NULL;
    object = json_object();
    json_array_foreach (value, i, item) {
        (void)snprintf(text, sizeof(text), "%zu", i);
        (void)json_object_set_new(object, text, mangle_walk("", "", item, wrong_type));
    }
    return object;
}

json_t *mangle_wrong_types(const json_t *value)
{
    return mangle_walk("", "", value, wrong_type);
}

static bool is_in(const char *text, const char *const *list)
{
    for (; *list; list++)
        if (!strcmp(text, *list))
            return true;
    return false;
}

static json_t *unknown_enum(const char *key, const char *parent, const json_t *value)
{
    static const char *const states[] = {"state", "stage", "outcome", "result", "classification", NULL};
    static const char *const typed[] = {"last_operation", "lastOperation", "failure_tolerance",
                                        "failureTolerance", NULL};
    if (!json_is_string(value))
        return NULL;
    if (is_in(key, states))
        return json_string("Reconsidering");
    if (!strcmp(key, "type") && is_in(parent, typed))
        return json_string("Transmogrify");
    /* These are members of conditions and constraints, whose objects have no key. */
    if (!strcmp(parent, "") && !strcmp(key, "type"))
        return json_string("MoonPhaseAcceptable");
    if (!strcmp(parent, "") && !strcmp(key, "status"))
        return json_string("Perhaps");
    return NULL;
}

json_t *mangle_unknown_enum(const json_t *value)
{
    return mangle_walk("", "-", value, unknown_enum);
}

static json_t *reversed(const char *key ATTR_UNUSED, const char *parent ATTR_UNUSED, const json_t *value)
{
    json_t *list;
    if (!json_is_array(value))
        return NULL;
    list = json_array();
    for (size_t i = json_array_size(value); i-- > 0;)
        (void)json_array_append_new(list, mangle_walk("", "", json_array_get(value, i), reversed));
    return list;
}

json_t *mangle_reorder(const json_t *value)
{
    return mangle_walk("", "", value, reversed);
}

/* Every member that the contract does not require, with the names of both generations. */
static const char *const optional_members[] = {"allowed_cidrs",
                                               "annotations",
                                               "cilium_provider_config",
                                               "classification",
                                               "controlPlane",
                                               "control_plane",
                                               "credentials_binding_name",
                                               "enable_static_token_kubeconfig",
                                               "active_deletion_request",
                                               "default_project_id",
                                               "encryption_mode",
                                               "encryption_node_to_node_enabled",
                                               "encryption_strict_mode_enabled",
                                               "expirationDate",
                                               "expiration_date",
                                               "hibernation",
                                               "labels",
                                               "lastOperation",
                                               "last_operation",
                                               "location",
                                               "max_unavailable",
                                               "nameservers_ipv4",
                                               "nameservers_ipv6",
                                               "region_name",
                                               "taints",
                                               "target",
                                               "technical_id",
                                               "text",
                                               "uid",
                                               "upgrade_notes",
                                               NULL};

static bool is_optional(const char *key, const json_t *parent)
{
    if (!strcmp(key, "architecture")) /* optional in the machine of a worker group, not in a machine type */
        return !json_object_get(parent, "cpu");
    if (is_in(key, optional_members))
        return true;
    if (json_object_get(parent, "area")) /* optional in a domain */
        return !strcmp(key, "name") || !strcmp(key, "enabled");
    if (!strcmp(key, "status")) /* optional in a shoot, not in a condition or domain */
        return json_is_object(json_object_get(parent, "status")) ||
               json_is_null(json_object_get(parent, "status"));
    if (!strcmp(key, "description") || !strcmp(key, "roles")) /* optional in a project or user */
        return json_object_get(parent, "domain_id");
    if (!strcmp(key, "id") || !strcmp(key, "router")) /* optional in networks, not in a quota */
        return json_object_get(parent, "workers");
    return false;
}

static json_t *without_optional(const char *key, const char *parent ATTR_UNUSED, const json_t *value)
{
    json_t *object = (json_t *)(uintptr_t)value;
    json_t *kept;
    if (!json_is_object(value))
        return NULL;
    kept = json_object();
    for (void *at = json_object_iter(object); at; at = json_object_iter_next(object, at)) {
        const char *name = json_object_iter_key(at);
        if (!is_optional(name, object))
            (void)json_object_set_new(kept, name,
                                      mangle_walk(name, key, json_object_iter_value(at), without_optional));
    }
    return kept;
}

json_t *mangle_omit_optional(const json_t *value)
{
    return mangle_walk("", "", value, without_optional);
}

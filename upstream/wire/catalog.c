/*
 * Cloud profiles in our words, for one region. v1 nests everything under `spec` in camelCase and sends
 * numbers as strings (CL-14, CL-24); the member names below are tried in both spellings.
 */
#include <stdlib.h>
#include <string.h>

#include "upstream/wire/generation_private.h"

static json_t *member(const json_t *object, const char *snake, const char *camel)
{
    json_t *value = json_object_get(object, snake);
    return value ? value : json_object_get(object, camel);
}

/* A string; NULL when it is longer than a word of Cleura's may be. */
static const char *word(const json_t *object, const char *key)
{
    struct decoding any = {0};
    return decode_word(&any, object, key);
}

static const char *word_or(const json_t *object, const char *key, const char *fallback)
{
    const char *found = word(object, key);
    return found ? found : fallback;
}

static json_t *version_entry(const json_t *version)
{
    json_t *entry = json_object();
    const char *expires = word(version, "expiration_date");
    json_set_str(entry, "version", word(version, "version"));
    /* A missing classification counts as supported (GA-8). */
    json_set_str(entry, "state", word_or(version, "classification", "supported"));
    json_set_str(entry, "expires_at", expires ? expires : word(version, "expirationDate"));
    struct decoding any = {0};
    if (json_arr(version, "architectures"))
        json_set_take(entry, "architectures", decode_words(&any, json_arr(version, "architectures")));
    return entry;
}

static json_t *versions(const json_t *array)
{
    json_t *ours = json_array();
    size_t i;
    json_t *version;
    json_array_foreach (array, i, version)
        if (word(version, "version"))
            (void)json_array_append_new(ours, version_entry(version));
    return ours;
}

static json_t *machine_images(const json_t *array)
{
    json_t *ours = json_array();
    size_t i;
    json_t *image;
    json_array_foreach (array, i, image) {
        if (!word(image, "name"))
            continue;
        json_t *entry = json_object();
        json_set_str(entry, "name", word(image, "name"));
        json_set_take(entry, "versions", versions(json_arr(image, "versions")));
        (void)json_array_append_new(ours, entry);
    }
    return ours;
}

static json_t *machine_types(const json_t *array)
{
    json_t *ours = json_array();
    size_t i;
    json_t *type;
    json_array_foreach (array, i, type) {
        if (!word(type, "name"))
            continue;
        json_t *entry = json_object();
        json_set_str(entry, "name", word(type, "name"));
        json_set_int(entry, "cpus", json_int(type, "cpu", 0));
        json_set_int(entry, "gpus", json_int(type, "gpu", 0));
        json_set_str(entry, "memory", word(type, "memory"));
        json_set_str(entry, "architecture", word_or(type, "architecture", "amd64"));
        json_set_bool(entry, "usable", json_bool(type, "usable", true));
        (void)json_array_append_new(ours, entry);
    }
    return ours;
}

static json_t *names(const json_t *array)
{
    json_t *ours = json_array();
    size_t i;
    json_t *item;
    json_array_foreach (array, i, item)
        if (word(item, "name"))
            (void)json_array_append(ours, json_object_get(item, "name"));
    return ours;
}

/* The smallest volume that any usable volume type offers; 0: not told. */
static int64_t volume_minimum(const json_t *types)
{
    int64_t least = 0;
    size_t i;
    json_t *type;
    json_array_foreach (types, i, type) {
        int64_t size = decode_gib(json_str(type, "min_size"));
        if (json_bool(type, "usable", true) && size && (!least || size < least))
            least = size;
    }
    return least;
}

static json_t *zones(const json_t *regions, const char *region)
{
    size_t i;
    json_t *item;
    json_array_foreach (regions, i, item)
        if (!strcmp(json_str_or(item, "name", ""), region))
            return names(json_arr(item, "zones"));
    return json_array();
}

static json_t *names_or(json_t *array, const char *fallback)
{
    json_t *list = names(array);
    if (!json_array_size(list))
        (void)json_array_append_new(list, json_string(fallback));
    return list;
}

json_t *decode_catalog(const json_t *profiles, const char *region, bool v1)
{
    const json_t *profile = json_array_get(profiles, 0);
    const json_t *root = v1 ? json_obj(profile, "spec") : profile;
    if (!json_arr(json_obj(root, "kubernetes"), "versions"))
        return NULL;
    const json_t *constraints = json_obj(json_object_get(root, "provider_config"), "constraints");
    json_t *ours = json_object();
    json_set_str(ours, "name", word(profile, "name"));
    json_set_str(ours, "region", region);
    json_set_take(ours, "kubernetes_versions", versions(json_arr(json_obj(root, "kubernetes"), "versions")));
    json_set_take(ours, "machine_images", machine_images(member(root, "machine_images", "machineImages")));
    json_set_take(ours, "machine_types", machine_types(member(root, "machine_types", "machineTypes")));
    json_set_take(ours, "zones", zones(json_arr(root, "regions"), region));
    if (volume_minimum(json_arr(root, "volume_types")))
        json_set_int(ours, "volume_minimum_gib", volume_minimum(json_arr(root, "volume_types")));
    /* v1 tells neither; these are the only values in use (CL-24). */
    json_set_take(ours, "floating_pools", names_or(json_arr(constraints, "floating_pools"), "ext-net"));
    json_set_take(ours, "load_balancer_providers",
                  names_or(json_arr(constraints, "load_balancer_providers"), "amphora"));
    return ours;
}

/*
 * Decodes cloud profiles into shootd's format, for one region. The APIs have the members in different places
 * (`root`), and v1 writes them in camelCase, and numbers as strings (CL-14, CL-24). The member names below
 * are tried in both spellings.
 */
#include <stdlib.h>
#include <string.h>

#include "upstream/wire/driver_private.h"

/* Returns the list under either name; empty when it is absent or cannot be read. */
static const json_t *list_of(struct decoding *d, const json_t *object, const char *snake, const char *camel)
{
    const json_t *array;
    return decode_array(d, object, json_object_get(object, snake) ? snake : camel, &array) ? array : NULL;
}

/* Copies a word. When it is absent, `absent` is used; when it cannot be read, `unread` is used. */
static void take_word(struct decoding *d, json_t *ours, const char *name, const json_t *theirs,
                      const char *their_name, const char *absent, const char *unread)
{
    const unsigned before = d->unread;
    const char *found = decode_word(d, theirs, their_name);
    json_set_str(ours, name, found ? found : d->unread == before ? absent : unread);
}

static json_t *version_entry(struct decoding *d, const json_t *version, const char *number)
{
    json_t *entry = json_object();
    const char *expires = decode_word(d, version, "expiration_date");
    const char *expires_v1 = decode_word(d, version, "expirationDate");
    json_set_str(entry, "version", number);
    /* An absent classification means supported (GA-8). */
    take_word(d, entry, "state", version, "classification", "supported", "unknown");
    json_set_str(entry, "expires_at", expires ? expires : expires_v1);
    const json_t *named = json_object_get(version, "architectures");
    json_t *architectures = named && !json_is_null(named) ? decode_words(d, version, "architectures") : NULL;
    if (architectures)
        json_set_take(entry, "architectures", architectures);
    return entry;
}

/*
 * An entry without a readable name is left out, because nobody can select it. The same is done for images,
 * types and zones below.
 */
static json_t *versions(struct decoding *d, const json_t *of)
{
    const json_t *array = list_of(d, of, "versions", "versions");
    json_t *ours = json_array();
    for (size_t i = 0; i < json_array_size(array); i++) {
        const json_t *version = decode_element(d, array, i);
        const char *number = decode_word(d, version, "version");
        if (number)
            json_append_take(ours, version_entry(d, version, number));
    }
    return ours;
}

static json_t *machine_images(struct decoding *d, const json_t *root)
{
    const json_t *array = list_of(d, root, "machine_images", "machineImages");
    json_t *ours = json_array();
    for (size_t i = 0; i < json_array_size(array); i++) {
        const json_t *image = decode_element(d, array, i);
        const char *name = decode_word(d, image, "name");
        if (!name)
            continue;
        json_t *entry = json_object();
        json_set_str(entry, "name", name);
        json_set_take(entry, "versions", versions(d, image));
        json_append_take(ours, entry);
    }
    return ours;
}

/* Copies a number; an absent number is 0. */
static void take_count(struct decoding *d, json_t *ours, const char *name, const json_t *theirs,
                       const char *their_name)
{
    const json_t *there = json_object_get(theirs, their_name);
    if (there && !json_is_null(there))
        json_set_take(ours, name, decode_number(d, theirs, their_name, INT64_MAX));
    else
        json_set_int(ours, name, 0);
}

/* Whether the machine type is offered. When the flag cannot be read, the type is offered, and Cleura
 * decides. */
static bool is_usable(struct decoding *d, const json_t *type)
{
    json_t *usable CLEANUP_JSON = decode_bool(d, type, "usable", true);
    return !json_is_false(usable);
}

static json_t *machine_types(struct decoding *d, const json_t *root)
{
    const json_t *array = list_of(d, root, "machine_types", "machineTypes");
    json_t *ours = json_array();
    for (size_t i = 0; i < json_array_size(array); i++) {
        const json_t *type = decode_element(d, array, i);
        const char *name = decode_word(d, type, "name");
        if (!name)
            continue;
        json_t *entry = json_object();
        json_set_str(entry, "name", name);
        take_count(d, entry, "cpus", type, "cpu");
        take_count(d, entry, "gpus", type, "gpu");
        json_set_take(entry, "memory_mib", decode_mib(d, type, "memory"));
        take_word(d, entry, "architecture", type, "architecture", "amd64", NULL);
        json_set_bool(entry, "usable", is_usable(d, type));
        json_append_take(ours, entry);
    }
    return ours;
}

static json_t *names(struct decoding *d, const json_t *object, const char *key)
{
    const json_t *array = list_of(d, object, key, key);
    json_t *ours = json_array();
    for (size_t i = 0; i < json_array_size(array); i++) {
        const char *name = decode_word(d, decode_element(d, array, i), "name");
        if (name)
            json_append_take(ours, json_string(name));
    }
    return ours;
}

/* Returns the smallest size among the usable volume types; 0: not reported. */
static int64_t volume_minimum(struct decoding *d, const json_t *root)
{
    const json_t *types = list_of(d, root, "volume_types", "volume_types");
    int64_t least = 0;
    for (size_t i = 0; i < json_array_size(types); i++) {
        const json_t *type = decode_element(d, types, i);
        json_t *size CLEANUP_JSON = decode_gib(d, type, "min_size");
        int64_t gib = json_integer_value(size);
        if (is_usable(d, type) && gib && (!least || gib < least))
            least = gib;
    }
    return least;
}

static json_t *zones(struct decoding *d, const json_t *root, const char *region)
{
    const json_t *regions = list_of(d, root, "regions", "regions");
    for (size_t i = 0; i < json_array_size(regions); i++) {
        const json_t *item = decode_element(d, regions, i);
        const char *name = decode_word(d, item, "name");
        if (name && !strcmp(name, region))
            return names(d, item, "zones");
    }
    return json_array();
}

static json_t *names_or(struct decoding *d, const json_t *object, const char *key, const char *fallback)
{
    json_t *list = names(d, object, key);
    if (!json_array_size(list))
        json_append_take(list, json_string(fallback));
    return list;
}

json_t *decode_catalog(struct decoding *d, const json_t *profile, const json_t *root, const char *region)
{
    const json_t *kubernetes = json_obj(root, "kubernetes");
    if (!json_arr(kubernetes, "versions")) /* the previous catalog is better than one without versions, so
                                            * such a catalog is refused */
        return NULL;
    const json_t *config = decode_member(d, root, "provider_config", JSON_OBJECT);
    const json_t *constraints = decode_member(d, config, "constraints", JSON_OBJECT);
    const int64_t volume = volume_minimum(d, root);
    json_t *ours = json_object();
    json_set_str(ours, "name", decode_word(d, profile, "name"));
    json_set_str(ours, "region", region);
    json_set_take(ours, "kubernetes_versions", versions(d, kubernetes));
    json_set_take(ours, "machine_images", machine_images(d, root));
    json_set_take(ours, "machine_types", machine_types(d, root));
    json_set_take(ours, "zones", zones(d, root, region));
    if (volume)
        json_set_int(ours, "volume_minimum_gib", volume);
    /* v1 does not report these two lists. Each has only one value that is in use (CL-24). */
    json_set_take(ours, "floating_pools", names_or(d, constraints, "floating_pools", "ext-net"));
    json_set_take(ours, "load_balancer_providers",
                  names_or(d, constraints, "load_balancer_providers", "amphora"));
    return ours;
}

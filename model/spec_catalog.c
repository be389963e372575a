/*
 * Checks of values that the catalog lists. A value that the cluster already has stays valid when the catalog
 * no longer offers it.
 */
#include <string.h>

#include "base/mem.h"
#include "base/near_word.h"
#include "model/names.h"
#include "model/spec_check_private.h"

bool version_is_offered(const json_t *entry, wall_us now)
{
    return !version_is_expired(entry, now) && strcmp(json_str_or(entry, "state", ""), "unavailable") != 0 &&
           pattern_matches(PATTERN_VERSION, json_str_or(entry, "version", ""));
}

static bool version_is_supported(const json_t *entry, wall_us now)
{
    return version_is_offered(entry, now) && !strcmp(json_str_or(entry, "state", "supported"), "supported");
}

static const char *first_within(const json_t *versions, const char *wanted)
{
    size_t i;
    json_t *version;
    json_array_foreach (versions, i, version)
        if (version_is_within(wanted, json_string_value(version)))
            return json_string_value(version);
    return NULL;
}

void spec_check_kubernetes_version(struct spec_check *k, const char *pointer, const json_t *value,
                                   const json_t *there)
{
    const json_t *versions = json_arr(k->context->catalog, "kubernetes_versions");
    const char *wanted = json_string_value(value);
    const bool is_kept = json_is_string(there) && version_is_within(wanted, json_string_value(there));
    bool listed = false, found = false, line_found = false;
    json_t *valid CLEANUP_JSON = json_array();
    size_t i;
    json_t *entry;
    json_array_foreach (versions, i, entry) {
        const char *version = json_str_or(entry, "version", "");
        const bool offered = version_is_offered(entry, k->context->now);
        if (offered)
            json_append_take(valid, json_string(version));
        if (!strcmp(wanted, version)) {
            listed = true;
            found |= offered;
        } else if (version_is_within(wanted, version)) {
            line_found |= version_is_supported(entry, k->context->now);
        }
    }
    if (!versions || is_kept || (listed ? found : line_found)) /* the same rule as in version_newest */
        return;
    const char *unsupported = first_within(valid, wanted);
    if (unsupported)
        FAULT(k, pointer, "unknown_version", json_incref(valid),
              "'%s' means its newest supported patch, and none is supported: name one exactly, for example "
              "'%s'",
              wanted, unsupported);
    else
        FAULT(k, pointer, "unknown_version", json_incref(valid), "'%s' is not offered", wanted);
}

static json_t *usable_machine_types(const json_t *catalog)
{
    json_t *names = json_array();
    size_t i;
    json_t *type;
    json_array_foreach (json_arr(catalog, "machine_types"), i, type)
        if (json_bool(type, "usable", true))
            (void)json_array_append(names, json_object_get(type, "name"));
    return names;
}

void spec_check_machine_type(struct spec_check *k, const char *pointer, const json_t *value,
                             const json_t *there ATTR_UNUSED)
{
    if (!k->context->catalog)
        return;
    json_t *names CLEANUP_JSON = usable_machine_types(k->context->catalog);
    spec_check_listed(k, pointer, value, names, "a usable machine type");
}

void spec_check_floating_pool(struct spec_check *k, const char *pointer, const json_t *value,
                              const json_t *there ATTR_UNUSED)
{
    spec_check_listed(k, pointer, value, json_arr(k->context->catalog, "floating_pools"), "a floating pool");
}

void spec_check_load_balancer(struct spec_check *k, const char *pointer, const json_t *value,
                              const json_t *there ATTR_UNUSED)
{
    spec_check_listed(k, pointer, value, json_arr(k->context->catalog, "load_balancer_providers"),
                      "a load balancer provider");
}

enum { ZONE_MAX = 63 };

static bool has_item(const json_t *array, const json_t *value)
{
    size_t i;
    json_t *item;
    json_array_foreach (array, i, item)
        if (json_equal(item, value))
            return true;
    return false;
}

void spec_check_zones(struct spec_check *k, const char *pointer, const json_t *value, const json_t *there)
{
    json_t *seen CLEANUP_JSON = json_object();
    json_t *known = json_arr(k->context->catalog, "zones");
    size_t i;
    json_t *zone;
    if (!json_array_size(value))
        FAULT(k, pointer, "too_few", NULL, "must name at least one zone");
    json_array_foreach (value, i, zone) {
        char *here CLEANUP_FREE = spec_pointer_at(pointer, i);
        if (!json_is_string(zone)) {
            FAULT(k, here, "wrong_type", NULL, "must be a string");
            continue;
        }
        if (json_string_length(zone) < 1 || json_string_length(zone) > ZONE_MAX)
            FAULT(k, here, "wrong_length", NULL, "must have 1 to %d characters", ZONE_MAX);
        else if (!has_item(there, zone))
            spec_check_listed(k, here, zone, known, "a zone of the region");
        if (!spec_set_add(seen, json_string_value(zone)))
            FAULT(k, here, "duplicate", NULL, "is named twice");
    }
}

/* Checks the size of a volume. Cleura's profile has one volume type. The catalog has the smallest size of
 * this type, if Cleura reports the size. */
void spec_check_volume_size(struct spec_check *k, const char *pointer, const json_t *value,
                            const json_t *there ATTR_UNUSED)
{
    int64_t smallest = json_int(k->context->catalog, "volume_minimum_gib", 0);
    if (json_integer_value(value) < smallest)
        FAULT(k, pointer, "out_of_range", NULL, "must be at least %lld, the smallest volume offered",
              (long long)smallest);
}

/* ---- images ---- */

static const json_t *find_image(const struct spec_check *k, const char *name)
{
    const json_t *images = json_arr(k->context->catalog, "machine_images");
    return name ? spec_find_named(images, name) : json_array_get(images, 0);
}

static const char *image_name(const json_t *image, const json_t *there)
{
    return json_str_or(image, "name", json_str(there, "name"));
}

static void fault_unknown_image(struct spec_check *k, const char *pointer, const char *name)
{
    json_t *valid = json_array();
    size_t i;
    json_t *item;
    json_array_foreach (json_arr(k->context->catalog, "machine_images"), i, item)
        (void)json_array_append(valid, json_object_get(item, "name"));
    char *text CLEANUP_FREE = word_refusal(name ? name : "", "a machine image", valid);
    FAULT(k, pointer, "unknown_value", valid, "%s", text);
}

static void check_image_version(struct spec_check *k, const char *pointer, const json_t *image,
                                const char *wanted)
{
    json_t *valid CLEANUP_JSON = json_array();
    bool found = false;
    size_t i;
    json_t *entry;
    json_array_foreach (json_arr(image, "versions"), i, entry) {
        if (!version_is_offered(entry, k->context->now))
            continue;
        (void)json_array_append(valid, json_object_get(entry, "version"));
        found |= !strcmp(wanted, json_str_or(entry, "version", ""));
    }
    if (!found)
        FAULT(k, pointer, "unknown_version", json_incref(valid),
              "'%s' is not an offered version of this image", wanted);
}

/* Whether the pool already has the name and version of `image`, or `image` leaves them out. */
static bool image_is_kept(const json_t *image, const json_t *there)
{
    static const char *const members[] = {"name", "version"};
    for (size_t i = 0; i < ARRAY_LEN(members); i++) {
        const char *wanted = json_str(image, members[i]);
        if (wanted && strcmp(wanted, json_str_or(there, members[i], "")) != 0)
            return false;
    }
    return there != NULL;
}

void spec_check_image(struct spec_check *k, const char *pointer, const json_t *value, const json_t *there)
{
    static const struct spec_member members[] = {
        {"name", MEMBER_STRING, 1, 63, NULL, NULL},
        {"version", MEMBER_STRING, 1, IMAGE_VERSION_MAX, PATTERN_VERSION, NULL},
    };
    spec_check_object(k, members, ARRAY_LEN(members), pointer, value, there);
    if (!json_arr(k->context->catalog, "machine_images") || image_is_kept(value, there))
        return;
    const char *name = image_name(value, there), *version = json_str(value, "version");
    const json_t *known = find_image(k, name);
    if (!known)
        fault_unknown_image(k, pointer, name);
    else if (version)
        check_image_version(k, pointer, known, version);
}

/* Whether the version supports the architecture. The result is also true when this is unknown, because
 * `architecture` is NULL or the version lists none. */
static bool runs_on(const json_t *version, const char *architecture)
{
    const json_t *known = json_arr(version, "architectures");
    json_t *wanted CLEANUP_JSON = architecture ? json_string(architecture) : NULL;
    return !known || !wanted || has_item(known, wanted);
}

/* Returns the architecture of a machine type; NULL when the catalog's value cannot be read. */
static const char *architecture_of(const json_t *machine_type)
{
    const bool is_unread = json_is_null(json_object_get(machine_type, "architecture"));
    return is_unread ? NULL : json_str_or(machine_type, "architecture", "amd64");
}

void spec_check_architecture(struct spec_check *k, const char *pointer, const json_t *pool,
                             const json_t *there)
{
    const char *type_name = json_str_or(
        pool, "machine_type",
        json_str_or(there, "machine_type", json_str_or(k->context->defaults, "machine_type", "")));
    const json_t *type = spec_find_named(json_arr(k->context->catalog, "machine_types"), type_name);
    const json_t *image = json_obj(pool, "image"), *kept = json_obj(there, "image");
    const json_t *known = find_image(k, image_name(image, kept));
    const char *wanted = json_str_or(image, "version", json_str(kept, "version"));
    const char *architecture = architecture_of(type);
    json_t *valid CLEANUP_JSON = json_array();
    bool wrong = false;
    size_t i;
    json_t *entry;
    if (!type || !wanted || !architecture)
        return;
    json_array_foreach (json_arr(known, "versions"), i, entry) {
        bool fits = runs_on(entry, architecture);
        if (fits && version_is_offered(entry, k->context->now))
            (void)json_array_append(valid, json_object_get(entry, "version"));
        wrong |= !fits && !strcmp(wanted, json_str_or(entry, "version", ""));
    }
    if (!wrong)
        return;
    char *here CLEANUP_FREE = json_pointer_to(pointer, "image");
    FAULT(k, here, "wrong_architecture", json_incref(valid),
          "version '%s' does not run on machine type '%s' (%s)", wanted, type_name, architecture);
}

/* ---- upgrades: newer versions that pass the checks above ---- */

json_t *spec_version_offers(const char *present, const struct spec_context *context)
{
    char minor[VERSION_LINE_BYTES], next[VERSION_LINE_BYTES];
    json_t *offers = json_array();
    size_t i;
    json_t *entry;
    version_minor(present, minor);
    version_next_minor(present, next);
    json_array_foreach (json_arr(context->catalog, "kubernetes_versions"), i, entry) {
        const char *version = json_str_or(entry, "version", "");
        if (version_compare(version, present) > 0 && version_is_offered(entry, context->now) &&
            strlen(version) <= KUBERNETES_VERSION_MAX &&
            (version_is_within(minor, version) || version_is_within(next, version)))
            (void)json_array_append(offers, entry);
    }
    return offers;
}

json_t *spec_image_offers(const json_t *pool, const struct spec_context *context)
{
    const json_t *image = json_obj(pool, "image");
    const json_t *known =
        spec_find_named(json_arr(context->catalog, "machine_images"), json_str(image, "name"));
    const json_t *type =
        spec_find_named(json_arr(context->catalog, "machine_types"), json_str(pool, "machine_type"));
    const char *present = json_str(image, "version");
    json_t *offers = json_array();
    size_t i;
    json_t *entry;
    json_array_foreach (present ? json_arr(known, "versions") : NULL, i, entry) {
        const char *version = json_str_or(entry, "version", "");
        if (version_compare(version, present) > 0 && version_is_offered(entry, context->now) &&
            strlen(version) <= IMAGE_VERSION_MAX && (!type || runs_on(entry, architecture_of(type))))
            (void)json_array_append(offers, entry);
    }
    return offers;
}

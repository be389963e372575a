#include "simulator/cloud/sim_catalog.h"

#include "simulator/cloud/clock.h"
#include "simulator/cloud/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define US_PER_DAY (86400 * US_PER_SECOND)

struct offered_version {
    const char *version;
    const char *classification;
    int expires_days; /* days until the expiry date; 0: there is no date */
};

static const struct offered_version kubernetes_versions[] = {
    {"1.32.10", "deprecated", 20}, {"1.32.11", "supported", 0},   {"1.33.6", "deprecated", 20},
    {"1.33.7", "supported", 0},    {"1.34.2", "deprecated", 60},  {"1.34.3", "supported", 0},
    {"1.35.0", "preview", 0},      {"1.31.14", "deprecated", -5},
};

static const struct offered_version image_versions[] = {
    {"1877.5.0", "deprecated", -5},
    {"1877.7.0", "deprecated", 20},
    {"1877.9.0", "supported", 0},
};

static const struct {
    const char *name;
    int cpu;
    const char *memory;
    bool usable;
} machine_types[] = {
    {"b.2c4gb", 2, "4Gi", true},   {"b.2c8gb", 2, "8Gi", true},   {"b.4c8gb", 4, "8Gi", true},
    {"b.4c16gb", 4, "16Gi", true}, {"b.8c32gb", 8, "32Gi", true}, {"b.1c2gb", 1, "2Gi", false},
};

static const struct known_region known_regions[] = {
    {"Sto2", 2, "Stockholm", 6, "Sweden / Stockholm", "SE_STO2", "Stockholm / Sweden", false, {"nova"}},
    {"Fra1", 6, "Frankfurt", 7, "Germany / Frankfurt", "DE", "Frankfurt / Germany", false, {"nova"}},
    {"Kna1", 1, "Karlskrona", 1, "Europe", "EU", "Karlskrona / Sweden", false, {"nova"}},
    {"sto1hs", 103, "Sto1hs", 4, "CityCloud Compliant Sto1hs", "STO1HS", "Sto1hs", true, {"nova"}},
    {"sto2hs", 101, "Sto2hs", 1, "CityCloud Compliant Sto2hs", "STO2HS", "Sto2hs", true, {"nova"}},
    {"sto-com", 104, "Sto-Com", 5, "Cleura STO-COM", "STO-COM", "Sto-Com", true, {"az1", "az2", "az3"}},
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

struct known_region catalog_region(const char *tag)
{
    struct known_region made = {tag, 0, tag, 0, tag, tag, tag, false, {"nova"}};
    int number = (int)(random_hash(2, tag) % 900) + 200;
    for (size_t i = 0; i < COUNT(known_regions); i++)
        if (!strcmp(known_regions[i].tag, tag))
            return known_regions[i];
    made.id = number;
    made.area_id = number;
    return made;
}

static json_t *make_version(const struct offered_version *offered, int64_t now_us)
{
    json_t *expires = json_null();
    if (offered->expires_days != 0) {
        /* Expiry dates are at midnight UTC. */
        int64_t day = (now_us / US_PER_DAY + offered->expires_days) * US_PER_DAY;
        expires = clock_json(day);
    }
    return json_pack("{s:s, s:s, s:o}", "version", offered->version, "classification",
                     offered->classification, "expiration_date", expires);
}

static json_t *make_images(int64_t now_us)
{
    json_t *versions = json_array();
    for (size_t i = 0; i < COUNT(image_versions); i++) {
        json_t *version = make_version(&image_versions[i], now_us);
        (void)json_object_set_new(version, "cri", json_pack("[{s:s}]", "name", "containerd"));
        (void)json_object_set_new(version, "architectures", json_pack("[s]", "amd64"));
        (void)json_array_append_new(versions, version);
    }
    return json_pack("[{s:s, s:s, s:o}]", "name", "gardenlinux", "update_strategy", "major", "versions",
                     versions);
}

static json_t *make_machine_types(void)
{
    json_t *types = json_array();
    for (size_t i = 0; i < COUNT(machine_types); i++)
        (void)json_array_append_new(
            types, json_pack("{s:s, s:i, s:i, s:s, s:s, s:b}", "name", machine_types[i].name, "cpu",
                             machine_types[i].cpu, "gpu", 0, "memory", machine_types[i].memory,
                             "architecture", "amd64", "usable", machine_types[i].usable));
    return types;
}

static json_t *catalog_make_zones(const struct known_region *region)
{
    json_t *zones = json_array();
    for (size_t i = 0; i < COUNT(region->zones) && region->zones[i]; i++)
        (void)json_array_append_new(zones, json_pack("{s:s}", "name", region->zones[i]));
    return zones;
}

static json_t *make_regions(const struct options *options)
{
    json_t *regions = json_array();
    for (size_t i = 0; i < options->region_count; i++) {
        struct known_region region = catalog_region(options->regions[i]);
        (void)json_array_append_new(
            regions, json_pack("{s:s, s:o}", "name", region.tag, "zones", catalog_make_zones(&region)));
    }
    return regions;
}

static json_t *make_provider_images(const struct options *options)
{
    json_t *versions = json_array();
    for (size_t i = 0; i < COUNT(image_versions); i++) {
        json_t *regions = json_array();
        char image[64];
        (void)snprintf(image, sizeof(image), "gardenlinux-%s", image_versions[i].version);
        for (size_t r = 0; r < options->region_count; r++) {
            struct random_source source;
            char id[UUID_TEXT_SIZE];
            random_init(&source, random_hash(random_hash(3, image), options->regions[r]));
            random_uuid(&source, id);
            (void)json_array_append_new(regions,
                                        json_pack("{s:s, s:s}", "name", options->regions[r], "id", id));
        }
        (void)json_array_append_new(versions,
                                    json_pack("{s:s, s:s, s:o}", "version", image_versions[i].version,
                                              "image", image, "regions", regions));
    }
    return json_pack("[{s:s, s:o}]", "name", "gardenlinux", "versions", versions);
}

static json_t *make_keystone_urls(const struct options *options)
{
    json_t *urls = json_array();
    for (size_t i = 0; i < options->region_count; i++)
        (void)json_array_append_new(urls, json_pack("{s:s, s:s}", "region", options->regions[i], "uri",
                                                    "https://identity.example.invalid:5000/v3"));
    return urls;
}

static json_t *make_provider_config(const struct options *options)
{
    return json_pack("{s:{s:[{s:s}], s:[{s:s}]}, s:[s], s:o, s:o, s:[s]}", "constraints", "floating_pools",
                     "name", "ext-net", "load_balancer_providers", "name", "amphora", "dns_servers",
                     "192.0.2.53", "keystone_urls", make_keystone_urls(options), "machine_images",
                     make_provider_images(options), "server_group_policies", "soft-anti-affinity");
}

json_t *catalog_new(const struct options *options, int64_t now_us)
{
    json_t *versions = json_array();
    for (size_t i = 0; i < COUNT(kubernetes_versions); i++)
        (void)json_array_append_new(versions, make_version(&kubernetes_versions[i], now_us));
    return json_pack("{s:s, s:s, s:{s:o}, s:o, s:o, s:o, s:[{s:s, s:s, s:b, s:s}], s:o}", "name",
                     "cleuracloud", "type", "openstack", "kubernetes", "versions", versions, "machine_images",
                     make_images(now_us), "machine_types", make_machine_types(), "regions",
                     make_regions(options), "volume_types", "name", "default", "class", "standard", "usable",
                     1, "min_size", "10Gi", "provider_config", make_provider_config(options));
}

static json_t *version_v1(const json_t *version)
{
    json_t *old = json_pack("{s:O, s:O}", "version", json_object_get(version, "version"), "classification",
                            json_object_get(version, "classification"));
    static const char *const kept[] = {"cri", "architectures"};
    json_t *expires = json_object_get(version, "expiration_date");
    if (json_is_string(expires))
        (void)json_object_set(old, "expirationDate", expires);
    for (size_t i = 0; i < COUNT(kept); i++)
        if (json_object_get(version, kept[i]))
            (void)json_object_set(old, kept[i], json_object_get(version, kept[i]));
    return old;
}

static json_t *versions_v1(const json_t *versions)
{
    json_t *list = json_array();
    json_t *version;
    size_t i;
    json_array_foreach (versions, i, version)
        (void)json_array_append_new(list, version_v1(version));
    return list;
}

static json_t *images_v1(const json_t *images)
{
    json_t *list = json_array();
    json_t *image;
    size_t i;
    json_array_foreach (images, i, image)
        (void)json_array_append_new(list,
                                    json_pack("{s:O, s:O, s:o}", "name", json_object_get(image, "name"),
                                              "updateStrategy", json_object_get(image, "update_strategy"),
                                              "versions", versions_v1(json_object_get(image, "versions"))));
    return list;
}

static json_t *number_as_text(const json_t *number)
{
    char text[32];
    (void)snprintf(text, sizeof(text), "%lld", (long long)json_integer_value(number));
    return json_string(text);
}

static json_t *machine_types_v1(const json_t *types)
{
    json_t *list = json_array();
    json_t *type;
    size_t i;
    json_array_foreach (types, i, type) {
        json_t *old = json_copy(type);
        (void)json_object_set_new(old, "cpu", number_as_text(json_object_get(type, "cpu")));
        (void)json_object_set_new(old, "gpu", number_as_text(json_object_get(type, "gpu")));
        (void)json_array_append_new(list, old);
    }
    return list;
}

json_t *catalog_render_v1(const json_t *catalog)
{
    json_t *regions = json_deep_copy(json_object_get(catalog, "regions"));
    json_t *region;
    json_t *zone;
    size_t i;
    size_t z;
    json_array_foreach (regions, i, region)
        json_array_foreach (json_object_get(region, "zones"), z, zone)
            (void)json_object_set_new(zone, "unavailableVolumeTypes", json_null());
    return json_pack("[{s:O, s:{s:{s:o}, s:o, s:o, s:o}}]", "name", json_object_get(catalog, "name"), "spec",
                     "kubernetes", "versions",
                     versions_v1(json_object_get(json_object_get(catalog, "kubernetes"), "versions")),
                     "machineImages", images_v1(json_object_get(catalog, "machine_images")), "machineTypes",
                     machine_types_v1(json_object_get(catalog, "machine_types")), "regions", regions);
}

static json_t *find_by(const json_t *list, const char *member, const char *value)
{
    json_t *item;
    size_t i;
    json_array_foreach (list, i, item)
        if (!strcmp(json_string_value(json_object_get(item, member)), value))
            return item;
    return NULL;
}

static const char *catalog_refuse(const json_t *versions, const char *version, int64_t now_us)
{
    const json_t *found = find_by(versions, "version", version);
    const json_t *expires = json_object_get(found, "expiration_date");
    if (!found)
        return "is not offered by the cloud profile";
    if (json_is_string(expires) && clock_parse(json_string_value(expires)) <= now_us)
        return "has expired";
    return NULL;
}

const char *catalog_refuse_version(const json_t *catalog, const char *version, int64_t now_us)
{
    return catalog_refuse(json_object_get(json_object_get(catalog, "kubernetes"), "versions"), version,
                          now_us);
}

const char *catalog_refuse_image(const json_t *catalog, const char *name, const char *version, int64_t now_us)
{
    const json_t *image = find_by(json_object_get(catalog, "machine_images"), "name", name);
    if (!image)
        return "is not an image of the cloud profile";
    return catalog_refuse(json_object_get(image, "versions"), version, now_us);
}

const char *catalog_refuse_machine(const json_t *catalog, const char *type)
{
    const json_t *found = find_by(json_object_get(catalog, "machine_types"), "name", type);
    if (!found)
        return "is not offered by the cloud profile";
    return json_is_true(json_object_get(found, "usable")) ? NULL : "is not usable";
}

const char *catalog_refuse_zone(const json_t *catalog, const char *region, const char *zone)
{
    const json_t *found = find_by(json_object_get(catalog, "regions"), "name", region);
    return find_by(json_object_get(found, "zones"), "name", zone) ? NULL : "is not a zone of the region";
}

const char *catalog_default_image(const json_t *catalog)
{
    const json_t *image = json_array_get(json_object_get(catalog, "machine_images"), 0);
    const json_t *found = find_by(json_object_get(image, "versions"), "classification", "supported");
    return json_string_value(json_object_get(found, "version"));
}

const char *catalog_default_machine(const json_t *catalog)
{
    json_t *type;
    size_t i;
    json_array_foreach (json_object_get(catalog, "machine_types"), i, type)
        if (json_is_true(json_object_get(type, "usable")))
            return json_string_value(json_object_get(type, "name"));
    return "";
}

json_t *catalog_default_zones(const json_t *catalog, const char *region)
{
    const json_t *found = find_by(json_object_get(catalog, "regions"), "name", region);
    const json_t *zone = json_array_get(json_object_get(found, "zones"), 0);
    return json_pack("[O]", json_object_get(zone, "name"));
}

int catalog_compare_versions(const char *a, const char *b)
{
    for (;;) {
        char *end_a;
        char *end_b;
        long left = strtol(a, &end_a, 10);
        long right = strtol(b, &end_b, 10);
        if (left != right)
            return left < right ? -1 : 1;
        if (*end_a != '.' || *end_b != '.')
            return (*end_a == '.') - (*end_b == '.');
        a = end_a + 1;
        b = end_b + 1;
    }
}

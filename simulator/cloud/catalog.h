/* The one cloud profile: versions, images, machine types, regions. Expiry dates lie around the start
 * of the simulated clock. */
#ifndef SIMULATOR_CLOUD_CATALOG_H
#define SIMULATOR_CLOUD_CATALOG_H

#include "simulator/cloud/options.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct known_region {
    const char *tag;
    int id;
    const char *name;
    int area_id;
    const char *area_name;
    const char *area_tag;
    const char *v1_name;
    bool compliant; /* v1 shows its ids as integers, the ids of other regions as strings */
    const char *zones[4];
};

/* The data of a region; an invented entry for other tags. */
struct known_region catalog_region(const char *tag);

/* The profile in v2 form, and its v1 form. */
json_t *catalog_new(const struct options *options, int64_t now_us);
json_t *catalog_render_v1(const json_t *catalog);

/* Why a value is not valid in a request, or NULL. */
const char *catalog_refuse_version(const json_t *catalog, const char *version, int64_t now_us);
const char *catalog_refuse_image(const json_t *catalog, const char *name, const char *version,
                                 int64_t now_us);
const char *catalog_refuse_machine(const json_t *catalog, const char *type);
const char *catalog_refuse_zone(const json_t *catalog, const char *region, const char *zone);
/* Newest supported image version. */
const char *catalog_default_image(const json_t *catalog);
/* The first usable machine type. */
const char *catalog_default_machine(const json_t *catalog);
json_t *catalog_default_zones(const json_t *catalog, const char *region);
/* Negative, zero, positive when a is older than, equal to, newer than b. */
int catalog_compare_versions(const char *a, const char *b);

#endif

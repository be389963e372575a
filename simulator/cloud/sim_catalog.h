/* The only cloud profile: versions, images, machine types, regions. Some expiry dates are before the start of
 * the simulated clock, some after it. */
#ifndef SIMULATOR_CLOUD_SIM_CATALOG_H
#define SIMULATOR_CLOUD_SIM_CATALOG_H

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
    bool compliant; /* v1 shows the ids of this region as integers, and the ids of other regions as strings */
    const char *zones[4];
};

/* Returns the data of a region; invented data for an unknown tag. */
struct known_region catalog_region(const char *tag);

/* catalog_new returns the profile in v2 form. The next function returns its v1 form. */
json_t *catalog_new(const struct options *options, int64_t now_us);
json_t *catalog_render_v1(const json_t *catalog);

/* Return the reason why a value is not valid in a request; NULL when it is valid. */
const char *catalog_refuse_version(const json_t *catalog, const char *version, int64_t now_us);
const char *catalog_refuse_image(const json_t *catalog, const char *name, const char *version,
                                 int64_t now_us);
const char *catalog_refuse_machine(const json_t *catalog, const char *type);
const char *catalog_refuse_zone(const json_t *catalog, const char *region, const char *zone);
/* Returns the newest supported image version. */
const char *catalog_default_image(const json_t *catalog);
/* Returns the first usable machine type. */
const char *catalog_default_machine(const json_t *catalog);
json_t *catalog_default_zones(const json_t *catalog, const char *region);
/* Returns a negative number, zero or a positive number when a is older than b, equal to b or newer than b. */
int catalog_compare_versions(const char *a, const char *b);

#endif

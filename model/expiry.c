#include "model/expiry.h"

#include <string.h>

#include "base/timefmt.h"

static const json_t *entry_of(const json_t *array, const char *member, const char *wanted)
{
    size_t i;
    json_t *entry;
    json_array_foreach (array, i, entry)
        if (!strcmp(json_str_or(entry, member, ""), wanted))
            return entry;
    return NULL;
}

static void add_expiring(const char *component, const char *version, const json_t *offers,
                         void (*visit)(void *ctx, const struct version_in_use *v), void *ctx)
{
    struct version_in_use v = {.component = component, .version = version, .offers = offers};
    v.entry = entry_of(offers, "version", version);
    const char *expires = json_str(v.entry, "expires_at");
    if (!expires || !time_parse_rfc3339(expires, &v.expires_at))
        v.expires_at = 0;
    visit(ctx, &v);
}

void versions_in_use(const struct shoot *shoot, const json_t *catalog,
                     void (*visit)(void *ctx, const struct version_in_use *v), void *ctx)
{
    if (shoot && shoot->kubernetes_version)
        add_expiring(COMPONENT_KUBERNETES, shoot->kubernetes_version,
                     json_arr(catalog, "kubernetes_versions"), visit, ctx);
    /* Names and versions alternate. A stored row may be damaged. */
    for (char *const *image = shoot ? shoot->images : NULL; image && image[0] && image[1]; image += 2) {
        const json_t *offered = entry_of(json_arr(catalog, "machine_images"), "name", image[0]);
        add_expiring(image[0], image[1], json_arr(offered, "versions"), visit, ctx);
    }
}

static void keep_earliest(void *ctx, const struct version_in_use *v)
{
    wall_us *earliest = ctx;
    if (v->expires_at && (!*earliest || v->expires_at < *earliest))
        *earliest = v->expires_at;
}

wall_us versions_expire_at(const struct shoot *shoot, const json_t *catalog)
{
    wall_us earliest = 0;
    versions_in_use(shoot, catalog, keep_earliest, &earliest);
    return earliest;
}

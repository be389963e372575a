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

static const char *image_member(const json_t *pool, const char *key)
{
    return json_str_or(json_obj(pool, "image"), key, "");
}

/* Whether an earlier pool has the same image: pools are few. */
static bool was_seen(const json_t *pools, size_t before, const json_t *pool)
{
    for (size_t i = 0; i < before; i++) {
        const json_t *other = json_array_get(pools, i);
        if (!strcmp(image_member(other, "name"), image_member(pool, "name")) &&
            !strcmp(image_member(other, "version"), image_member(pool, "version")))
            return true;
    }
    return false;
}

void versions_in_use(const json_t *observed, const json_t *catalog,
                     void (*visit)(void *ctx, const struct version_in_use *v), void *ctx)
{
    const char *kubernetes = json_str(observed, "kubernetes_version");
    const json_t *pools = json_arr(observed, "node_pools");
    size_t i;
    json_t *pool;
    if (kubernetes)
        add_expiring(COMPONENT_KUBERNETES, kubernetes, json_arr(catalog, "kubernetes_versions"), visit, ctx);
    json_array_foreach (pools, i, pool) {
        const char *name = image_member(pool, "name"), *version = image_member(pool, "version");
        if (!*name || !*version || was_seen(pools, i, pool))
            continue;
        const json_t *image = entry_of(json_arr(catalog, "machine_images"), "name", name);
        add_expiring(name, version, json_arr(image, "versions"), visit, ctx);
    }
}

static void keep_earliest(void *ctx, const struct version_in_use *v)
{
    wall_us *earliest = ctx;
    if (v->expires_at && (!*earliest || v->expires_at < *earliest))
        *earliest = v->expires_at;
}

wall_us versions_expire_at(const json_t *observed, const json_t *catalog)
{
    wall_us earliest = 0;
    versions_in_use(observed, catalog, keep_earliest, &earliest);
    return earliest;
}

/* The greatest part of the project's quota that node pools may use: for all nodes that the autoscaler may
 * start, and for the additional nodes during a replacement of nodes. */
#include "model/spec.h"

#include <string.h>

#include "base/attrs.h"

static const json_t *quota_named(const json_t *items, const char *name)
{
    size_t i;
    json_t *item;
    json_array_foreach (items, i, item)
        if (name && !strcmp(json_str_or(item, "name", ""), name))
            return item;
    return NULL;
}

enum { CPUS_MAX = 100000 };

/* Returns -1 when the catalog lacks the type, or when the number of CPUs is impossible for a machine. */
static int64_t cpus_of(const json_t *type)
{
    int64_t cpus = json_int(type, "cpus", -1);
    return cpus <= CPUS_MAX ? cpus : -1;
}

static void add_pool(struct spec_quota_sum *t, const json_t *pool, const struct spec_context *context)
{
    const json_t *type =
        quota_named(json_arr(context->catalog, "machine_types"), json_str(pool, "machine_type"));
    int64_t cpus = cpus_of(type), memory = json_int(type, "memory_mib", -1);
    int64_t nodes = json_int(pool, "maximum", 0) + json_int(pool, "max_surge", 1);
    t->nodes += nodes;
    t->cores += nodes * cpus;
    t->memory_mib += nodes * memory;
    t->volume_gib += nodes * json_int(pool, "volume_size_gib", 0);
    t->types_known = t->types_known && cpus >= 0 && memory >= 0;
}

void spec_quota_add(struct spec_quota_sum *sum, const json_t *pools, const struct spec_context *context)
{
    size_t i;
    json_t *pool;
    json_array_foreach (pools, i, pool)
        add_pool(sum, pool, context);
}

json_t *spec_quota_of(const struct spec_quota_sum *sum)
{
    json_t *doc = json_object();
    json_set_int(doc, "nodes", sum->nodes);
    json_set_take(doc, "cores", sum->types_known ? json_integer(sum->cores) : NULL);
    json_set_take(doc, "memory_mib", sum->types_known ? json_integer(sum->memory_mib) : NULL);
    json_set_int(doc, "volume_gib", sum->volume_gib);
    return doc;
}

json_t *spec_quota(const json_t *pools, const struct spec_context *context)
{
    struct spec_quota_sum sum = SPEC_QUOTA_NONE;
    spec_quota_add(&sum, pools, context);
    return spec_quota_of(&sum);
}

json_t *spec_quota_shares(const json_t *pools, const struct spec_context *context)
{
    json_t *shares = json_array();
    size_t i;
    json_t *pool;
    json_array_foreach (pools, i, pool) {
        struct spec_quota_sum sum = SPEC_QUOTA_NONE;
        add_pool(&sum, pool, context);
        json_append_take(shares, spec_quota_of(&sum));
    }
    return shares;
}

json_t *spec_pools_after(const json_t *spec, const json_t *observed, const struct spec_context *context)
{
    const json_t *there = json_arr(observed, "node_pools"), *wanted = json_arr(spec, "node_pools");
    json_t *pools = json_array();
    size_t i;
    json_t *pool;
    if (!wanted)
        (void)json_array_extend(pools, (json_t *)(uintptr_t)there);
    json_array_foreach (wanted, i, pool) {
        const json_t *old = quota_named(there, json_str(pool, "name"));
        json_t *after = old ? json_deep_copy(old) : spec_resolve_pool(pool, context);
        if (old)
            (void)json_object_update(after, pool);
        json_append_take(pools, after);
    }
    return pools;
}

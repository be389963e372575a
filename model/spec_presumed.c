/*
 * Fills in values that Cleura's answer does not show in a readable form: values that were requested before
 * and are still wanted. Without these values, an unreadable member would look changed, and each change would
 * also send that member.
 */
#include "base/mem.h"
#include "model/spec_check_private.h"

static json_t *presume(const json_t *there, const json_t *before, const json_t *spec)
{
    const bool is_kept = spec && json_equal(before, spec);
    if (json_is_null(there))
        return is_kept ? json_deep_copy(spec) : json_null();
    if (!json_is_object(there))
        return json_deep_copy(there);
    json_t *presumed = json_object();
    const char *key;
    json_t *value;
    json_object_foreach ((json_t *)(uintptr_t)there, key, value)
        json_set_take(presumed, key,
                      presume(value, json_object_get(before, key), json_object_get(spec, key)));
    return presumed;
}

/* Returns the pool in `pools`, a list of a spec, that matches this pool of the cluster. */
static const json_t *pool_of(const json_t *pools, const json_t *pool, const json_t *observed_pools)
{
    const json_t *only = json_array_size(pools) == 1 ? json_array_get(pools, 0) : NULL;
    if (only && !json_str(only, "name") && json_array_size(observed_pools) == 1)
        return only;
    return spec_find_named(pools, json_str(pool, "name"));
}

/* Makes the presumed form of a pool that cannot be seen, from the only known values: the values that were
 * requested earlier. */
static json_t *presume_unseen(const json_t *before, const json_t *spec)
{
    json_t *presumed = json_object();
    const char *key;
    json_t *value;
    json_object_foreach ((json_t *)(uintptr_t)spec, key, value) {
        const bool is_kept = json_equal(json_object_get(before, key), value);
        json_set_take(presumed, key, is_kept ? json_deep_copy(value) : json_null());
    }
    return presumed;
}

static json_t *presume_pools(const json_t *there, const json_t *before, const json_t *spec)
{
    json_t *presumed = json_array();
    size_t i;
    json_t *pool;
    json_array_foreach (there, i, pool)
        json_append_take(presumed, presume(pool, pool_of(before, pool, there), pool_of(spec, pool, there)));
    if (spec_pools_are_known(there))
        return presumed;
    json_array_foreach (spec, i, pool) {
        const char *name = json_str(pool, "name");
        const json_t *old = spec_find_named(before, name);
        if (old && !spec_find_named(there, name))
            json_append_take(presumed, presume_unseen(old, pool));
    }
    /* A pool without a name shows that there may be more pools. */
    if (!json_is_array(there) && json_array_size(presumed))
        json_append_take(presumed, json_pack("{sn si si}", "name", "maximum", 0, "max_surge", 0));
    if (json_is_array(there) || json_array_size(presumed))
        return presumed;
    json_decref(presumed);
    return json_null();
}

json_t *spec_presumed(const json_t *observed, const json_t *before, const json_t *spec)
{
    json_t *pools = json_object_get(observed, "node_pools");
    json_t *presumed = observed ? presume(observed, before, spec) : NULL;
    if (pools)
        json_set_take(presumed, "node_pools",
                      presume_pools(pools, json_arr(before, "node_pools"), json_arr(spec, "node_pools")));
    return presumed;
}

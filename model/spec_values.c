/*
 * Small functions on values of specs: lists, sets, items by their name. The files that check and compare
 * specs use them.
 */
#include <string.h>

#include "base/mem.h"
#include "base/near_word.h"
#include "model/spec_check_private.h"

char *spec_pointer_at(const char *base, size_t index)
{
    return mem_printf("%s/%zu", base, index);
}

bool spec_set_add(json_t *set, const char *key)
{
    if (json_object_get(set, key))
        return false;
    (void)json_object_set_new(set, key, json_true());
    return true;
}

const json_t *spec_find_named(const json_t *array, const char *name)
{
    size_t i;
    json_t *item;
    json_array_foreach (array, i, item)
        if (name && !strcmp(json_str_or(item, "name", ""), name))
            return item;
    return NULL;
}

bool spec_pools_are_known(const json_t *observed_pools)
{
    size_t i;
    json_t *pool;
    json_array_foreach (observed_pools, i, pool)
        if (!json_str(pool, "name"))
            return false;
    return json_is_array(observed_pools);
}

void spec_check_listed(struct spec_check *k, const char *pointer, const json_t *value, json_t *list,
                       const char *what)
{
    size_t i;
    json_t *item;
    if (!list)
        return;
    json_array_foreach (list, i, item)
        if (json_equal(item, value))
            return;
    if (problem_is_full(*k->faults))
        return;
    char *text CLEANUP_FREE = word_refusal(json_string_value(value), what, list);
    FAULT(k, pointer, "unknown_value", json_incref(list), "%s", text);
}

const json_t *spec_pool_there(const json_t *pools, const json_t *pool, const json_t *observed_pools)
{
    const char *name = json_str(pool, "name");
    if (name)
        return spec_find_named(observed_pools, name);
    bool single = json_array_size(pools) == 1 && json_array_size(observed_pools) == 1;
    return single ? json_array_get(observed_pools, 0) : NULL;
}

bool spec_zone_is_utc(const json_t *schedule)
{
    const char *zone = json_str_or(schedule, "location", "");
    return !*zone || !strcasecmp(zone, "UTC") || !strcasecmp(zone, "Etc/UTC");
}

/* Compares a desired spec with the observed state. */
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/mem.h"
#include "base/text.h"
#include "model/spec_check_private.h"

struct comparison {
    enum spec_unknown unknown;
    json_t *differences;
};

static size_t differ(const struct comparison *c, const char *path, const json_t *wanted, const json_t *found)
{
    json_t *entry = json_object();
    json_set_str(entry, "path", path);
    json_set_take(entry, "wanted", json_deep_copy(wanted));
    json_set_take(entry, "found", json_deep_copy(found));
    json_append_take(c->differences, entry);
    return 1;
}

static size_t compare(const struct comparison *c, const char *path, const json_t *wanted,
                      const json_t *found);

static size_t compare_objects(const struct comparison *c, const char *path, const json_t *wanted,
                              const json_t *found)
{
    size_t count = 0;
    const char *key;
    json_t *value;
    json_object_foreach ((json_t *)(uintptr_t)wanted, key, value) {
        char *here CLEANUP_FREE = mem_printf("%s%s%s", path, *path ? "." : "", key);
        if (!json_is_null(value))
            count += compare(c, here, value, json_object_get(found, key));
    }
    return count;
}

static size_t compare_pools(const struct comparison *c, const json_t *wanted, const json_t *found)
{
    const bool may_be_unseen = c->unknown == SPEC_UNKNOWN_AGREES && !spec_pools_are_known(found);
    const json_t *first = spec_pool_there(wanted, json_array_get(wanted, 0), found);
    size_t count = 0, i;
    json_t *pool;
    json_array_foreach (wanted, i, pool) {
        const char *name = json_str(pool, "name");
        const json_t *there = spec_pool_there(wanted, pool, found);
        char *here CLEANUP_FREE = mem_printf("node_pools.%s", name ? name : "default");
        if (there)
            count += compare_objects(c, here, pool, there);
        else if (!may_be_unseen)
            count += differ(c, here, pool, NULL);
    }
    json_array_foreach (found, i, pool) {
        const char *name = json_str(pool, "name");
        if (!name || pool == first)
            continue;
        char *here CLEANUP_FREE = mem_printf("node_pools.%s", name);
        if (!spec_find_named(wanted, name))
            count += differ(c, here, json_null(), pool);
    }
    return count;
}

static bool is_empty(const json_t *value)
{
    return !value || json_is_null(value) || (json_is_string(value) && !json_string_length(value));
}

/* Whether the member is the time zone of a schedule. UTC has several names, and an absent zone means UTC. */
static bool is_zone(const char *key)
{
    return !strcmp(key, "location");
}

/* A member that is absent in the desired item matches every value. An empty member matches only an empty or
 * absent value; an empty time zone matches every time zone. */
static bool item_matches(const json_t *wanted, const json_t *found)
{
    if (!json_is_object(wanted))
        return json_equal(wanted, found);
    const char *key;
    json_t *value;
    json_object_foreach ((json_t *)(uintptr_t)wanted, key, value) {
        const char *there = json_str_or(found, key, "");
        if (is_zone(key)) {
            if (!is_empty(value) && !json_equal(value, json_object_get(found, key)) &&
                !(spec_zone_is_utc(wanted) && spec_zone_is_utc(found)))
                return false;
            continue;
        }
        if (is_empty(value) ? *there != '\0' : !json_equal(value, json_object_get(found, key)))
            return false;
    }
    return true;
}

/* Returns the members that all desired items have. Matching items are found by these members. */
static json_t *common_members(const json_t *array)
{
    json_t *common = json_is_object(json_array_get(array, 0)) ? json_copy(json_array_get(array, 0)) : NULL;
    const char *key;
    json_t *value;
    void *next;
    json_object_foreach_safe(common, next, key, value)
    {
        bool everywhere = !is_zone(key);
        for (size_t i = 0; i < json_array_size(array) && everywhere; i++)
            everywhere = !is_empty(json_object_get(json_array_get(array, i), key));
        if (!everywhere)
            (void)json_object_del(common, key);
    }
    return common;
}

struct keyed {
    char *text;
    const json_t *item;
};

static char *key_text(const json_t *item, const json_t *common)
{
    if (!json_is_object(item))
        return json_canonical(item);
    json_t *named CLEANUP_JSON = json_object();
    const char *key;
    json_t *value;
    json_object_foreach ((json_t *)(uintptr_t)common, key, value)
        (void)json_object_set(named, key, json_object_get(item, key));
    return json_canonical(named);
}

static int by_text(const void *left, const void *right)
{
    const struct keyed *a = left, *b = right;
    return strcmp(a->text, b->text);
}

static struct keyed *keyed_items(const json_t *array, const json_t *common)
{
    size_t count = json_array_size(array);
    struct keyed *items = mem_calloc(count + 1, sizeof(*items));
    for (size_t i = 0; i < count; i++) {
        items[i].item = json_array_get(array, i);
        items[i].text = key_text(items[i].item, common);
    }
    qsort(items, count, sizeof(*items), by_text);
    return items;
}

static void keyed_free(struct keyed *items, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(items[i].text);
    free(items);
}

/* Whether one of the sorted items from *at on has the text of `wanted` and matches it. *at moves to the first
 * item with that text. */
static bool has_match(const struct keyed *wanted, const struct keyed *items, size_t count, size_t *at)
{
    enum { TWINS_MAX = 64 }; /* at most this many items with the same text are compared */
    while (*at < count && strcmp(items[*at].text, wanted->text) < 0)
        ++*at;
    for (size_t i = *at; i < count && i - *at < TWINS_MAX && !strcmp(items[i].text, wanted->text); i++)
        if (item_matches(wanted->item, items[i].item))
            return true;
    return false;
}

/* Whether two lists have the same items. Cleura may return these lists in any order (CL-13). Both are sorted
 * first, so this takes almost linear time. */
static bool same_set(const json_t *wanted, const json_t *found)
{
    size_t count = json_array_size(wanted), at = 0;
    if (!json_is_array(found) || count != json_array_size(found))
        return false;
    if (json_equal(wanted, found))
        return true; /* the usual case: the order is the same; this check is cheap */
    json_t *common CLEANUP_JSON = common_members(wanted);
    struct keyed *left = keyed_items(wanted, common), *right = keyed_items(found, common);
    bool same = true;
    for (size_t i = 0; i < count && same; i++)
        same = has_match(&left[i], right, count, &at);
    keyed_free(left, count);
    keyed_free(right, count);
    return same;
}

static bool ends_with(const char *path, const char *name)
{
    size_t len = strlen(path), name_len = strlen(name);
    return len >= name_len && !strcmp(path + len - name_len, name);
}

static bool is_set(const char *path)
{
    static const char *const sets[] = {"zones", "taints", "hibernation_schedules", "allowed_cidrs"};
    for (size_t i = 0; i < ARRAY_LEN(sets); i++)
        if (ends_with(path, sets[i]))
            return true;
    return false;
}

/* Whether two UUIDs are equal; they may be in upper or lower case. */
static bool same_uuid(const char *path, const json_t *wanted, const json_t *found)
{
    bool is_id = ends_with(path, ".network_id") || ends_with(path, ".router_id");
    return is_id && json_is_string(wanted) && json_is_string(found) &&
           !strcasecmp(json_string_value(wanted), json_string_value(found));
}

static bool is_exact_map(const char *path)
{
    return ends_with(path, ".labels") || ends_with(path, ".annotations");
}

/* Whether no call can make this change. High availability can only be switched on, not off. */
static bool cannot_be_sent(const char *path, const json_t *wanted)
{
    return !strcmp(path, "high_availability") && json_is_false(wanted);
}

static size_t compare(const struct comparison *c, const char *path, const json_t *wanted, const json_t *found)
{
    if (!strcmp(path, "node_pools"))
        return compare_pools(c, wanted, found);
    if (json_is_null(found) && (c->unknown == SPEC_UNKNOWN_AGREES || cannot_be_sent(path, wanted)))
        return 0;
    if (!strcmp(path, "kubernetes_version") && json_is_string(wanted) && json_is_string(found) &&
        version_is_within(json_string_value(wanted), json_string_value(found)))
        return 0;
    if (json_is_array(wanted) && is_set(path))
        return same_set(wanted, found) ? 0 : differ(c, path, wanted, found);
    if (json_is_object(wanted) && json_is_object(found) && !is_exact_map(path))
        return compare_objects(c, path, wanted, found);
    bool same = json_equal(wanted, found) || same_uuid(path, wanted, found);
    return same ? 0 : differ(c, path, wanted, found);
}

/*
 * Whether a spec may contain the member but not change it. Such a member equalled Cleura's value when the
 * spec was accepted. Cleura may change the value later; that is not a difference.
 */
static bool is_read_only(const char *member)
{
    static const char *const members[] = {"uid", "technical_id", "purpose"};
    return word_index(members, ARRAY_LEN(members), member) >= 0;
}

size_t spec_differences(const json_t *spec, const json_t *observed, enum spec_unknown unknown,
                        json_t *differences)
{
    const struct comparison c = {unknown, differences};
    size_t count = 0;
    const char *member;
    json_t *value;
    json_object_foreach ((json_t *)(uintptr_t)spec, member, value)
        if (!json_is_null(value) && !is_read_only(member))
            count += compare(&c, member, value, json_object_get(observed, member));
    return count;
}

bool spec_pool_is_met(const json_t *wanted, const json_t *observed, enum spec_unknown unknown)
{
    json_t *differences CLEANUP_JSON = json_array();
    json_t *members CLEANUP_JSON = json_copy((json_t *)(uintptr_t)wanted);
    const struct comparison c = {unknown, differences};
    (void)json_object_del(members, "name");
    return compare_objects(&c, "pool", members, observed) == 0;
}

/*
 * Owns what means the same in every backend: the type patterns of a query, the size of a page, who may take a
 * lease and when its fence grows. Pure, any thread.
 */
#include "storage/storage_private.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

bool event_query_wants_type(const struct event_query *query, enum event_type type)
{
    if (!query->types)
        return true;
    for (char **pattern = query->types; *pattern; pattern++)
        if (event_type_matches(type, *pattern))
            return true;
    return false;
}

int store_page_limit(int limit)
{
    return limit < 1 ? 1 : limit > STORE_PAGE_MAX ? STORE_PAGE_MAX : limit;
}

bool store_lease_claim(struct store_lease *lease, const char *name, const char *holder, wall_us now,
                       int64_t ttl_us)
{
    assert(*holder && ttl_us > 0);
    bool renewed = *lease->holder && !strcmp(lease->holder, holder);
    if (!renewed && *lease->holder && lease->until > now)
        return false;
    if (!renewed)
        lease->fence++;
    (void)snprintf(lease->name, sizeof(lease->name), "%s", name);
    (void)snprintf(lease->holder, sizeof(lease->holder), "%s", holder);
    lease->until = now + ttl_us;
    return true;
}

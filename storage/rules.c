/* Rules that are the same in every backend: the type patterns of a query, the size of a page, the condition
 * for taking a lease, and the increment of its fence. Pure, any thread. */
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

bool store_window(struct number_range all, int64_t place, bool newest_first, struct number_range *ret_window)
{
    struct number_range w = all;
    if (newest_first) {
        w.to = place && place - 1 < all.to ? place - 1 : all.to;
        w.from = w.to - STORE_LOOKED_AT + 1 > all.from ? w.to - STORE_LOOKED_AT + 1 : all.from;
    } else {
        w.from = place + 1 > all.from ? place + 1 : all.from;
        w.to = w.from + STORE_LOOKED_AT - 1 < all.to ? w.from + STORE_LOOKED_AT - 1 : all.to;
    }
    *ret_window = w;
    return all.from > 0 && w.from <= w.to;
}

int64_t store_window_end(struct number_range all, struct number_range window, bool newest_first)
{
    if (newest_first)
        return window.from > all.from ? window.from : 0;
    return window.to < all.to ? window.to : 0;
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

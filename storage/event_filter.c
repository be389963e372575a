/* Owns what an event query's type patterns mean, for all backends. Pure, any thread. */
#include "storage/storage_private.h"

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

/* Owns what an event query's type patterns mean, for all backends. Pure, any thread. */
#include "storage/storage_private.h"

#include <string.h>

/* "*", "cluster.*" or an exact name. */
static bool pattern_matches(const char *pattern, const char *name)
{
    size_t n = strlen(pattern);
    if (n && pattern[n - 1] == '*')
        return !strncmp(pattern, name, n - 1);
    return !strcmp(pattern, name);
}

bool event_query_wants_type(const struct event_query *query, enum event_type type)
{
    if (!query->types)
        return true;
    for (char **pattern = query->types; *pattern; pattern++)
        if (pattern_matches(*pattern, event_type_name(type)))
            return true;
    return false;
}

int store_page_limit(int limit)
{
    return limit < 1 ? 1 : limit > STORE_PAGE_MAX ? STORE_PAGE_MAX : limit;
}

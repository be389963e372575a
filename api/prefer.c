#include "api/prefer.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/headers.h"
#include "api/request.h"

int64_t prefer_wait(const struct request *r)
{
    const char *cursor = r->headers.values[HEADER_PREFER];
    const char *item;
    size_t len;
    while (cursor && header_next_item(&cursor, &item, &len)) {
        if (len < 6 || strncasecmp(item, "wait", 4) != 0)
            continue;
        const char *value = item + 4 + strspn(item + 4, " \t");
        char *end;
        long long seconds = *value == '=' ? strtoll(value + 1, &end, 10) : -1;
        if (seconds >= 0 && end > value + 1)
            return seconds;
    }
    return -1;
}

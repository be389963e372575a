#include "api/checks.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/headers.h"

unsigned item_weight(const char *p, const char *end)
{
    unsigned value = 1000;
    const char *q = p;
    for (; q < end && *q != ';'; q++)
        ;
    while (q < end) {
        q++;
        q += strspn(q, " \t");
        if ((*q == 'q' || *q == 'Q') && q[1] == '=') {
            char *stop;
            double number = strtod(q + 2, &stop);
            value = number >= 0.0 && number <= 1.0 && stop > q + 2 ? (unsigned)(number * 1000.0 + 0.5) : 1000;
        }
        for (; q < end && *q != ';'; q++)
            ;
    }
    return value;
}

/* How exactly a range names the type: 3 "a/b", 2 "a" with any subtype, 1 everything, 0 not at all. */
static int specificity(const char *range, size_t len, const char *type)
{
    size_t main_len = strcspn(type, "/");
    if (len == strlen(type) && !strncasecmp(range, type, len))
        return 3;
    if (len == main_len + 2 && !strncasecmp(range, type, main_len + 1) && range[len - 1] == '*')
        return 2;
    return len == 3 && !memcmp(range, "*/*", 3);
}

unsigned accept_quality(const char *accept, const char *type)
{
    if (!accept || !*accept)
        return 1000;
    int best = 0;
    unsigned quality = 0;
    const char *item;
    size_t len;
    while (header_next_item(&accept, &item, &len)) {
        size_t range_len = 0;
        while (range_len < len && !strchr("; \t", item[range_len]))
            range_len++;
        int rank = specificity(item, range_len, type);
        if (rank > best) {
            best = rank;
            quality = item_weight(item, item + len);
        }
    }
    return quality;
}

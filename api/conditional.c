#include "api/conditional.h"

#include <string.h>

#include "api/headers.h"

bool etag_list_is_any(const char *list)
{
    const char *item;
    size_t len;
    const char *cursor = list;
    return header_next_item(&cursor, &item, &len) && len == 1 && *item == '*' &&
           !header_next_item(&cursor, &item, &len);
}

bool etag_list_matches(const char *list, const char *etag, bool weak)
{
    if (etag_list_is_any(list))
        return true;
    size_t wanted = strlen(etag);
    const char *item;
    size_t len;
    while (header_next_item(&list, &item, &len)) {
        if (weak && len > 2 && item[0] == 'W' && item[1] == '/') {
            item += 2;
            len -= 2;
        }
        if (len == wanted && !memcmp(item, etag, len))
            return true;
    }
    return false;
}

enum condition condition_of_read(const char *if_match, const char *if_none_match, const char *etag)
{
    if (if_match && !etag_list_matches(if_match, etag, false))
        return CONDITION_FAILED;
    if (if_none_match && etag_list_matches(if_none_match, etag, true))
        return CONDITION_NOT_MODIFIED;
    return CONDITION_PASS;
}

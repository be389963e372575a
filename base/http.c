#include "base/http.h"

#include <string.h>

bool http_is_token(const char *text, size_t len)
{
    static const char signs[] = "!#$%&'*+-.^_`|~";
    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        bool letter = ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || (c >= '0' && c <= '9');
        if (!letter && (!c || !strchr(signs, c)))
            return false;
    }
    return len > 0;
}

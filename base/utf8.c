#include "base/utf8.h"

#include <stdbool.h>
#include <string.h>

#include "base/mem.h"

static bool is_inner(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

size_t utf8_cut(const char *text, size_t max)
{
    size_t len = strnlen(text, max);
    if (text[len] == '\0' || !is_inner(text[len]))
        return len;
    while (len && is_inner(text[len]))
        len--;
    return len;
}

char *utf8_cut_copy(const char *text, size_t max)
{
    return text ? mem_strndup(text, utf8_cut(text, max)) : NULL;
}

#include "base/mem.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static ATTR_NORETURN void out_of_memory(void)
{
    (void)fprintf(stderr, "%s: out of memory\n", program_invocation_short_name);
    abort();
}

void *mem_calloc(size_t count, size_t size)
{
    void *p = calloc(count ? count : 1, size ? size : 1);
    if (!p)
        out_of_memory();
    return p;
}

void *mem_realloc_array(void *old, size_t count, size_t size)
{
    void *p = reallocarray(old, count ? count : 1, size ? size : 1);
    if (!p)
        out_of_memory();
    return p;
}

char *mem_strdup(const char *text)
{
    return text ? mem_strndup(text, strlen(text)) : NULL;
}

void mem_set_str(char **target, const char *text)
{
    char *copy = mem_strdup(text);
    free(*target);
    *target = copy;
}

bool mem_same_str(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

char *mem_strndup(const char *text, size_t len)
{
    char *copy = mem_calloc(len + 1, 1);
    memcpy(copy, text, len);
    return copy;
}

void *mem_dup(const void *bytes, size_t len)
{
    void *copy = mem_calloc(len, 1);
    if (len)
        memcpy(copy, bytes, len);
    return copy;
}

char *mem_printf(const char *format, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, format);
    int n = vasprintf(&text, format, args);
    va_end(args);
    if (n < 0)
        out_of_memory();
    return text;
}

void mem_free_secret(char *text)
{
    if (!text)
        return;
    explicit_bzero(text, strlen(text));
    free(text);
}

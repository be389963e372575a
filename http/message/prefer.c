#include "http/message/prefer.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/attrs.h"
#include "http/message/headers.h"

/* Digits, or digits in quotes. */
static void take_wait(struct preferences *p, const char *value)
{
    char *end;
    value += *value == '"';
    if (p->wait_s >= 0 || *value < '0' || *value > '9')
        return;
    long long seconds = strtoll(value, &end, 10);
    if (!*end || strchr("\",; \t", *end))
        p->wait_s = seconds;
}

static void take_async(struct preferences *p, const char *value)
{
    (void)value;
    p->respond_async = true;
}

static void take_return(struct preferences *p, const char *value)
{
    value += *value == '"';
    size_t len = strcspn(value, "\",; \t");
    if (p->minimal || p->representation)
        return;
    p->minimal = header_item_is(value, len, "minimal");
    p->representation = header_item_is(value, len, "representation");
}

static const struct {
    const char *name;
    void (*take)(struct preferences *p, const char *value);
} known[] = {{"wait", take_wait}, {"respond-async", take_async}, {"return", take_return}};

struct preferences prefer_read(const struct headers *h)
{
    struct preferences p = {.wait_s = -1};
    const char *cursor = h->values[HEADER_PREFER];
    const char *item;
    size_t len;
    while (cursor && header_next_item(&cursor, &item, &len)) {
        size_t name_len = strcspn(item, "=;, \t");
        const char *value = item + name_len + strspn(item + name_len, " \t");
        value = *value == '=' ? value + 1 + strspn(value + 1, " \t") : "";
        for (size_t i = 0; i < ARRAY_LEN(known); i++)
            if (header_item_is(item, name_len, known[i].name))
                known[i].take(&p, value);
    }
    return p;
}

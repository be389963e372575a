/* Pieces of decoding that both generations share. Foreign bytes: nothing here asserts, unknown words pass
 * through. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/timefmt.h"
#include "upstream/generation_private.h"

char *url_segment(const char *text)
{
    static const char hex[] = "0123456789ABCDEF";
    size_t len = strlen(text);
    char *out = mem_calloc(len * 3 + 1, 1);
    char *p = out;
    for (const char *c = text; *c; c++) {
        unsigned char byte = (unsigned char)*c;
        if ((byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
            strchr("-_.~", byte)) {
            *p++ = *c;
        } else {
            *p++ = '%';
            *p++ = hex[byte >> 4];
            *p++ = hex[byte & 15];
        }
    }
    return out;
}

json_t *decode_map(const json_t *value)
{
    json_t *map = json_object();
    if (json_is_array(value)) {
        size_t i;
        json_t *pair;
        json_array_foreach (value, i, pair)
            if (json_str(pair, "key"))
                json_set_str(map, json_str(pair, "key"), json_str_or(pair, "value", ""));
        return map;
    }
    const char *key;
    json_t *item;
    json_object_foreach ((json_t *)(uintptr_t)value, key, item) {
        if (json_is_string(item))
            json_set_str(map, key, json_string_value(item));
        else if (json_is_object(item)) /* the v1 create answer: values are {key, value} objects */
            json_set_str(map, json_str_or(item, "key", key), json_str_or(item, "value", ""));
    }
    return map;
}

json_t *encode_pairs(const json_t *map)
{
    json_t *pairs = json_array();
    const char *key;
    json_t *value;
    json_object_foreach ((json_t *)(uintptr_t)map, key, value) {
        json_t *pair = json_object();
        json_set_str(pair, "key", key);
        json_set_take(pair, "value", json_incref(value));
        (void)json_array_append_new(pairs, pair);
    }
    return pairs;
}

json_t *decode_string_array(const json_t *array)
{
    json_t *strings = json_array();
    size_t i;
    json_t *item;
    json_array_foreach (array, i, item)
        if (json_is_string(item))
            (void)json_array_append(strings, item);
    return strings;
}

struct sortable {
    json_t *item;
    const char *text;
    char *owned; /* the text, when it had to be made */
};

static int by_text(const void *left, const void *right)
{
    const struct sortable *a = left, *b = right;
    return strcmp(a->text, b->text);
}

json_t *decode_sorted(json_t *array)
{
    size_t count = json_array_size(array);
    if (count < 2)
        return array;
    struct sortable *items CLEANUP_FREE = mem_calloc(count, sizeof(*items));
    json_t *sorted = json_array();
    for (size_t i = 0; i < count; i++) {
        items[i].item = json_array_get(array, i);
        const char *name = json_str(items[i].item, "name");
        items[i].text = name ? name : json_str(items[i].item, "type");
        if (json_is_string(items[i].item))
            items[i].text = json_string_value(items[i].item);
        if (!items[i].text)
            items[i].text = items[i].owned = json_canonical(items[i].item);
    }
    qsort(items, count, sizeof(*items), by_text);
    for (size_t i = 0; i < count; i++) {
        (void)json_array_append(sorted, items[i].item);
        free(items[i].owned);
    }
    json_decref(array);
    return sorted;
}

json_t *decode_array(json_t *array)
{
    return array ? json_incref(array) : json_array();
}

int64_t decode_gib(const char *text)
{
    char *end;
    if (!text)
        return 0;
    long long number = strtoll(text, &end, 10);
    return number > 0 && (!strcmp(end, "Gi") || !strcmp(end, "GiB") || !*end) ? number : 0;
}

wall_us decode_time(const char *text)
{
    wall_us at;
    return text && time_parse_rfc3339(text, &at) ? at : 0;
}

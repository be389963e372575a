/* Pieces of decoding that both generations share. Foreign bytes: nothing here asserts, unknown words pass
 * through. */
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/timefmt.h"
#include "upstream/wire/generation_private.h"

enum {
    WORD_MAX = 255,
    PROSE_MAX = 1024,
    LABEL_KEY_MAX = 253 + 1 + 63,
    NUMBER_MAX = 1000000,
    EARLIEST_S = 1420070400,    /* 2015: Gardener is younger */
    FUTURE_S = 366 * 24 * 3600, /* clocks may differ, but not by more */
};

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

const char *decode_refuse(struct decoding *d, const char *why)
{
    if (!d->fault)
        d->fault = why;
    return NULL;
}

json_t *decode_member(struct decoding *d, const json_t *object, const char *key, json_type type)
{
    json_t *value = json_object_get(object, key);
    if (!value || json_is_null(value))
        return NULL;
    if (json_typeof(value) == type)
        return value;
    (void)decode_refuse(d, "a member is of another type than it should be");
    return NULL;
}

const char *decode_word(struct decoding *d, const json_t *object, const char *key)
{
    const char *word = json_str(object, key);
    return word && strlen(word) > WORD_MAX ? decode_refuse(d, "a value is too long") : word;
}

int64_t decode_number(struct decoding *d, const json_t *object, const char *key, int64_t fallback)
{
    const json_t *value = json_object_get(object, key);
    if (!value || json_is_null(value))
        return fallback;
    int64_t number = json_int(object, key, -1);
    if (number < 0 || number > NUMBER_MAX) {
        (void)decode_refuse(d, "a number is not within its range");
        return fallback;
    }
    return number;
}

char *prose_copy(const char *text)
{
    if (!text)
        return NULL;
    size_t len = utf8_cut(text, PROSE_MAX);
    char *copy = mem_calloc(len + 1, 1);
    (void)printable_write(copy, len + 1, text, len);
    return copy;
}

void decode_prose(json_t *ours, const char *key, const char *text)
{
    char *copy CLEANUP_FREE = prose_copy(text);
    json_set_str(ours, key, copy);
}

static void set_pair(struct decoding *d, json_t *map, const char *key, const char *value)
{
    if (strlen(key) > LABEL_KEY_MAX)
        (void)decode_refuse(d, "a label or annotation has a key that is too long");
    else
        json_set_str(map, key, value);
}

json_t *decode_map(struct decoding *d, const json_t *value)
{
    json_t *map = json_object();
    if (json_is_array(value)) {
        size_t i;
        json_t *pair;
        json_array_foreach (value, i, pair)
            if (json_str(pair, "key"))
                set_pair(d, map, json_str(pair, "key"), json_str_or(pair, "value", ""));
        return map;
    }
    const char *key;
    json_t *item;
    json_object_foreach ((json_t *)(uintptr_t)value, key, item) {
        if (json_is_string(item))
            set_pair(d, map, key, json_string_value(item));
        else if (json_is_object(item)) /* the v1 create answer: values are {key, value} objects */
            set_pair(d, map, json_str_or(item, "key", key), json_str_or(item, "value", ""));
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

json_t *decode_words(struct decoding *d, const json_t *array)
{
    json_t *strings = json_array();
    size_t i;
    json_t *item;
    json_array_foreach (array, i, item) {
        if (json_string_length(item) > WORD_MAX)
            (void)decode_refuse(d, "a value is too long");
        else if (json_is_string(item))
            (void)json_array_append(strings, item);
    }
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

json_t *array_or_empty(json_t *array)
{
    return array ? json_incref(array) : json_array();
}

int64_t decode_gib(const char *text)
{
    char *end;
    if (!text)
        return 0;
    long long number = strtoll(text, &end, 10);
    return number > 0 && number <= NUMBER_MAX && (!strcmp(end, "Gi") || !strcmp(end, "GiB") || !*end) ? number
                                                                                                      : 0;
}

wall_us decode_time(struct decoding *d, const char *text)
{
    wall_us at;
    if (!text || !*text)
        return 0;
    if (!time_parse_rfc3339(text, &at) || at < EARLIEST_S * US_PER_S || at > d->now + FUTURE_S * US_PER_S) {
        (void)decode_refuse(d, "a time cannot be");
        return 0;
    }
    return at;
}

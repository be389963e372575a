/* Decoding functions for all drivers. The data comes from Cleura, so there are no asserts about it.
 * Unknown enum values are passed on. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/mem.h"
#include "base/quantity.h"
#include "base/text.h"
#include "base/timefmt.h"
#include "upstream/wire/driver_private.h"

enum {
    WORD_MAX = 255,
    PROSE_MAX = 1024,
    LABEL_KEY_MAX = 253 + 1 + 63,
    EARLIEST_S = 1420070400,    /* the year 2015, before the first version of Gardener */
    FUTURE_S = 366 * 24 * 3600, /* limit for differences between clocks */
};

#define QUANTITY_MAX 9007199254740992.0 /* a double represents every integer up to here exactly */

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

/* ---- unreadable members ---- */

void decode_refuse(struct decoding *d, const char *why)
{
    if (!d->fault)
        d->fault = why;
}

static void note_place(struct decoding *d, const json_t *in, const char *key, size_t index)
{
    if (d->unread < ARRAY_LEN(d->places)) {
        d->places[d->unread].in = in;
        d->places[d->unread].key = key;
        d->places[d->unread].index = index;
    }
    d->unread++;
}

void decode_note(struct decoding *d, const json_t *object, const char *key)
{
    note_place(d, object, key, 0);
}

/* Returns the pointer from `at` to `wanted`, an object or array of the document; NULL when `wanted` is not at
 * or below `at`. The pointer is built when the search returns, because most visited values are not on the
 * path. */
static char *pointer_of(const json_t *at, const json_t *wanted)
{
    const char *key;
    json_t *inner;
    size_t i;
    if (at == wanted)
        return mem_strdup("");
    json_object_foreach ((json_t *)(uintptr_t)at, key, inner) {
        char *below CLEANUP_FREE = NULL;
        if (json_is_object(inner) || json_is_array(inner))
            below = pointer_of(inner, wanted);
        if (below) {
            char *step CLEANUP_FREE = json_pointer_to("", key);
            return mem_printf("%s%s", step, below);
        }
    }
    json_array_foreach (at, i, inner) {
        char *below CLEANUP_FREE = NULL;
        if (json_is_object(inner) || json_is_array(inner))
            below = pointer_of(inner, wanted);
        if (below)
            return mem_printf("/%zu%s", i, below);
    }
    return NULL;
}

void decode_report_unread(const struct decoding *d, const json_t *doc, struct unread *ret)
{
    *ret = (struct unread){.count = d->unread};
    for (unsigned i = 0; i < d->unread && i < ARRAY_LEN(d->places); i++) {
        char *in CLEANUP_FREE = pointer_of(doc, d->places[i].in);
        const char *key = d->places[i].key;
        char *whole CLEANUP_FREE = !in   ? mem_strdup("?")
                                   : key ? json_pointer_to(in, key)
                                         : mem_printf("%s/%zu", in, d->places[i].index);
        (void)printable_write(ret->paths[i], sizeof(ret->paths[i]), whole,
                              utf8_cut(whole, sizeof(ret->paths[i]) - 1));
    }
}

/* ---- members, each read separately ---- */

/* Whether the value in which the member is looked up is not an object. */
static bool is_odd(const json_t *object)
{
    return object && !json_is_object(object);
}

json_t *decode_member(struct decoding *d, const json_t *object, const char *key, json_type type)
{
    json_t *value = json_object_get(object, key);
    if (is_odd(object))
        return (json_t *)(uintptr_t)object;
    if (!value || json_is_null(value))
        return NULL;
    if (json_typeof(value) != type)
        decode_note(d, object, key);
    return value;
}

bool decode_array(struct decoding *d, const json_t *object, const char *key, const json_t **ret_array)
{
    *ret_array = decode_member(d, object, key, JSON_ARRAY);
    return !*ret_array || (!is_odd(object) && json_is_array(*ret_array));
}

const json_t *decode_element(struct decoding *d, const json_t *array, size_t i)
{
    const json_t *value = json_array_get(array, i);
    if (!json_is_object(value))
        note_place(d, array, NULL, i);
    return value;
}

json_t *decode_presence(struct decoding *d, const json_t *object, const char *key)
{
    const json_t *value = decode_member(d, object, key, JSON_OBJECT);
    return is_odd(value) ? json_null() : json_boolean(value != NULL);
}

const char *decode_text(struct decoding *d, const json_t *object, const char *key)
{
    return is_odd(object) ? NULL : json_string_value(decode_member(d, object, key, JSON_STRING));
}

const char *decode_word(struct decoding *d, const json_t *object, const char *key)
{
    const char *word = decode_text(d, object, key);
    if (!word || strlen(word) <= WORD_MAX)
        return word;
    decode_note(d, object, key);
    return NULL;
}

json_t *decode_bool(struct decoding *d, const json_t *object, const char *key, bool absent)
{
    json_t *value = json_object_get(object, key);
    if (is_odd(object))
        return json_null();
    if (!value || json_is_null(value))
        return json_boolean(absent);
    if (json_is_boolean(value))
        return json_incref(value);
    decode_note(d, object, key);
    return json_null();
}

json_t *decode_number(struct decoding *d, const json_t *object, const char *key, int64_t max)
{
    json_t *value = json_object_get(object, key);
    if (!value || json_is_null(value))
        return json_null();
    int64_t number = json_int(object, key, -1);
    bool is_whole = !json_is_real(value) || json_real_value(value) == (double)number;
    if (is_whole && number >= 0 && number <= max)
        return json_integer(number);
    decode_note(d, object, key);
    return json_null();
}

json_t *decode_quantity(struct decoding *d, const json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);
    if (!value || json_is_null(value))
        return json_null();
    double number = json_number_value(value);
    if (json_is_number(value) && number >= -QUANTITY_MAX && number <= QUANTITY_MAX)
        return json_incref(value);
    decode_note(d, object, key);
    return json_null();
}

json_t *decode_rounded(struct decoding *d, const json_t *object, const char *key)
{
    json_t *exact = decode_quantity(d, object, key);
    if (!json_is_real(exact))
        return exact;
    json_t *rounded = json_integer((json_int_t)llround(json_real_value(exact)));
    json_decref(exact);
    return rounded;
}

json_t *decode_mib(struct decoding *d, const json_t *object, const char *key)
{
    const char *text = decode_text(d, object, key);
    const int64_t mib = quantity_mib(text);
    if (text && mib < 0)
        decode_note(d, object, key);
    return mib < 0 ? json_null() : json_integer(mib);
}

json_t *decode_gib(struct decoding *d, const json_t *object, const char *key)
{
    const char *text = decode_text(d, object, key);
    char *end;
    if (!text)
        return json_null();
    long long number = strtoll(text, &end, 10);
    if (number > 0 && number <= NUMBER_MAX && (!strcmp(end, "Gi") || !strcmp(end, "GiB") || !*end))
        return json_integer(number);
    decode_note(d, object, key);
    return json_null();
}

wall_us decode_time(struct decoding *d, const json_t *object, const char *key)
{
    const char *text = decode_text(d, object, key);
    wall_us at;
    if (!text || !*text)
        return 0;
    if (time_parse_rfc3339(text, &at) && at >= EARLIEST_S * US_PER_S && at <= d->now + FUTURE_S * US_PER_S)
        return at;
    decode_note(d, object, key);
    return 0;
}

/* ---- texts for people ---- */

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

/* ---- members that are compared and sent as a whole: known as a whole or not at all ---- */

json_t *decode_whole(const struct decoding *d, unsigned unread_before, json_t *value)
{
    if (d->unread == unread_before)
        return value;
    json_decref(value);
    return NULL;
}

/* Adds a pair to the map. `value` is NULL when it is absent or unreadable. When the key is too long, the
 * member "key" is noted as unread. */
static void set_pair(struct decoding *d, json_t *map, const json_t *in, const char *key, const char *value)
{
    if (strlen(key) > LABEL_KEY_MAX)
        decode_note(d, in, "key");
    else
        json_set_str(map, key, value ? value : "");
}

/* Reads one pair. In a map, `name` is the key of the pair, and the pair repeats this key. In a list, `name`
 * is NULL. */
static void take_pair(struct decoding *d, json_t *map, const json_t *pair, const char *name)
{
    const char *key = name ? name : decode_text(d, pair, "key");
    if (key)
        set_pair(d, map, pair, key, decode_text(d, pair, "value"));
    else if (json_is_object(pair))
        decode_note(d, pair, "key");
}

json_t *decode_map(struct decoding *d, const json_t *object, const char *member)
{
    const json_t *value = json_object_get(object, member);
    const unsigned before = d->unread;
    json_t *map = is_odd(object) ? NULL : json_object();
    const char *key;
    size_t i;
    json_t *item;
    if (value && !json_is_null(value) && !json_is_array(value) && !json_is_object(value))
        decode_note(d, object, member);
    json_array_foreach (value, i, item)
        take_pair(d, map, decode_element(d, value, i), NULL);
    json_object_foreach ((json_t *)(uintptr_t)value, key, item) {
        if (json_is_object(item)) /* in v1's answer to a create, the values are {key, value} objects */
            take_pair(d, map, item, key);
        else
            set_pair(d, map, value, key, decode_text(d, value, key));
    }
    return decode_whole(d, before, map);
}

json_t *decode_words(struct decoding *d, const json_t *object, const char *key)
{
    const unsigned before = d->unread;
    const json_t *array;
    json_t *strings = NULL, *item;
    size_t i;
    if (decode_array(d, object, key, &array))
        strings = json_array();
    json_array_foreach (strings ? array : NULL, i, item) {
        if (json_is_string(item) && json_string_length(item) <= WORD_MAX)
            (void)json_array_append(strings, item);
        else
            note_place(d, array, NULL, i);
    }
    return decode_whole(d, before, strings);
}

struct sortable {
    json_t *item;
    const char *text;
    char *owned; /* the text, when memory was allocated for it */
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

/* ---- encoding ---- */

void encode_known(json_t *theirs, const char *their_name, const json_t *ours, const char *name)
{
    json_t *value = json_object_get(ours, name);
    if (value && !json_is_null(value))
        json_set_take(theirs, their_name, json_incref(value));
}

void encode_pairs(json_t *theirs, const json_t *ours, const char *name)
{
    const json_t *map = json_obj(ours, name);
    json_t *pairs = map ? json_array() : NULL;
    const char *key;
    json_t *value;
    json_object_foreach ((json_t *)(uintptr_t)map, key, value) {
        json_t *pair = json_object();
        json_set_str(pair, "key", key);
        json_set_take(pair, "value", json_incref(value));
        json_append_take(pairs, pair);
    }
    if (pairs)
        json_set_take(theirs, name, pairs);
}

char *encode_size(const json_t *pool)
{
    const int64_t gib = json_int(pool, "volume_size_gib", 0);
    return gib > 0 ? mem_printf("%lldGi", (long long)gib) : NULL;
}

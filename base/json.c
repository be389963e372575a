#include "base/json.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "base/thread.h"

/* Up to this number, a double represents every integer exactly. */
#define EXACT_INTEGERS 9007199254740992.0

/*
 * False when the nesting exceeds its limit, or when the text contains a NUL: jansson ignores a NUL after
 * numbers and words. `fault` then has a text and the position.
 */
static bool json_is_bounded(const char *bytes, size_t len, struct json_fault *fault)
{
    unsigned depth = 0;
    bool in_string = false;
    *fault = (struct json_fault){.line = 1};
    for (size_t i = 0; i < len; i++) {
        fault->column++;
        if (bytes[i] == '\n') {
            fault->line++;
            fault->column = 0;
        }
        char c = bytes[i];
        if (!c) {
            (void)snprintf(fault->text, sizeof(fault->text), "a NUL byte");
            return false;
        }
        if (in_string) {
            if (c == '\\') {
                i++;
                fault->column++;
            } else if (c == '"') {
                in_string = false;
            }
        } else if (c == '"') {
            in_string = true;
        } else if (c == '{' || c == '[') {
            if (++depth > JSON_MAX_DEPTH) {
                (void)snprintf(fault->text, sizeof(fault->text), "nested deeper than %d levels",
                               JSON_MAX_DEPTH);
                return false;
            }
        } else if ((c == '}' || c == ']') && depth) {
            depth--;
        }
    }
    return true;
}

/* jansson ends its error texts with "near '...'". That part would repeat the caller's bytes, which may
 * contain secrets. */

static json_t *json_parse(const char *bytes, size_t len, size_t flags, struct json_fault *ret_fault)
{
    struct json_fault fault;
    json_t *doc = NULL;
    if (json_is_bounded(bytes, len, &fault)) {
        json_error_t error;
        doc = json_loadb(bytes, len, flags, &error);
        if (!doc) {
            /* The part after " near " quotes the text. */
            const char *near = strstr(error.text, " near ");
            size_t shown = near ? (size_t)(near - error.text) : strlen(error.text);
            (void)snprintf(fault.text, sizeof(fault.text), "%.*s", (int)shown, error.text);
            fault.line = error.line;
            fault.column = error.column;
        }
    }
    if (!doc && ret_fault)
        *ret_fault = fault;
    return doc;
}

/* Returns a new integer for a real number such as 3.0 that is exactly an integer, else NULL. */
static json_t *as_integer(const json_t *value)
{
    double number = json_real_value(value);
    bool whole = json_is_real(value) && number >= -EXACT_INTEGERS && number <= EXACT_INTEGERS &&
                 number == (double)(json_int_t)number;
    return whole ? json_integer((json_int_t)number) : NULL;
}

static void settle_integers(json_t *value)
{
    json_t *inner, *integer;
    const char *name;
    size_t i;
    json_object_foreach (value, name, inner) {
        if ((integer = as_integer(inner)))
            (void)json_object_iter_set_new(value, json_object_key_to_iter(name), integer);
        else
            settle_integers(inner);
    }
    json_array_foreach (value, i, inner) {
        if ((integer = as_integer(inner)))
            (void)json_array_set_new(value, i, integer);
        else
            settle_integers(inner);
    }
}

json_t *json_parse_strict(const char *bytes, size_t len, struct json_fault *ret_fault)
{
    json_t *doc = json_parse(bytes, len, JSON_REJECT_DUPLICATES, ret_fault);
    settle_integers(doc);
    return doc;
}

json_t *json_parse_lenient(const char *bytes, size_t len, struct json_fault *ret_fault)
{
    return json_parse(bytes, len, JSON_DECODE_ANY, ret_fault);
}

/* Checks the text, and moves its beginning behind a byte order mark. The mark counts towards the limit. */
static enum json_scan_end scan_foreign(const char **bytes, size_t *len, const struct json_limits *limits)
{
    if (*len > limits->bytes)
        return JSON_SCAN_TOO_MANY_BYTES;
    const size_t skip = text_mark_length(*bytes, *len);
    *bytes += skip;
    *len -= skip;
    return json_scan(*bytes, *len, limits);
}

json_t *json_parse_foreign(const char *bytes, size_t len, const struct json_limits *limits,
                           enum json_scan_end *ret_end)
{
    *ret_end = scan_foreign(&bytes, &len, limits);
    json_t *doc = *ret_end == JSON_SCAN_OK ? json_loadb(bytes, len, JSON_DECODE_ANY, NULL) : NULL;
    if (!doc && *ret_end == JSON_SCAN_OK)
        *ret_end = JSON_SCAN_MALFORMED;
    return doc;
}

static json_t *parse_any(const char *bytes, size_t len)
{
    return json_loadb(bytes, len, JSON_DECODE_ANY, NULL);
}

/* Returns the value that stands for a value that the parser does not accept. It is a real number: it has the
 * wrong type for every member except a number, and for a number it is too large. */
static json_t *unreadable(void)
{
    return json_real(DBL_MAX);
}

/* Parses value by value when the parser does not accept the whole text. The text has passed json_scan, so its
 * depth is limited. */
static json_t *parse_piecemeal(const char *bytes, size_t len)
{
    struct json_items items;
    struct json_member member;
    thread_step_aside();
    if (json_items_begin(&items, bytes, len)) {
        json_t *array = json_array();
        while (json_items_next(&items, &bytes, &len))
            (void)json_array_append_new(array, parse_piecemeal(bytes, len));
        return array;
    }
    if (json_members_begin(&items, bytes, len)) {
        json_t *object = json_object();
        while (json_members_next(&items, &member)) {
            json_t *name CLEANUP_JSON =
                parse_any(member.name - 1, member.name_len + 2); /* the name with its quotes */
            if (name)
                (void)json_object_set_new(object, json_string_value(name),
                                          parse_piecemeal(member.text, member.len));
        }
        return object;
    }
    json_t *value = parse_any(bytes, len);
    return value ? value : unreadable();
}

json_t *json_parse_tolerant(const char *bytes, size_t len, const struct json_limits *limits,
                            enum json_scan_end *ret_end)
{
    *ret_end = scan_foreign(&bytes, &len, limits);
    if (*ret_end != JSON_SCAN_OK)
        return NULL;
    json_t *doc = parse_any(bytes, len);
    return doc ? doc : parse_piecemeal(bytes, len);
}

const char *json_str(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

const char *json_str_or(const json_t *object, const char *key, const char *fallback)
{
    const char *text = json_str(object, key);
    return text ? text : fallback;
}

json_t *json_obj(const json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);
    return json_is_object(value) ? value : NULL;
}

json_t *json_arr(const json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);
    return json_is_array(value) ? value : NULL;
}

bool json_bool(const json_t *object, const char *key, bool fallback)
{
    const json_t *value = json_object_get(object, key);
    return json_is_boolean(value) ? json_is_true(value) : fallback;
}

int64_t json_int(const json_t *object, const char *key, int64_t fallback)
{
    const json_t *value = json_object_get(object, key);
    if (json_is_integer(value))
        return json_integer_value(value);
    if (json_is_real(value)) {
        double real = json_real_value(value);
        if (real >= -9007199254740992.0 && real <= 9007199254740992.0)
            return (int64_t)real;
    }
    if (json_is_string(value)) {
        char *end;
        const char *text = json_string_value(value);
        long long number = strtoll(text, &end, 10);
        if (*text && !*end)
            return number;
    }
    return fallback;
}

void json_set_str(json_t *object, const char *key, const char *text)
{
    json_t *value = text ? json_string(text) : NULL;
    (void)json_object_set_new(object, key, value ? value : json_null());
}

void json_set_int(json_t *object, const char *key, int64_t value)
{
    (void)json_object_set_new(object, key, json_integer(value));
}

void json_set_bool(json_t *object, const char *key, bool value)
{
    (void)json_object_set_new(object, key, json_boolean(value));
}

void json_append_take(json_t *array, json_t *value)
{
    (void)json_array_append_new(array, value);
}

void json_set_take(json_t *object, const char *key, json_t *value)
{
    (void)json_object_set_new(object, key, value ? value : json_null());
}

void json_wipe(json_t *value)
{
    const char *key;
    size_t i;
    json_t *item;
    if (json_is_string(value))
        memset((char *)(uintptr_t)json_string_value(value), 0, json_string_length(value));
    json_object_foreach (value, key, item)
        json_wipe(item);
    json_array_foreach (value, i, item)
        json_wipe(item);
}

char *json_pointer_to(const char *base, const char *name)
{
    size_t len = strlen(base), at = len;
    char *pointer = mem_calloc(len + 2 * strlen(name) + 2, 1);
    memcpy(pointer, base, len);
    pointer[at++] = '/';
    for (const char *c = name; *c; c++) {
        bool escape = *c == '~' || *c == '/';
        if (escape)
            pointer[at++] = '~';
        pointer[at++] = !escape ? *c : *c == '~' ? '0' : '1';
    }
    return pointer;
}

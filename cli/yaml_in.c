#include "cli/yaml_in.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/mem.h"
#include "base/text.h"
#include "cli/glyphs.h"
#include "cli/words.h"

struct yaml_reading {
    yaml_parser_t parser;
    json_t *anchors; /* the anchors of this document: name -> value */
    size_t values;
    struct yaml_fault fault;
    bool failed;
};

static void fail(struct yaml_reading *r, size_t line, const char *format, ...) ATTR_PRINTF(3, 4);
static void fail(struct yaml_reading *r, size_t line, const char *format, ...)
{
    va_list args;
    if (r->failed)
        return;
    r->failed = true;
    r->fault.line = line;
    va_start(args, format);
    (void)vsnprintf(r->fault.text, sizeof(r->fault.text), format, args);
    va_end(args);
}

static bool next_event(struct yaml_reading *r, yaml_event_t *event)
{
    if (r->failed)
        return false;
    if (!yaml_parser_parse(&r->parser, event)) {
        const char *problem = r->parser.problem ? r->parser.problem : "no YAML";
        fail(r, r->parser.problem_mark.line + 1, "%s", problem);
        return false;
    }
    return true;
}

static bool is_integer(const char *text)
{
    const char *digits = text + (*text == '-' || *text == '+');
    size_t len = strlen(digits);
    return len > 0 && len <= 18 && strspn(digits, "0123456789") == len && (len == 1 || digits[0] != '0');
}

/* Returns the value of a plain scalar by the core schema of YAML 1.2; a number with a fraction stays text. */
static json_t *plain_value(const char *text)
{
    static const char *const nothing[] = {"", "~", "null", "Null", "NULL", NULL};
    static const char *const yes[] = {"true", "True", "TRUE", NULL};
    static const char *const no[] = {"false", "False", "FALSE", NULL};
    if (is_word_of(nothing, text))
        return json_null();
    if (is_word_of(yes, text))
        return json_true();
    if (is_word_of(no, text))
        return json_false();
    if (is_integer(text))
        return json_integer(strtoll(text, NULL, 10));
    return json_string(text);
}

static json_t *scalar(struct yaml_reading *r, const yaml_event_t *event)
{
    const char *text = (const char *)event->data.scalar.value;
    size_t line = event->start_mark.line + 1;
    if (strlen(text) != event->data.scalar.length) {
        fail(r, line, "a text holds a NUL byte");
        return NULL;
    }
    bool is_plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && event->data.scalar.plain_implicit;
    json_t *value = is_plain ? plain_value(text) : json_string(text);
    if (!value)
        fail(r, line, "a text is no UTF-8");
    return value;
}

static json_t *node(struct yaml_reading *r, const yaml_event_t *event, unsigned depth);

static size_t count_values(const json_t *value)
{
    size_t sum = 1, i;
    const char *key;
    json_t *item;
    json_array_foreach (value, i, item)
        sum += count_values(item);
    json_object_foreach ((json_t *)(uintptr_t)value, key, item)
        sum += count_values(item);
    return sum;
}

static json_t *alias(struct yaml_reading *r, const yaml_event_t *event)
{
    const char *name = (const char *)event->data.alias.anchor;
    json_t *value = json_object_get(r->anchors, name);
    if (!value) {
        fail(r, event->start_mark.line + 1, "no value has the anchor '%s'", name);
        return NULL;
    }
    r->values += count_values(value);
    if (r->values > YAML_MAX_VALUES) {
        fail(r, event->start_mark.line + 1, "aliases expand to more than %d values", (int)YAML_MAX_VALUES);
        return NULL;
    }
    return json_deep_copy(value);
}

static json_t *sequence(struct yaml_reading *r, unsigned depth)
{
    json_t *array CLEANUP_JSON = json_array();
    yaml_event_t event;
    while (next_event(r, &event)) {
        bool ends = event.type == YAML_SEQUENCE_END_EVENT;
        json_t *item = ends ? NULL : node(r, &event, depth + 1);
        yaml_event_delete(&event);
        if (ends)
            return TAKE_PTR(array);
        if (item)
            json_append_take(array, item);
    }
    return NULL;
}

static bool is_showable(const char *text)
{
    char *shown CLEANUP_FREE = glyphs_shown(text);
    return strcmp(shown, text) == 0;
}

/* Returns the text of a key. When it is not a valid key, or the object already has the key, adds a fault and
 * returns NULL. */
static char *key_of(struct yaml_reading *r, const yaml_event_t *event, const json_t *object)
{
    size_t line = event->start_mark.line + 1;
    const char *text = (const char *)event->data.scalar.value;
    if (event->type != YAML_SCALAR_EVENT || strlen(text) != event->data.scalar.length)
        fail(r, line, "a key has to be a word");
    else if (strcmp(text, "<<") == 0)
        fail(r, line, "merge keys (<<) are not supported: write out the members");
    else if (strlen(text) > YAML_MAX_KEY_BYTES)
        fail(r, line, "a key has more than %d bytes", (int)YAML_MAX_KEY_BYTES);
    else if (!is_showable(text))
        fail(r, line, "a key has a character that cannot be shown");
    else if (json_object_get(object, text))
        fail(r, line, "duplicate key '%s'", text);
    return r->failed ? NULL : mem_strdup(text);
}

static json_t *mapping(struct yaml_reading *r, unsigned depth)
{
    json_t *object CLEANUP_JSON = json_object();
    yaml_event_t event;
    while (next_event(r, &event)) {
        bool ends = event.type == YAML_MAPPING_END_EVENT;
        char *key CLEANUP_FREE = ends ? NULL : key_of(r, &event, object);
        yaml_event_delete(&event);
        if (ends)
            return TAKE_PTR(object);
        if (!key || !next_event(r, &event))
            return NULL;
        json_t *value = node(r, &event, depth + 1);
        yaml_event_delete(&event);
        if (value && json_object_set_new(object, key, value) < 0)
            fail(r, 0, "a key is no UTF-8");
    }
    return NULL;
}

static const char *anchor_of(const yaml_event_t *event)
{
    switch ((int)event->type) {
    case YAML_SCALAR_EVENT:
        return (const char *)event->data.scalar.anchor;
    case YAML_SEQUENCE_START_EVENT:
        return (const char *)event->data.sequence_start.anchor;
    case YAML_MAPPING_START_EVENT:
        return (const char *)event->data.mapping_start.anchor;
    default:
        return NULL;
    }
}

static json_t *node(struct yaml_reading *r, const yaml_event_t *event, unsigned depth)
{
    json_t *value = NULL;
    if (depth > YAML_MAX_DEPTH)
        fail(r, event->start_mark.line + 1, "more than %d levels", (int)YAML_MAX_DEPTH);
    else if (++r->values > YAML_MAX_VALUES)
        fail(r, event->start_mark.line + 1, "more than %d values", (int)YAML_MAX_VALUES);
    else if (event->type == YAML_ALIAS_EVENT)
        value = alias(r, event);
    else if (event->type == YAML_SCALAR_EVENT)
        value = scalar(r, event);
    else if (event->type == YAML_SEQUENCE_START_EVENT)
        value = sequence(r, depth);
    else if (event->type == YAML_MAPPING_START_EVENT)
        value = mapping(r, depth);
    else
        fail(r, event->start_mark.line + 1, "a value is missing");
    if (value && anchor_of(event))
        (void)json_object_set(r->anchors, anchor_of(event), value);
    return value;
}

static json_t *documents(struct yaml_reading *r)
{
    json_t *all CLEANUP_JSON = json_array();
    yaml_event_t event;
    while (next_event(r, &event)) {
        bool ends = event.type == YAML_STREAM_END_EVENT;
        bool is_value = event.type == YAML_SCALAR_EVENT || event.type == YAML_ALIAS_EVENT ||
                        event.type == YAML_SEQUENCE_START_EVENT || event.type == YAML_MAPPING_START_EVENT;
        if (event.type == YAML_DOCUMENT_START_EVENT)
            (void)json_object_clear(r->anchors);
        json_t *value = is_value ? node(r, &event, 0) : NULL;
        yaml_event_delete(&event);
        if (value && !json_is_null(value))
            (void)json_array_append(all, value);
        json_decref(value);
        if (ends)
            return TAKE_PTR(all);
    }
    return NULL;
}

/* Whether all keys and the depth are within the limits of this file. */
static bool is_within_limits(const json_t *value, unsigned depth)
{
    size_t i;
    const char *key;
    json_t *item;
    if (depth > YAML_MAX_DEPTH)
        return false;
    json_array_foreach (value, i, item)
        if (!is_within_limits(item, depth + 1))
            return false;
    json_object_foreach ((json_t *)(uintptr_t)value, key, item)
        if (strlen(key) > YAML_MAX_KEY_BYTES || !is_showable(key) || !is_within_limits(item, depth + 1))
            return false;
    return true;
}

/* Reads a document that is JSON as JSON: YAML does not know all its escapes, and has other numbers. Returns
 * NULL for any other text, and for one with a fault, whose line the reader of YAML finds. */
static json_t *read_json(const char *bytes, size_t len)
{
    static const struct json_limits limits = {YAML_MAX_BYTES, YAML_MAX_VALUES, YAML_MAX_VALUES};
    size_t at = text_mark_length(bytes, len);
    while (at < len && strchr(" \t\r\n", bytes[at]) && bytes[at])
        at++;
    if (at == len || bytes[at] != '{' || json_scan(bytes + at, len - at, &limits) != JSON_SCAN_OK)
        return NULL;
    json_t *doc CLEANUP_JSON = json_parse_strict(bytes + at, len - at, NULL);
    return doc && is_within_limits(doc, 0) ? json_pack("[O]", doc) : NULL;
}

json_t *yaml_read(const char *bytes, size_t len, struct yaml_fault *ret_fault)
{
    json_t *all = read_json(bytes, len);
    if (all)
        return all;
    struct yaml_reading r = {.anchors = json_object()};
    if (len > YAML_MAX_BYTES)
        fail(&r, 0, "more than %d bytes", (int)YAML_MAX_BYTES);
    else if (!yaml_parser_initialize(&r.parser))
        abort();
    if (!r.failed) {
        yaml_parser_set_input_string(&r.parser, (const unsigned char *)bytes, len);
        all = documents(&r);
        yaml_parser_delete(&r.parser);
    }
    json_decref(r.anchors);
    if (!all)
        *ret_fault = r.fault;
    return all;
}

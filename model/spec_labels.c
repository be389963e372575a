/* Labels, annotations, taints: the rules of Kubernetes (GA-9). */
#include <ctype.h>
#include <string.h>

#include "base/mem.h"
#include "model/spec_check_private.h"

enum { PREFIX_MAX = 253, NAME_MAX_LEN = 63, VALUE_MAX = 63, ANNOTATIONS_MAX = 256 * 1024 };

/* A taint that Gardener reserves for nodes whose critical components have not started. */
#define RESERVED_TAINT "node.gardener.cloud/critical-components-not-ready"

/* Whether the text has only letters, digits and `inner` characters, with a letter or digit at both ends. */
static bool is_word(const char *text, size_t len, bool upper, const char *inner)
{
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        bool plain = isdigit(c) || (c >= 'a' && c <= 'z') || (upper && c >= 'A' && c <= 'Z');
        if (!plain && (!i || i + 1 == len || !strchr(inner, c)))
            return false;
    }
    return len > 0;
}

static bool is_subdomain(const char *text, size_t len)
{
    for (size_t at = 0; at <= len;) {
        const char *dot = memchr(text + at, '.', len - at);
        size_t part = (dot ? (size_t)(dot - text) : len) - at;
        if (!is_word(text + at, part, false, "-"))
            return false;
        at += part + 1;
    }
    return len > 0;
}

const char *spec_label_key_fault(const char *key)
{
    const char *slash = strchr(key, '/');
    const char *name = slash ? slash + 1 : key;
    size_t prefix = slash ? (size_t)(slash - key) : 0;
    if (slash && (prefix > PREFIX_MAX || !is_subdomain(key, prefix)))
        return "must have a DNS name of at most 253 characters (a-z, 0-9, '-', '.') before its '/'";
    if (strlen(name) > NAME_MAX_LEN || !is_word(name, strlen(name), true, "-_."))
        return "must be a name of 1 to 63 letters, digits, '-', '_' and '.', which begins and ends with a "
               "letter or digit, perhaps after a DNS name and '/'";
    return NULL;
}

bool spec_label_value_is_valid(const char *text, size_t len)
{
    return !len || (len <= VALUE_MAX && is_word(text, len, true, "-_."));
}

static bool value_is_valid(const json_t *value)
{
    return spec_label_value_is_valid(json_string_value(value), json_string_length(value));
}

#define VALUE_RULE                                                                                         \
    "must be empty or have at most 63 letters, digits, '-', '_' and '.', and begin and end with a letter " \
    "or digit"

/* Returns the number of bytes of all keys and values. */
static size_t check_map(struct spec_check *k, const char *pointer, const json_t *map, const json_t *there,
                        bool label_values)
{
    size_t total = 0;
    const char *key;
    json_t *value;
    json_object_foreach ((json_t *)(uintptr_t)map, key, value) {
        const json_t *kept = json_object_get(there, key);
        total += strlen(key) + json_string_length(value);
        if (kept && json_equal(kept, value))
            continue;
        char *here CLEANUP_FREE = json_pointer_to(pointer, key);
        const char *fault = spec_label_key_fault(key);
        if (fault)
            FAULT(k, here, "wrong_form", NULL, "the key %s", fault);
        if (!json_is_string(value))
            FAULT(k, here, "wrong_type", NULL, "must be a string");
        else if (label_values && !value_is_valid(value))
            FAULT(k, here, "wrong_form", NULL, VALUE_RULE);
    }
    return total;
}

void spec_check_labels(struct spec_check *k, const char *pointer, const json_t *value, const json_t *there)
{
    (void)check_map(k, pointer, value, there, true);
}

void spec_check_annotations(struct spec_check *k, const char *pointer, const json_t *value,
                            const json_t *there)
{
    size_t total = check_map(k, pointer, value, there, false);
    if (total > ANNOTATIONS_MAX)
        FAULT(k, pointer, "too_large", NULL, "keys and values have %zu bytes together, %d are allowed", total,
              ANNOTATIONS_MAX);
}

/* ---- taints ---- */

static void check_taint_key(struct spec_check *k, const char *pointer, const json_t *value,
                            const json_t *there ATTR_UNUSED)
{
    const char *fault = spec_label_key_fault(json_string_value(value));
    if (fault)
        FAULT(k, pointer, "wrong_form", NULL, "%s", fault);
    else if (!strcmp(json_string_value(value), RESERVED_TAINT))
        FAULT(k, pointer, "reserved", NULL, "is set and taken away by Gardener itself");
}

static void check_taint_value(struct spec_check *k, const char *pointer, const json_t *value,
                              const json_t *there ATTR_UNUSED)
{
    if (!value_is_valid(value))
        FAULT(k, pointer, "wrong_form", NULL, VALUE_RULE);
}

static void check_effect(struct spec_check *k, const char *pointer, const json_t *value,
                         const json_t *there ATTR_UNUSED)
{
    json_t *effects CLEANUP_JSON = json_pack("[sss]", "NoSchedule", "PreferNoSchedule", "NoExecute");
    spec_check_listed(k, pointer, value, effects, "a taint effect");
}

/* Returns the parts of a taint that together must be unique in its pool; NULL when a part is missing. */
static char *taint_identity(const json_t *taint)
{
    const char *key = json_str(taint, "key"), *effect = json_str(taint, "effect");
    return key && effect ? mem_printf("%s:%s", key, effect) : NULL;
}

static const json_t *find_taint(const json_t *taints, const char *identity)
{
    size_t i;
    json_t *taint;
    json_array_foreach (taints, i, taint) {
        char *other CLEANUP_FREE = taint_identity(taint);
        if (other && !strcmp(other, identity))
            return taint;
    }
    return NULL;
}

void spec_check_taints(struct spec_check *k, const char *pointer, const json_t *value, const json_t *there)
{
    static const struct spec_member members[] = {
        {"key", MEMBER_STRING, 1, PREFIX_MAX + 1 + NAME_MAX_LEN, NULL, check_taint_key},
        {"value", MEMBER_STRING, 0, VALUE_MAX, NULL, check_taint_value},
        {"effect", MEMBER_STRING, 1, 32, NULL, check_effect},
    };
    json_t *seen CLEANUP_JSON = json_object();
    size_t i;
    json_t *taint;
    json_array_foreach (value, i, taint) {
        char *here CLEANUP_FREE = spec_pointer_at(pointer, i);
        if (!json_is_object(taint)) {
            FAULT(k, here, "wrong_type", NULL, "must be an object");
            continue;
        }
        char *identity CLEANUP_FREE = taint_identity(taint);
        spec_check_object(k, members, ARRAY_LEN(members), here, taint,
                          identity ? find_taint(there, identity) : NULL);
        if (!identity)
            FAULT(k, here, "missing_member", NULL, "needs key and effect");
        else if (!spec_set_add(seen, identity))
            FAULT(k, here, "duplicate", NULL, "key and effect are those of an earlier taint");
    }
}

#include "simulator/cloud/check.h"

#include <regex.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OCTET "(25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)"

static const char *const sources[PATTERN_MAX_] = {
    [PATTERN_NONE] = "",
    [PATTERN_SHOOT] = "^[A-Za-z0-9-]+$",
    [PATTERN_DNS_LABEL] = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
    [PATTERN_WORKER] = "^[A-Za-z0-9_-]+$",
    [PATTERN_VERSION] = "^[0-9]+(\\.[0-9]+)*$",
    [PATTERN_UUID] = "^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$",
    [PATTERN_CIDR] = "^" OCTET "(\\." OCTET "){3}/([0-9]|[12][0-9]|3[0-2])$",
    /* NOLINTNEXTLINE(bugprone-suspicious-missing-comma): one long text */
    [PATTERN_CRON] = "(@(annually|yearly|monthly|weekly|daily|hourly|reboot))|"
                     "(@every ([0-9]+(ns|us|µs|ms|s|m|h))+)|"
                     "((([0-9]+,)+[0-9]+|([0-9*]+(/|-)[0-9]+)|[0-9]+|\\*) ?){5,7}",
    [PATTERN_TIME] = "^[0-9]{6}\\+[0-9]{4}$",
    [PATTERN_TEXT] = "^[A-Za-z 0-9.,_:åäöÅÄÖüÜéÉÕõãÂẼẽØøÆæßĄąĆćĘęŁłŃńÓóŚśŹźŻż/-]+$",
    [PATTERN_SIZE] = "^[A-Za-z0-9_-]+$",
    [PATTERN_GIB] = "^[0-9]+Gi$",
};

/* check_init writes the patterns once; afterwards all threads read them. */
static regex_t compiled[PATTERN_MAX_];

void check_init(void)
{
    for (int i = 0; i < PATTERN_MAX_; i++) {
        if (regcomp(&compiled[i], sources[i], REG_EXTENDED | REG_NOSUB) != 0) {
            (void)fprintf(stderr, "cleura-sim: bad pattern %d\n", i);
            abort();
        }
    }
}

void check_done(void)
{
    for (int i = 0; i < PATTERN_MAX_; i++)
        regfree(&compiled[i]);
}

bool check_pattern(enum pattern pattern, const char *text)
{
    return regexec(&compiled[pattern], text, 0, NULL, 0) == 0;
}

void check_fail(json_t *errors, const char *key, const char *reason)
{
    (void)json_array_append_new(errors, json_pack("{s:s, s:s}", "key", key, "value", reason));
}

void check_key(char *out, size_t size, const char *prefix, const char *name)
{
    if (!*prefix)
        (void)snprintf(out, size, "%s", name);
    else
        (void)snprintf(out, size, "%s.%s", prefix, name);
}

static const char *check_kind(enum member_kind kind, const json_t *value)
{
    switch (kind) {
    case KIND_STRING:
        return json_is_string(value) ? NULL : "must be a string";
    case KIND_INTEGER:
        return json_is_integer(value) ? NULL : "must be an integer";
    case KIND_NUMBER:
        return json_is_number(value) ? NULL : "must be a number";
    case KIND_BOOLEAN:
        return json_is_boolean(value) ? NULL : "must be a boolean";
    case KIND_ARRAY:
        return json_is_array(value) ? NULL : "must be an array";
    case KIND_OBJECT:
        return json_is_object(value) ? NULL : "must be an object";
    }
    return "is not known";
}

static const char *check_member(const struct rule *rule, const json_t *value)
{
    const char *reason;
    if (!value)
        return (rule->flags & RULE_REQUIRED) != 0 ? "is required" : NULL;
    if (json_is_null(value) && (rule->flags & RULE_NULLABLE) != 0)
        return NULL;
    reason = check_kind(rule->kind, value);
    if (!reason && rule->kind == KIND_STRING && rule->pattern != PATTERN_NONE &&
        !check_pattern(rule->pattern, json_string_value(value)))
        return "must match pattern";
    return reason;
}

void check_members(json_t *errors, const char *prefix, const json_t *object, const struct rule *rules,
                   size_t count)
{
    if (!json_is_object(object)) {
        check_fail(errors, *prefix ? prefix : "body", "must be an object");
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const char *reason = check_member(&rules[i], json_object_get(object, rules[i].name));
        char key[200];
        if (!reason)
            continue;
        check_key(key, sizeof(key), prefix, rules[i].name);
        check_fail(errors, key, reason);
    }
}

static bool is_named(const char *name, const struct rule *rules, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(rules[i].name, name))
            return true;
    return false;
}

void check_order(json_t *errors, const char *prefix, const json_t *order, const struct rule *rules,
                 size_t count)
{
    json_t *object = (json_t *)(uintptr_t)order; /* jansson's iterators take no const pointer */
    check_members(errors, prefix, order, rules, count);
    for (void *at = json_object_iter(object); at; at = json_object_iter_next(object, at)) {
        char key[200];
        if (is_named(json_object_iter_key(at), rules, count))
            continue;
        check_key(key, sizeof(key), prefix, json_object_iter_key(at));
        check_fail(errors, key, "is not known");
    }
}

void check_word(json_t *errors, const char *key, const char *value, const char *const *words)
{
    char reason[600];
    size_t used = (size_t)snprintf(reason, sizeof(reason), "must be one of:");
    for (size_t i = 0; words[i]; i++) {
        if (!strcmp(words[i], value))
            return;
        if (used < sizeof(reason))
            used +=
                (size_t)snprintf(reason + used, sizeof(reason) - used, "%s %s", i > 0 ? "," : "", words[i]);
    }
    check_fail(errors, key, reason);
}

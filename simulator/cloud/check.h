/* Checks the members of a request with a table: type, pattern, required, nullable. All faults are collected
 * as {key, value} objects. */
#ifndef SIMULATOR_CLOUD_CHECK_H
#define SIMULATOR_CLOUD_CHECK_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum pattern {
    PATTERN_NONE,
    PATTERN_SHOOT,
    PATTERN_DNS_LABEL,
    PATTERN_WORKER,
    PATTERN_VERSION,
    PATTERN_UUID,
    PATTERN_CIDR,
    PATTERN_CRON,
    PATTERN_TIME,
    PATTERN_TEXT,
    PATTERN_SIZE,
    PATTERN_GIB,
    PATTERN_MAX_
};

enum rule_flag { RULE_REQUIRED = 1, RULE_NULLABLE = 2 };

enum member_kind { KIND_STRING, KIND_INTEGER, KIND_NUMBER, KIND_BOOLEAN, KIND_ARRAY, KIND_OBJECT };

struct rule {
    const char *name;
    enum member_kind kind;
    enum pattern pattern;
    unsigned flags;
};

#define RULES(table) table, sizeof(table) / sizeof((table)[0])

/* Compiles the patterns. Called once before any thread starts. */
void check_init(void);
void check_done(void);
bool check_pattern(enum pattern pattern, const char *text);
/* Adds a fault. `key` may contain a prefix: see check_key. */
void check_fail(json_t *errors, const char *key, const char *reason);
/* Writes "prefix.name"; with an empty prefix, "name". */
void check_key(char *out, size_t size, const char *prefix, const char *name);
/* Checks the members for which there are rules; ignores other members. */
void check_members(json_t *errors, const char *prefix, const json_t *object, const struct rule *rules,
                   size_t count);
/* Checks a request to the simulator itself, or an object in it. Does the same as check_members; in addition,
 * members without a rule are faults. */
void check_order(json_t *errors, const char *prefix, const json_t *order, const struct rule *rules,
                 size_t count);
/* Adds a fault unless the value is one of the words; their list ends with NULL. */
void check_word(json_t *errors, const char *key, const char *value, const char *const *words);

#endif

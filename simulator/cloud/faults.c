#include "simulator/cloud/faults.h"

#include "base/mem.h"
#include "simulator/cloud/check.h"
#include "simulator/cloud/sim.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DELAY_MS_MAX 600000

static const char *const kinds[FAULT_KIND_MAX_] = {
    [FAULT_DROP] = "drop",
    [FAULT_STATUS] = "status",
    [FAULT_GARBAGE] = "garbage",
    [FAULT_TRUNCATE] = "truncate",
    [FAULT_OVERSIZE] = "oversize",
    [FAULT_DELAY] = "delay",
    [FAULT_SLOW_BODY] = "slow_body",
    [FAULT_HANG] = "hang",
    [FAULT_FORBIDDEN_IP] = "forbidden_ip",
    [FAULT_NO_PRIVILEGE] = "no_privilege",
    [FAULT_UNAUTHORIZED] = "unauthorized",
    [FAULT_WRONG_TYPES] = "wrong_types",
    [FAULT_UNKNOWN_ENUM] = "unknown_enum",
    [FAULT_REORDER] = "reorder",
    [FAULT_OMIT_OPTIONAL] = "omit_optional",
    [FAULT_INVALID_UTF8] = "invalid_utf8",
};

static enum fault_kind kind_find(const char *name)
{
    for (int i = 0; name && i < FAULT_KIND_MAX_; i++)
        if (!strcmp(kinds[i], name))
            return (enum fault_kind)i;
    return FAULT_KIND_INVALID;
}

static char *copy_string(const json_t *value)
{
    return mem_strdup(json_string_value(value));
}

static const struct rule rules[] = {
    {"operation", KIND_STRING, PATTERN_NONE, RULE_REQUIRED},
    {"kind", KIND_STRING, PATTERN_NONE, RULE_REQUIRED},
    {"count", KIND_INTEGER, PATTERN_NONE, 0},
    {"skip", KIND_INTEGER, PATTERN_NONE, 0},
    {"shoot", KIND_STRING, PATTERN_NONE, 0},
    {"effect", KIND_BOOLEAN, PATTERN_NONE, 0},
    {"status", KIND_INTEGER, PATTERN_NONE, 0},
    {"body", KIND_STRING, PATTERN_NONE, 0},
    {"headers", KIND_OBJECT, PATTERN_NONE, 0},
    {"delay_ms", KIND_INTEGER, PATTERN_NONE, 0},
    {"content_type", KIND_STRING, PATTERN_NONE, 0},
};

static void fault_check_headers(json_t *errors, const json_t *headers)
{
    json_t *object = (json_t *)(uintptr_t)headers; /* jansson's iterators take no const pointer */
    for (void *at = json_object_iter(object); at; at = json_object_iter_next(object, at))
        if (!json_is_string(json_object_iter_value(at)))
            check_fail(errors, "headers", "must be strings");
}

static int64_t integer_or(const json_t *value, int64_t otherwise)
{
    return json_is_integer(value) ? json_integer_value(value) : otherwise;
}

static void check_range(json_t *errors, const json_t *description, const char *name, int64_t least,
                        int64_t most)
{
    int64_t value = integer_or(json_object_get(description, name), least);
    char reason[80];
    if (value >= least && value <= most)
        return;
    (void)snprintf(reason, sizeof(reason), "must be %lld to %lld", (long long)least, (long long)most);
    check_fail(errors, name, reason);
}

static void fault_check(json_t *errors, const struct fault *fault, const json_t *description)
{
    check_order(errors, "", description, RULES(rules));
    if (fault->operation == OPERATION_INVALID)
        check_fail(errors, "operation", "is not known");
    if (fault->kind == FAULT_KIND_INVALID)
        check_fail(errors, "kind", "is not known");
    check_range(errors, description, "count", 0, INT32_MAX);
    check_range(errors, description, "skip", 0, INT32_MAX);
    check_range(errors, description, "status", 200, 599);
    check_range(errors, description, "delay_ms", 0, DELAY_MS_MAX);
    fault_check_headers(errors, json_object_get(description, "headers"));
}

static struct fault *fault_free(struct fault *fault)
{
    free(fault->shoot);
    free(fault->body);
    free(fault->content_type);
    json_decref(fault->headers);
    free(fault);
    return NULL;
}

struct fault *faults_add(struct faults *faults, const json_t *description, json_t *errors)
{
    struct fault *fault = mem_calloc(1, sizeof(*fault));
    struct fault **end = &faults->first;
    fault->operation = operation_find(json_string_value(json_object_get(description, "operation")));
    fault->kind = kind_find(json_string_value(json_object_get(description, "kind")));
    fault->count = integer_or(json_object_get(description, "count"), 1);
    fault->skip = integer_or(json_object_get(description, "skip"), 0);
    fault->status = (int)integer_or(json_object_get(description, "status"), 500);
    fault->delay_ms = (unsigned)integer_or(json_object_get(description, "delay_ms"), 0);
    fault->effect = json_is_true(json_object_get(description, "effect"));
    fault->shoot = copy_string(json_object_get(description, "shoot"));
    fault->body = copy_string(json_object_get(description, "body"));
    fault->content_type = copy_string(json_object_get(description, "content_type"));
    fault->headers = json_incref(json_object_get(description, "headers"));
    fault_check(errors, fault, description);
    if (json_array_size(errors) > 0)
        return fault_free(fault);
    fault->id = ++faults->last_id;
    while (*end)
        end = &(*end)->next;
    *end = fault;
    return fault;
}

json_t *faults_render(const struct faults *faults)
{
    json_t *list = json_array();
    for (const struct fault *fault = faults->first; fault; fault = fault->next)
        (void)json_array_append_new(
            list, json_pack("{s:I, s:s, s:s, s:I, s:I, s:I, s:b, s:i, s:s?}", "id", (json_int_t)fault->id,
                            "operation", operation_name(fault->operation), "kind", kinds[fault->kind],
                            "count", (json_int_t)fault->count, "skip", (json_int_t)fault->skip, "hits",
                            (json_int_t)fault->hits, "effect", fault->effect, "status", fault->status,
                            "shoot", fault->shoot));
    return list;
}

bool faults_remove(struct faults *faults, int64_t id)
{
    for (struct fault **at = &faults->first; *at; at = &(*at)->next) {
        struct fault *fault = *at;
        if (fault->id != id)
            continue;
        *at = fault->next;
        fault_free(fault);
        return true;
    }
    return false;
}

void faults_clear(struct faults *faults)
{
    while (faults->first)
        (void)faults_remove(faults, faults->first->id);
}

static bool fault_matches(const struct fault *fault, enum operation operation, const char *shoot)
{
    if (fault->count > 0 && fault->hits >= fault->count)
        return false;
    if (fault->operation != OPERATION_ANY && fault->operation != operation)
        return false;
    return !fault->shoot || (shoot && !strcmp(fault->shoot, shoot));
}

const struct fault *faults_take(struct faults *faults, enum operation operation, const char *shoot)
{
    for (struct fault *fault = faults->first; fault; fault = fault->next) {
        if (!fault_matches(fault, operation, shoot))
            continue;
        if (fault->skip > 0) {
            fault->skip--;
            continue;
        }
        fault->hits++;
        assert(!fault->count || fault->hits <= fault->count);
        return fault;
    }
    return NULL;
}

/* openapi.yaml and the tables of the program are equal: operations, parameters, problem codes, closed
 * sets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <cmocka.h>

#include "api/api_private.h"
#include "api/routes.h"
#include "base/json.h"
#include "base/mem.h"
#include "model/kept.h"
#include "model/problem.h"
#include "model/spec.h"
#include "model/spec_limits.h"
#include "model/webhook.h"
#include "tests/support/abilities.h"

static json_t *doc;

static int load(void **state)
{
    doc = json_parse_strict((const char *)openapi_json, openapi_json_len, NULL);
    return doc ? 0 : -1;
}

static int unload(void **state)
{
    json_decref(doc);
    return 0;
}

static json_t *resolve(json_t *item)
{
    const char *ref = json_str(item, "$ref");
    if (!ref)
        return item;
    const char *name = strrchr(ref, '/') + 1;
    return json_obj(json_obj(json_obj(doc, "components"), "parameters"), name);
}

static json_t *operation_of(const struct route *route)
{
    json_t *path = json_obj(json_obj(doc, "paths"), route->template);
    const char *key;
    json_t *value;
    json_object_foreach (path, key, value) {
        if (!strcasecmp(key, method_name(route->method)))
            return value;
    }
    return NULL;
}

static void every_route_is_an_operation(void **state)
{
    for (size_t i = 0; i < ROUTE_COUNT; i++) {
        json_t *operation = operation_of(&routes[i]);
        if (!operation)
            fail_msg("%s is not in the contract", routes[i].operation);
        assert_string_equal(json_str(operation, "operationId"), routes[i].operation);
        bool is_public = json_arr(operation, "security") != NULL;
        assert_int_equal(is_public, (routes[i].flags & ROUTE_PUBLIC) != 0);
        assert_string_equal(json_str_or(operation, "x-role", "(no x-role)"),
                            is_public ? "none" : role_name(routes[i].role));
        assert_string_equal(json_str_or(operation, "x-projects", ""),
                            routes[i].flags & ROUTE_WHOLE ? "all" : "");
        assert_int_equal(json_obj(operation, "requestBody") != NULL, (routes[i].flags & CONTENT_BODY) != 0);
    }
}

static void every_operation_is_a_route(void **state)
{
    size_t count = 0;
    const char *path;
    const char *method;
    json_t *item;
    json_t *operation;
    json_object_foreach (json_obj(doc, "paths"), path, item)
        json_object_foreach (item, method, operation)
            count += json_str(operation, "operationId") != NULL;
    assert_int_equal(count, ROUTE_COUNT);
}

/* Two parameters may have the same name. When one of them belongs to the route, it is used. */
static uint64_t bit_of(const char *name, uint64_t of_route)
{
    uint64_t bits = 0;
    for (int id = 0; id < PARAM_MAX_; id++)
        if (!strcmp(name, param_name((enum param_id)id)))
            bits |= PARAM_BIT(id);
    return bits & of_route ? bits & of_route : bits;
}

static void query_parameters_agree(void **state)
{
    for (size_t i = 0; i < ROUTE_COUNT; i++) {
        uint64_t found = 0;
        size_t n;
        json_t *item;
        json_array_foreach (json_arr(operation_of(&routes[i]), "parameters"), n, item) {
            json_t *parameter = resolve(item);
            if (!strcmp(json_str(parameter, "in"), "query"))
                found |= bit_of(json_str(parameter, "name"), routes[i].params);
        }
        if (found != routes[i].params)
            fail_msg("parameters of %s: %x in the contract, %x in the table", routes[i].operation, found,
                     routes[i].params);
    }
}

/* ---- limits of requested values ---- */

/* Returns the schema without references. Among alternatives, returns the one that is not null. */
static const json_t *plain(const json_t *schema)
{
    size_t i;
    json_t *one;
    const char *ref = json_str(schema, "$ref");
    if (ref)
        return plain(json_obj(json_obj(json_obj(doc, "components"), "schemas"), strrchr(ref, '/') + 1));
    json_array_foreach (json_arr(schema, "oneOf"), i, one)
        if (strcmp(json_str_or(one, "type", ""), "null") != 0)
            return plain(one);
    return schema;
}

static bool has_type(const json_t *schema, const char *type)
{
    size_t i;
    json_t *one;
    json_array_foreach (json_arr(schema, "type"), i, one)
        if (!strcmp(json_string_value(one), type))
            return true;
    return !strcmp(json_str_or(schema, "type", ""), type);
}

static bool met[64]; /* rows of spec_limits that were found in the contract */

static void compare_limit(const char *path, enum spec_limit_kind kind, const json_t *schema,
                          const char *member)
{
    for (size_t i = 0; spec_limits[i].path; i++) {
        if (spec_limits[i].kind != kind || strcmp(spec_limits[i].path, path) != 0)
            continue;
        met[i] = true;
        if (json_int(schema, member, -1) != spec_limits[i].max)
            fail_msg("%s of %s: %lld in the contract, %lld in the table", member, path,
                     (long long)json_int(schema, member, -1), (long long)spec_limits[i].max);
        return;
    }
    fail_msg("%s has no row for %s in spec_limits", path, member);
}

static void walk_schema(const char *path, const json_t *schema)
{
    const char *name;
    json_t *inner;
    char here[256];
    schema = plain(schema);
    if (has_type(schema, "string"))
        compare_limit(path, LIMIT_BYTES, schema, "maxLength");
    if (has_type(schema, "array")) {
        compare_limit(path, LIMIT_ITEMS, schema, "maxItems");
        (void)snprintf(here, sizeof(here), "%s/*", path);
        walk_schema(here, json_obj(schema, "items"));
    }
    if (json_obj(schema, "additionalProperties")) {
        compare_limit(path, LIMIT_MEMBERS, schema, "maxProperties");
        compare_limit(path, LIMIT_KEYS, json_obj(schema, "propertyNames"), "maxLength");
        (void)snprintf(here, sizeof(here), "%s/*", path);
        walk_schema(here, json_obj(schema, "additionalProperties"));
    }
    json_object_foreach (json_obj(schema, "properties"), name, inner) {
        (void)snprintf(here, sizeof(here), "%s%s%s", path, *path ? "/" : "", name);
        walk_schema(here, inner);
    }
}

/* Every array, map and string of a request has a maximum, which is equal to the enforced one. */
static void limits_agree(void **state)
{
    const json_t *schemas = json_obj(json_obj(doc, "components"), "schemas");
    walk_schema("", json_obj(schemas, "ClusterCreate"));
    walk_schema("", json_obj(schemas, "ClusterPut"));
    for (size_t i = 0; spec_limits[i].path; i++)
        if (!met[i])
            fail_msg("%s is not in the contract", spec_limits[i].path);
}

/* Makes a body with one value at `path`. */
static json_t *body_with(const char *path, json_t *value)
{
    const char *slash = strchr(path, '/');
    char name[64];
    (void)snprintf(name, sizeof(name), "%.*s", (int)(slash ? slash - path : (long)strlen(path)), path);
    json_t *inner = slash ? body_with(slash + 1, value) : value, *outer;
    if (strcmp(name, "*") != 0) {
        outer = json_object();
        (void)json_object_set_new(outer, name, inner);
    } else {
        outer = json_array();
        json_append_take(outer, inner);
    }
    return outer;
}

static json_t *text_of(size_t len)
{
    char *text = calloc(len + 1, 1);
    memset(text, 'a', len);
    json_t *value = json_stringn(text, len);
    free(text);
    return value;
}

/* Makes a body with a value that exceeds the limit by one, in the member to which the limit applies. */
static json_t *one_too_many(const struct spec_limit *limit)
{
    size_t len = strlen(limit->path), max = (size_t)limit->max;
    bool in_map = strstr(limit->path, "labels/*") || strstr(limit->path, "annotations/*");
    bool inner = len > 2 && !strcmp(limit->path + len - 2, "/*");
    json_t *value = limit->kind == LIMIT_BYTES ? text_of(max + 1) : NULL;
    char path[128];
    (void)snprintf(path, sizeof(path), "%.*s", (int)(inner ? len - 2 : len), limit->path);
    if (inner) {
        json_t *around = in_map ? json_object() : json_array();
        if (in_map)
            (void)json_object_set_new(around, "k", value);
        else
            json_append_take(around, value);
        value = around;
    }
    if (limit->kind == LIMIT_ITEMS)
        value = json_array();
    if (limit->kind == LIMIT_MEMBERS || limit->kind == LIMIT_KEYS)
        value = json_object();
    for (size_t i = 0; limit->kind == LIMIT_ITEMS && i <= max; i++)
        json_append_take(value, json_object());
    for (size_t i = 0; limit->kind == LIMIT_MEMBERS && i <= max; i++) {
        char key[32];
        (void)snprintf(key, sizeof(key), "k%zu", i);
        (void)json_object_set_new(value, key, json_string("v"));
    }
    if (limit->kind == LIMIT_KEYS) {
        json_t *key = text_of(max + 1);
        (void)json_object_set_new(value, json_string_value(key), json_string("v"));
        json_decref(key);
    }
    return body_with(path, value);
}

static void every_limit_is_enforced(void **state)
{
    for (const struct spec_limit *limit = spec_limits; limit->path; limit++) {
        struct problem *faults = NULL;
        const struct spec_context context = {.abilities = abilities_of(API_V2)};
        json_t *body = one_too_many(limit);
        if (strcmp(limit->path, "name") != 0)
            json_set_str(body, "name", "dev");
        spec_check_body(body, SPEC_CREATE, &context, &faults);
        if (!faults)
            fail_msg("more than %lld of %s is accepted", (long long)limit->max, limit->path);
        problem_free(faults);
        json_decref(body);
    }
}

static void check_set(const char *schema, int count, const char *(*name)(int value))
{
    json_t *values = json_arr(json_obj(json_obj(json_obj(doc, "components"), "schemas"), schema), "enum");
    assert_int_equal(json_array_size(values), count);
    for (int i = 0; i < count; i++)
        assert_string_equal(json_string_value(json_array_get(values, (size_t)i)), name(i));
}

static const char *code_of(int value)
{
    return problem_kind((enum problem_code)value)->code;
}

static const char *phase_of(int value)
{
    return phase_name((enum phase)value);
}

static const char *health_of(int value)
{
    return health_name((enum health)value);
}

static const char *role_of(int value)
{
    return role_name((enum role)value);
}

static const char *status_of(int value)
{
    return operation_status_name((enum operation_status)value);
}

static const char *event_of(int value)
{
    return event_type_name((enum event_type)(EVENT_NONE + 1 + value));
}

static const char *delivery_of(int value)
{
    return delivery_status_name((enum delivery_status)value);
}

static const char *signature_of(int value)
{
    return signature_scheme_name((enum signature_scheme)value);
}

static const char *type_of(int value)
{
    return operation_type_name((enum operation_type)value);
}

static const char *action_of(int value)
{
    return operation_type_name((enum operation_type)(value + OPERATION_DELETE + 1));
}

static void closed_sets_agree(void **state)
{
    check_set("ProblemCode", PROBLEM_MAX_, code_of);
    check_set("Phase", PHASE_MAX_, phase_of);
    check_set("Health", HEALTH_MAX_, health_of);
    check_set("Role", ROLE_MAX_, role_of);
    check_set("OperationType", OPERATION_TYPE_MAX_, type_of);
    check_set("ClusterAction", OPERATION_TYPE_MAX_ - OPERATION_DELETE - 1, action_of);
    check_set("OperationStatus", OPERATION_STATUS_MAX_, status_of);
    check_set("EventType", EVENT_TYPE_MAX_ - 1, event_of);
    check_set("DeliveryStatus", DELIVERY_STATUS_MAX_, delivery_of);
    check_set("SignatureScheme", SIGNATURE_SCHEME_MAX_, signature_of);
}

/* The contract names the actions of shootd itself in the description of an entry and of the filter. */
static void actions_of_shootd_itself_are_described(void **state)
{
    json_t *schemas = json_obj(json_obj(doc, "components"), "schemas");
    json_t *entry = json_obj(json_obj(json_obj(schemas, "AuditEntry"), "properties"), "action");
    json_t *audit = json_obj(json_obj(json_obj(doc, "paths"), "/v1/audit"), "get");
    json_t *parameter, *filter = NULL;
    size_t i;
    json_array_foreach (json_arr(audit, "parameters"), i, parameter)
        if (!strcmp(json_str_or(parameter, "name", ""), "action"))
            filter = parameter;
    for (int action = 0; action < OWN_ACTION_MAX_; action++) {
        char *name CLEANUP_FREE = mem_printf("`%s`", own_action_name((enum own_action)action));
        assert_non_null(strstr(json_str_or(entry, "description", ""), name));
        assert_non_null(strstr(json_str_or(filter, "description", ""), name));
    }
}

/* An answer that is counted with another status would raise a false alarm, or hide a true one. */
static void every_problem_is_counted_with_its_status(void **state)
{
    for (int code = 0; code < PROBLEM_MAX_; code++) {
        const int status = problem_kind((enum problem_code)code)->status;
        assert_int_equal(metrics_status(status), status);
    }
    assert_int_equal(metrics_status(299), 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_problem_is_counted_with_its_status),
        cmocka_unit_test(limits_agree),
        cmocka_unit_test(every_limit_is_enforced),
        cmocka_unit_test(every_route_is_an_operation),
        cmocka_unit_test(every_operation_is_a_route),
        cmocka_unit_test(query_parameters_agree),
        cmocka_unit_test(closed_sets_agree),
        cmocka_unit_test(actions_of_shootd_itself_are_described),
    };
    return cmocka_run_group_tests(tests, load, unload);
}

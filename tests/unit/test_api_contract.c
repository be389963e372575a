/* openapi.yaml and the tables of the program say the same: operations, parameters, problem codes, closed
 * sets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include <cmocka.h>

#include "api/openapi.h"
#include "api/routes.h"
#include "base/json.h"
#include "model/problem.h"
#include "model/webhook.h"

static json_t *doc;

static int load(void **state)
{
    (void)state;
    doc = json_parse_strict((const char *)openapi_json, openapi_json_len, NULL);
    return doc ? 0 : -1;
}

static int unload(void **state)
{
    (void)state;
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
    (void)state;
    for (size_t i = 0; i < ROUTE_COUNT; i++) {
        json_t *operation = operation_of(&routes[i]);
        if (!operation)
            fail_msg("%s is not in the contract", routes[i].operation);
        assert_string_equal(json_str(operation, "operationId"), routes[i].operation);
        bool is_public = json_arr(operation, "security") != NULL;
        assert_int_equal(is_public, (routes[i].flags & ROUTE_PUBLIC) != 0);
        assert_int_equal(json_obj(operation, "requestBody") != NULL, (routes[i].flags & ROUTE_BODY) != 0);
    }
}

static void every_operation_is_a_route(void **state)
{
    (void)state;
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

/* Two parameters may have one name: that of the route is meant then. */
static uint32_t bit_of(const char *name, uint32_t of_route)
{
    uint32_t bits = 0;
    for (int id = 0; id < PARAM_MAX_; id++)
        if (!strcmp(name, param_name((enum param_id)id)))
            bits |= PARAM_BIT(id);
    return bits & of_route ? bits & of_route : bits;
}

static void query_parameters_agree(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROUTE_COUNT; i++) {
        uint32_t found = 0;
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
    return event_type_name((enum event_type)value);
}

static const char *delivery_of(int value)
{
    return delivery_status_name((enum delivery_status)value);
}

static const char *signature_of(int value)
{
    return signature_scheme_name((enum signature_scheme)value);
}

static void closed_sets_agree(void **state)
{
    (void)state;
    check_set("ProblemCode", PROBLEM_MAX_, code_of);
    check_set("Phase", PHASE_MAX_, phase_of);
    check_set("Health", HEALTH_MAX_, health_of);
    check_set("Role", ROLE_MAX_, role_of);
    check_set("OperationStatus", OPERATION_STATUS_MAX_, status_of);
    check_set("EventType", EVENT_TYPE_MAX_, event_of);
    check_set("DeliveryStatus", DELIVERY_STATUS_MAX_, delivery_of);
    check_set("SignatureScheme", SIGNATURE_SCHEME_MAX_, signature_of);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_route_is_an_operation),
        cmocka_unit_test(every_operation_is_a_route),
        cmocka_unit_test(query_parameters_agree),
        cmocka_unit_test(closed_sets_agree),
    };
    return cmocka_run_group_tests(tests, load, unload);
}

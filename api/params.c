#include "api/params.h"

#include <assert.h>
#include <string.h>
#include <strings.h>

#include "api/api_private.h"
#include "api/request.h"
#include "api/resources/cluster_order.h"
#include "api/routes.h"
#include "base/attrs.h"
#include "base/mem.h"
#include "model/issues.h"
#include "model/kept.h"
#include "model/label_filter.h"
#include "model/webhook.h"

static int index_of(const char *name, const char *const *names, int count)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(name, names[i]))
            return i;
    return -1;
}

static const char *const format_names[FORMAT_MAX_] = {
    [FORMAT_JSON] = "json", [FORMAT_YAML] = "yaml", [FORMAT_EXEC] = "exec"};

static const char *const audit_format_names[AUDIT_FORMAT_MAX_] = {
    [AUDIT_FORMAT_JSON] = "json", [AUDIT_FORMAT_LINES] = "jsonl"};

static int audit_format_from_name(const char *name)
{
    return index_of(name, audit_format_names, AUDIT_FORMAT_MAX_);
}

static const char *audit_format_to_name(int value)
{
    return audit_format_names[value];
}

static int format_from_name(const char *name)
{
    return index_of(name, format_names, FORMAT_MAX_);
}

static const char *format_to_name(int value)
{
    return format_names[value];
}

/* The names in Kubernetes' API `client.authentication.k8s.io/`. */
static const char *const api_version_names[API_VERSION_MAX_] = {
    [API_VERSION_V1BETA1] = "v1beta1", [API_VERSION_V1] = "v1"};

static int api_version_from_name(const char *name)
{
    return index_of(name, api_version_names, API_VERSION_MAX_);
}

static const char *api_version_to_name(int value)
{
    return api_version_names[value];
}

static const char *const fields_names[FIELDS_MAX_] = {[FIELDS_FULL] = "full", [FIELDS_SUMMARY] = "summary"};

static int fields_from_name(const char *name)
{
    return index_of(name, fields_names, FIELDS_MAX_);
}

static const char *fields_to_name(int value)
{
    return fields_names[value];
}

static const char *const webhooks_names[WEBHOOKS_MAX_] = {
    [WEBHOOKS_KEEP] = "keep", [WEBHOOKS_DISABLE] = "disable"};

static int webhooks_from_name(const char *name)
{
    return index_of(name, webhooks_names, WEBHOOKS_MAX_);
}

static const char *webhooks_to_name(int value)
{
    return webhooks_names[value];
}

static const char *const order_names[ORDER_MAX_] = {[ORDER_ASC] = "asc", [ORDER_DESC] = "desc"};

static int order_from_name(const char *name)
{
    return index_of(name, order_names, ORDER_MAX_);
}

static const char *order_to_name(int value)
{
    return order_names[value];
}

static char *check_label(const char *text, json_t **ret_valid ATTR_UNUSED)
{
    const char *fault = label_filter_fault(text);
    return fault ? mem_strdup(fault) : NULL;
}

static bool is_action(const char *text, size_t len)
{
    char *name CLEANUP_FREE = mem_strndup(text, len);
    for (size_t i = 0; i < ROUTE_COUNT; i++)
        if (!strcmp(routes[i].operation, name))
            return true;
    for (int i = 0; i < OWN_ACTION_MAX_; i++)
        if (!strcmp(own_action_name((enum own_action)i), name))
            return true;
    return false;
}

static char *check_action(const char *text, json_t **ret_valid)
{
    bool known = true;
    for (const char *item = text; known; item++) {
        size_t len = strcspn(item, ",");
        known = is_action(item, len);
        item += len;
        if (!*item)
            break;
    }
    if (known)
        return NULL;
    *ret_valid = json_array();
    for (size_t i = 0; i < ROUTE_COUNT; i++)
        if (!(routes[i].flags & ROUTE_PUBLIC))
            json_append_take(*ret_valid, json_string(routes[i].operation));
    for (int i = 0; i < OWN_ACTION_MAX_; i++)
        json_append_take(*ret_valid, json_string(own_action_name((enum own_action)i)));
    return mem_strdup(
        "must be operationIds of openapi.yaml or actions of shootd itself, with commas between");
}

static char *check_sort(const char *text, json_t **ret_valid)
{
    struct cluster_order ignored;
    return cluster_order_parse(text, &ignored, ret_valid);
}

static const char *phase_to_name(int value)
{
    return phase_name((enum phase)value);
}

static const char *health_to_name(int value)
{
    return health_name((enum health)value);
}

static const char *status_to_name(int value)
{
    return operation_status_name((enum operation_status)value);
}

static const char *type_to_name(int value)
{
    return operation_type_name((enum operation_type)value);
}

static const char *webhook_state_to_name(int value)
{
    return webhook_state_name((enum webhook_state)value);
}

static const char *delivery_status_to_name(int value)
{
    return delivery_status_name((enum delivery_status)value);
}

static const struct query_rule rules[PARAM_MAX_] = {
    [PARAM_LIMIT] = {.name = "limit", .kind = QUERY_CLAMPED, .min = 1, .max = 1000, .fallback = 50},
    [PARAM_CLUSTER_LIMIT] = {.name = "limit", .kind = QUERY_CLAMPED, .min = 1, .max = 1000, .fallback = 200},
    [PARAM_CURSOR] = {.name = "cursor"},
    [PARAM_PROJECT] = {.name = "project"},
    [PARAM_CLUSTER] = {.name = "cluster"},
    [PARAM_REGION] = {.name = "region"},
    [PARAM_PHASE] = {.name = "phase",
                     .kind = QUERY_ENUM,
                     .max = PHASE_MAX_,
                     .from_name = phase_from_name,
                     .to_name = phase_to_name},
    [PARAM_HEALTH] = {.name = "health",
                      .kind = QUERY_ENUM,
                      .max = HEALTH_MAX_,
                      .from_name = health_from_name,
                      .to_name = health_to_name},
    [PARAM_MANAGED] = {.name = "managed", .kind = QUERY_BOOL},
    [PARAM_KUBERNETES_VERSION] = {.name = "kubernetes_version"},
    [PARAM_Q] = {.name = "q"},
    [PARAM_STATUS] = {.name = "status",
                      .kind = QUERY_ENUM,
                      .max = OPERATION_STATUS_MAX_,
                      .from_name = operation_status_from_name,
                      .to_name = status_to_name},
    [PARAM_DELIVERY_STATUS] = {.name = "status",
                               .kind = QUERY_ENUM,
                               .max = DELIVERY_STATUS_MAX_,
                               .from_name = delivery_status_from_name,
                               .to_name = delivery_status_to_name,
                               .single = true},
    [PARAM_WEBHOOK_STATE] = {.name = "state",
                             .kind = QUERY_ENUM,
                             .max = WEBHOOK_STATE_MAX_,
                             .from_name = webhook_state_from_name,
                             .to_name = webhook_state_to_name},
    [PARAM_WAIT] = {.name = "wait", .kind = QUERY_CLAMPED, .max = 55},
    [PARAM_AFTER] = {.name = "after", .kind = QUERY_NUMBER, .max = INT64_MAX},
    [PARAM_LAST_EVENT_ID] = {.name = "lastEventId"},
    [PARAM_TYPE] = {.name = "type"},
    [PARAM_TTL_SECONDS] =
        {.name = "ttl_seconds", .kind = QUERY_NUMBER, .min = 600, .max = 86400, .fallback = 3600},
    [PARAM_MIN_REMAINING_SECONDS] = {.name = "min_remaining_seconds",
                                     .kind = QUERY_NUMBER,
                                     .max = 86400,
                                     .fallback = 300},
    [PARAM_FORMAT] = {.name = "format",
                      .kind = QUERY_ENUM,
                      .max = FORMAT_MAX_,
                      .from_name = format_from_name,
                      .to_name = format_to_name,
                      .single = true},
    [PARAM_VERBOSE] = {.name = "verbose", .kind = QUERY_FLAG},
    [PARAM_EXCLUDE] = {.name = "exclude"},
    [PARAM_HEADER_FILE] = {.name = "header_file"},
    [PARAM_API_VERSION] = {.name = "api_version",
                           .kind = QUERY_ENUM,
                           .max = API_VERSION_MAX_,
                           .from_name = api_version_from_name,
                           .to_name = api_version_to_name,
                           .single = true},
    [PARAM_DRY_RUN] = {.name = "dry_run", .kind = QUERY_BOOL},
    [PARAM_LABEL] = {.name = "label", .max = LABEL_FILTER_MAX_BYTES, .check = check_label, .repeats = true},
    [PARAM_EXPIRING_BEFORE] = {.name = "expiring_before", .kind = QUERY_TIME},
    [PARAM_SORT] = {.name = "sort", .check = check_sort},
    [PARAM_FIELDS] = {.name = "fields",
                      .kind = QUERY_ENUM,
                      .max = FIELDS_MAX_,
                      .from_name = fields_from_name,
                      .to_name = fields_to_name,
                      .single = true},
    [PARAM_ACTION] = {.name = "action", .check = check_action},
    [PARAM_TOKEN] = {.name = "token"},
    [PARAM_OUTCOME] = {.name = "outcome",
                       .kind = QUERY_ENUM,
                       .max = AUDIT_OUTCOME_MAX_,
                       .from_name = audit_outcome_from_name,
                       .to_name = audit_outcome_name},
    [PARAM_TICKET] = {.name = "ticket"},
    [PARAM_WEBHOOKS] = {.name = "webhooks",
                        .kind = QUERY_ENUM,
                        .max = WEBHOOKS_MAX_,
                        .from_name = webhooks_from_name,
                        .to_name = webhooks_to_name,
                        .single = true},
    [PARAM_OPERATION_TYPE] = {.name = "type",
                              .kind = QUERY_ENUM,
                              .max = OPERATION_TYPE_MAX_,
                              .from_name = operation_type_from_name,
                              .to_name = type_to_name},
    [PARAM_SCOPE] = {.name = "scope"},
    [PARAM_ACTOR] = {.name = "actor"},
    [PARAM_TARGET] = {.name = "target"},
    [PARAM_SEVERITY] = {.name = "severity",
                        .kind = QUERY_ENUM,
                        .max = ISSUE_SEVERITY_MAX_,
                        .from_name = issue_severity_from_name,
                        .to_name = issue_severity_name},
    [PARAM_AUDIT_FORMAT] = {.name = "format",
                            .kind = QUERY_ENUM,
                            .max = AUDIT_FORMAT_MAX_,
                            .from_name = audit_format_from_name,
                            .to_name = audit_format_to_name,
                            .single = true},
    [PARAM_SOURCE] = {.name = "source",
                      .kind = QUERY_ENUM,
                      .max = ISSUE_SOURCE_MAX_,
                      .from_name = issue_source_from_name,
                      .to_name = issue_source_name},
    [PARAM_CREATED_BEFORE] = {.name = "created_before", .kind = QUERY_PAST},
    [PARAM_CREATED_AFTER] = {.name = "created_after", .kind = QUERY_PAST},
    [PARAM_AGE] = {.name = "age", .kind = QUERY_PAST},
    [PARAM_SINCE] = {.name = "since", .kind = QUERY_PAST},
    [PARAM_UNTIL] = {.name = "until", .kind = QUERY_PAST},
    [PARAM_ORDER] = {.name = "order",
                     .kind = QUERY_ENUM,
                     .max = ORDER_MAX_,
                     .from_name = order_from_name,
                     .to_name = order_to_name,
                     .single = true},
};

_Static_assert((int)PARAM_MAX_ <= (int)QUERY_MAX_RULES && (int)QUERY_MAX_RULES <= 64,
               "a parameter is a bit of 64");

const char *param_name(enum param_id id)
{
    assert((unsigned)id < PARAM_MAX_);
    return rules[id].name;
}

struct problem *params_read(struct request *r)
{
    if (r->route->flags & ROUTE_ANY_QUERY)
        return NULL;
    return query_read(r->http.mhd, rules, PARAM_MAX_, r->route->params, env_wall(r->api->options.env),
                      &r->params);
}

int64_t param_number(const struct query_values *p, enum param_id id)
{
    assert(rules[id].kind == QUERY_NUMBER || rules[id].kind == QUERY_CLAMPED);
    return p->given[id] ? p->numbers[id] : rules[id].fallback;
}

bool param_lists(const struct query_values *p, enum param_id id, const char *text)
{
    if (!p->given[id])
        return true;
    size_t wanted = text ? strlen(text) : 0;
    for (const char *item = p->texts[id]; wanted; item++) {
        size_t len = strcspn(item, ",");
        if (len == wanted && !memcmp(item, text, len))
            return true;
        item += len;
        if (!*item)
            break;
    }
    return false;
}

static bool has_part(const char *text, const char *part, size_t len)
{
    while (*text && strncasecmp(text, part, len) != 0)
        text++;
    return *text;
}

bool param_lists_part(const struct query_values *p, enum param_id id, const char *text)
{
    if (!p->given[id])
        return true;
    const char *item = p->texts[id];
    for (size_t len = strcspn(item, ","); text; len = strcspn(item, ",")) {
        if (len && has_part(text, item, len))
            return true;
        if (!item[len])
            break;
        item += len + 1;
    }
    return false;
}

bool param_has_value(const struct query_values *p, enum param_id id, int value)
{
    assert(rules[id].kind == QUERY_ENUM && value >= 0 && value < rules[id].max);
    return !p->given[id] || (p->numbers[id] & INT64_C(1) << value);
}

bool param_asks_for(const struct query_values *p, enum param_id id, int value)
{
    return p->given[id] && param_has_value(p, id, value);
}

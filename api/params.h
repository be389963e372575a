/* Query parameters. One table has their names and kinds, and each route lists the parameters that it
 * accepts. */
#ifndef API_PARAMS_H
#define API_PARAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "http/message/target.h"

enum param_id {
    PARAM_LIMIT,
    PARAM_CLUSTER_LIMIT, /* `limit` of lists of clusters, with another default */
    PARAM_CURSOR,
    PARAM_PROJECT,
    PARAM_CLUSTER,
    PARAM_REGION,
    PARAM_PHASE,
    PARAM_HEALTH,
    PARAM_MANAGED,
    PARAM_KUBERNETES_VERSION,
    PARAM_Q,
    PARAM_STATUS,
    PARAM_DELIVERY_STATUS,
    PARAM_WEBHOOK_STATE,
    PARAM_WAIT,
    PARAM_AFTER,
    PARAM_LAST_EVENT_ID,
    PARAM_TYPE,
    PARAM_TTL_SECONDS,
    PARAM_MIN_REMAINING_SECONDS,
    PARAM_FORMAT,
    PARAM_HEADER_FILE,
    PARAM_API_VERSION,
    PARAM_VERBOSE,
    PARAM_EXCLUDE,
    PARAM_DRY_RUN,
    PARAM_LABEL,
    PARAM_EXPIRING_BEFORE,
    PARAM_SORT,
    PARAM_FIELDS,
    PARAM_ACTION,
    PARAM_TOKEN,
    PARAM_OUTCOME,
    PARAM_TICKET,
    PARAM_WEBHOOKS,
    PARAM_CREATED_BEFORE,
    PARAM_CREATED_AFTER,
    PARAM_AGE,
    PARAM_SINCE,
    PARAM_UNTIL,
    PARAM_ORDER,
    PARAM_OPERATION_TYPE,
    PARAM_SCOPE,
    PARAM_ACTOR,
    PARAM_TARGET,
    PARAM_SEVERITY,
    PARAM_SOURCE,
    PARAM_AUDIT_FORMAT,
    PARAM_MAX_,
};

/* Values of `format`. */
enum param_format { FORMAT_JSON, FORMAT_YAML, FORMAT_EXEC, FORMAT_MAX_ };

/* Values of PARAM_AUDIT_FORMAT. */
enum { AUDIT_FORMAT_JSON, AUDIT_FORMAT_LINES, AUDIT_FORMAT_MAX_ };

/* Values of `api_version`: the versions of client.authentication.k8s.io. */
enum param_api_version { API_VERSION_V1BETA1, API_VERSION_V1, API_VERSION_MAX_ };

#define PARAM_BIT(id) (UINT64_C(1) << (id))

/* Values of PARAM_FIELDS. */
enum { FIELDS_FULL, FIELDS_SUMMARY, FIELDS_MAX_ };
/* Values of PARAM_ORDER. */
enum { ORDER_ASC, ORDER_DESC, ORDER_MAX_ };
/* Values of PARAM_WEBHOOKS. */
enum { WEBHOOKS_KEEP, WEBHOOKS_DISABLE, WEBHOOKS_MAX_ };

struct problem;
struct request;

/* Decodes and checks the query of `r` against the parameters of its route. A route with ROUTE_ANY_QUERY has
 * no parameters, and accepts every query. */
struct problem *params_read(struct request *r);
const char *param_name(enum param_id id);
/* Returns the value of a number parameter, or its default when it is absent. */
int64_t param_number(const struct query_values *p, enum param_id id);
/* Whether `text` is one of the comma-separated values of a text parameter; true when the parameter is
 * absent. */
bool param_lists(const struct query_values *p, enum param_id id, const char *text);
/* Whether one of the comma-separated values of a text parameter is a part of `text`; the case of the letters
 * A to Z does not matter. True when the parameter is absent. */
bool param_lists_part(const struct query_values *p, enum param_id id, const char *text);
/* Whether an enum parameter contains this value; true when the parameter is absent. */
bool param_has_value(const struct query_values *p, enum param_id id, int value);

/* Does the same as param_has_value, but returns false when the parameter is absent. */
bool param_asks_for(const struct query_values *p, enum param_id id, int value);

#endif

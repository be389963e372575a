/*
 * Query parameters: one table of names and kinds; a route says which of them it knows. All faults are
 * reported at once (HT-4), unknown names included (HT-38).
 */
#ifndef API_PARAMS_H
#define API_PARAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/env.h"

enum param_id {
    PARAM_LIMIT,
    PARAM_CURSOR,
    PARAM_PROJECT,
    PARAM_CLUSTER,
    PARAM_REGION,
    PARAM_PHASE,
    PARAM_HEALTH,
    PARAM_MANAGED,
    PARAM_VERSION,
    PARAM_Q,
    PARAM_STATUS,
    PARAM_DELIVERY_STATUS,
    PARAM_WAIT,
    PARAM_AFTER,
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
    PARAM_MAX_,
};

/* Values of `format`. */
enum param_format { FORMAT_JSON, FORMAT_YAML, FORMAT_EXEC, FORMAT_MAX_ };

/* Values of `api_version`: the versions of client.authentication.k8s.io. */
enum param_api_version { API_VERSION_V1BETA1, API_VERSION_V1, API_VERSION_MAX_ };

#define PARAM_BIT(id) (1U << (id))

struct params {
    char *texts[PARAM_MAX_]; /* decoded; NULL: not given; repeated ones joined by commas */
    int64_t
        numbers[PARAM_MAX_]; /* numbers, booleans, times (wall_us); enums: the bits of what is asked for */
    bool given[PARAM_MAX_];
};

/* Values of PARAM_FIELDS. */
enum { FIELDS_FULL, FIELDS_SUMMARY, FIELDS_MAX_ };
/* Values of PARAM_WEBHOOKS. */
enum { WEBHOOKS_KEEP, WEBHOOKS_DISABLE, WEBHOOKS_MAX_ };

struct problem;
struct request;

/*
 * libmicrohttpd keeps a record of each parameter in the memory of the connection; when that is full, it goes
 * on with a request that it has answered already, and is silent. So queries that may fill it are refused
 * before it parses them: the problem, or NULL. The caller owns it.
 */
struct problem *params_refuse_target(const char *target);
/* Decodes and checks the query of `r` against what its route knows. */
struct problem *params_read(struct request *r);
void params_done(struct params *p);
const char *param_name(enum param_id id);
/* A moment as people write it: RFC 3339, a date (its beginning in UTC), or days from now ("30d"). */
bool params_time(const char *text, wall_us now, wall_us *ret);
/* A number with its default when absent. */
int64_t param_number(const struct params *p, enum param_id id);
/* Whether `text` is one of the comma-separated values of a text parameter; true when it was not given. */
bool param_lists(const struct params *p, enum param_id id, const char *text);
/* Whether an enum value was asked for; true when the parameter was not given. */
bool param_has_value(const struct params *p, enum param_id id, int value);

#endif

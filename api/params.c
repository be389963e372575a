#include "api/params.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api_private.h"
#include "api/resources/cluster_order.h"
#include "api/match.h"
#include "api/request.h"
#include "api/routes.h"
#include "base/attrs.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "model/label_filter.h"
#include "model/webhook.h"

enum kind {
    KIND_TEXT,
    KIND_NUMBER,  /* out of range: a fault */
    KIND_CLAMPED, /* above the maximum: the maximum */
    KIND_BOOL,    /* true, false; an empty value is true */
    KIND_ENUM,    /* one or more names, comma-separated; see `single` */
    KIND_FLAG,    /* any value */
    KIND_TIME,    /* a moment (params_time) */
};

struct rule {
    const char *name;
    enum kind kind;
    int64_t min, max, fallback;
    int (*from_name)(const char *name);
    const char *(*to_name)(int value);
    /* Texts: NULL, or what is wrong, static; may tell the valid values. */
    const char *(*check)(const char *text, json_t **ret_valid);
    bool repeats; /* may be given several times */
    bool single;  /* enums: one name only, where several have no meaning together */
};

static int index_of(const char *name, const char *const *names, int count)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(name, names[i]))
            return i;
    return -1;
}

static const char *const format_names[FORMAT_MAX_] = {
    [FORMAT_JSON] = "json", [FORMAT_YAML] = "yaml", [FORMAT_EXEC] = "exec"};

static int format_from_name(const char *name)
{
    return index_of(name, format_names, FORMAT_MAX_);
}

static const char *format_to_name(int value)
{
    return format_names[value];
}

/* As the `client.authentication.k8s.io/` API of Kubernetes names them. */
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

static const char *check_label(const char *text, json_t **ret_valid)
{
    (void)ret_valid;
    return label_filter_fault(text);
}

/* What the audit log tells beside operations of the API (reconcile/audit.c). */
static const char *const own_actions[] = {"daemon.started", "daemon.stopped", "audit.left_out"};

static bool is_action(const char *name, size_t len)
{
    for (size_t i = 0; i < ROUTE_COUNT; i++)
        if (strlen(routes[i].operation) == len && !memcmp(routes[i].operation, name, len))
            return true;
    for (size_t i = 0; i < ARRAY_LEN(own_actions); i++)
        if (strlen(own_actions[i]) == len && !memcmp(own_actions[i], name, len))
            return true;
    return false;
}

static const char *check_action(const char *text, json_t **ret_valid)
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
            (void)json_array_append_new(*ret_valid, json_string(routes[i].operation));
    for (size_t i = 0; i < ARRAY_LEN(own_actions); i++)
        (void)json_array_append_new(*ret_valid, json_string(own_actions[i]));
    return "must be operationIds of openapi.yaml, daemon.started, daemon.stopped or audit.left_out, with "
           "commas between";
}

static const char *check_sort(const char *text, json_t **ret_valid)
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

static const char *delivery_status_to_name(int value)
{
    return delivery_status_name((enum delivery_status)value);
}

/* For enums, `max` is the number of values; for texts the most bytes, 0: 512. */
static const struct rule rules[PARAM_MAX_] = {
    [PARAM_LIMIT] = {.name = "limit", .kind = KIND_CLAMPED, .min = 1, .max = 1000, .fallback = 50},
    [PARAM_CURSOR] = {.name = "cursor"},
    [PARAM_PROJECT] = {.name = "project"},
    [PARAM_CLUSTER] = {.name = "cluster"},
    [PARAM_REGION] = {.name = "region"},
    [PARAM_PHASE] = {.name = "phase",
                     .kind = KIND_ENUM,
                     .max = PHASE_MAX_,
                     .from_name = phase_from_name,
                     .to_name = phase_to_name},
    [PARAM_HEALTH] = {.name = "health",
                      .kind = KIND_ENUM,
                      .max = HEALTH_MAX_,
                      .from_name = health_from_name,
                      .to_name = health_to_name},
    [PARAM_MANAGED] = {.name = "managed", .kind = KIND_BOOL},
    [PARAM_VERSION] = {.name = "version"},
    [PARAM_Q] = {.name = "q"},
    [PARAM_STATUS] = {.name = "status",
                      .kind = KIND_ENUM,
                      .max = OPERATION_STATUS_MAX_,
                      .from_name = operation_status_from_name,
                      .to_name = status_to_name},
    [PARAM_DELIVERY_STATUS] = {.name = "status",
                               .kind = KIND_ENUM,
                               .max = DELIVERY_STATUS_MAX_,
                               .from_name = delivery_status_from_name,
                               .to_name = delivery_status_to_name,
                               .single = true},
    [PARAM_WAIT] = {.name = "wait", .kind = KIND_CLAMPED, .max = 55},
    [PARAM_AFTER] = {.name = "after", .kind = KIND_NUMBER, .max = INT64_MAX},
    [PARAM_TYPE] = {.name = "type"},
    [PARAM_TTL_SECONDS] =
        {.name = "ttl_seconds", .kind = KIND_NUMBER, .min = 600, .max = 86400, .fallback = 3600},
    [PARAM_MIN_REMAINING_SECONDS] = {.name = "min_remaining_seconds",
                                     .kind = KIND_NUMBER,
                                     .max = 86400,
                                     .fallback = 300},
    [PARAM_FORMAT] = {.name = "format",
                      .kind = KIND_ENUM,
                      .max = FORMAT_MAX_,
                      .from_name = format_from_name,
                      .to_name = format_to_name,
                      .single = true},
    [PARAM_VERBOSE] = {.name = "verbose", .kind = KIND_FLAG},
    [PARAM_EXCLUDE] = {.name = "exclude"},
    [PARAM_HEADER_FILE] = {.name = "header_file"},
    [PARAM_API_VERSION] = {.name = "api_version",
                           .kind = KIND_ENUM,
                           .max = API_VERSION_MAX_,
                           .from_name = api_version_from_name,
                           .to_name = api_version_to_name,
                           .single = true},
    [PARAM_DRY_RUN] = {.name = "dry_run", .kind = KIND_BOOL},
    [PARAM_LABEL] = {.name = "label", .max = LABEL_FILTER_MAX_BYTES, .check = check_label, .repeats = true},
    [PARAM_EXPIRING_BEFORE] = {.name = "expiring_before", .kind = KIND_TIME},
    [PARAM_SORT] = {.name = "sort", .check = check_sort},
    [PARAM_FIELDS] = {.name = "fields",
                      .kind = KIND_ENUM,
                      .max = FIELDS_MAX_,
                      .from_name = fields_from_name,
                      .to_name = fields_to_name,
                      .single = true},
    [PARAM_ACTION] = {.name = "action", .check = check_action},
    [PARAM_TOKEN] = {.name = "token"},
    [PARAM_OUTCOME] = {.name = "outcome",
                       .kind = KIND_ENUM,
                       .max = AUDIT_OUTCOME_MAX_,
                       .from_name = audit_outcome_from_name,
                       .to_name = audit_outcome_name},
    [PARAM_TICKET] = {.name = "ticket"},
    [PARAM_WEBHOOKS] = {.name = "webhooks",
                        .kind = KIND_ENUM,
                        .max = WEBHOOKS_MAX_,
                        .from_name = webhooks_from_name,
                        .to_name = webhooks_to_name,
                        .single = true},
};

enum { MAX_TEXT = 512, MAX_DAYS = 36500 };

struct reading {
    struct request *r;
    uint32_t known;
    struct problem *problem;
    unsigned count;
};

bool params_time(const char *text, wall_us now, wall_us *ret)
{
    size_t digits = strspn(text, "0123456789");
    if (digits && digits <= 5 && !strcmp(text + digits, "d")) {
        long days = strtol(text, NULL, 10);
        *ret = now + days * 24 * 3600 * US_PER_S;
        return days <= MAX_DAYS;
    }
    char *midnight CLEANUP_FREE =
        strlen(text) == strlen("2026-12-31") ? mem_printf("%sT00:00:00Z", text) : NULL;
    return time_parse_rfc3339(midnight ? midnight : text, ret);
}

const char *param_name(enum param_id id)
{
    return rules[id].name;
}

static void fault(struct reading *in, const char *name, const char *code, json_t *valid, const char *detail)
{
    problem_add_fault(&in->problem, PROBLEM_INVALID_PARAMETER, FAULT_AT_QUERY, name, code, valid, "%s",
                      detail);
}

static json_t *known_names(uint32_t known)
{
    json_t *names = json_array();
    for (int id = 0; id < PARAM_MAX_; id++)
        if (known & PARAM_BIT(id))
            (void)json_array_append_new(names, json_string(rules[id].name));
    return names;
}

static void read_number(struct reading *in, enum param_id id, const char *text)
{
    const struct rule *rule = &rules[id];
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    bool is_number = *text >= '0' && *text <= '9' && !*end; /* no sign, no white space */
    if (is_number && rule->kind == KIND_CLAMPED && (errno || number > rule->max)) {
        errno = 0;
        number = rule->max;
    }
    if (!is_number || errno || number < rule->min || number > rule->max) {
        char detail[96];
        (void)snprintf(detail, sizeof(detail), "has to be a whole number from %lld to %lld",
                       (long long)rule->min, (long long)rule->max);
        fault(in, rule->name, "out_of_range", NULL, detail);
        return;
    }
    in->r->params.numbers[id] = number;
}

static void read_bool(struct reading *in, enum param_id id, const char *text)
{
    bool yes = !*text || !strcmp(text, "true");
    if (!yes && strcmp(text, "false") != 0)
        fault(in, rules[id].name, "not_boolean", json_pack("[s,s]", "true", "false"),
              "has to be true or false");
    in->r->params.numbers[id] = yes;
}

static void read_enum(struct reading *in, enum param_id id, const char *text)
{
    const struct rule *rule = &rules[id];
    char *copy CLEANUP_FREE = mem_strdup(text);
    char *rest = copy;
    const char *between = rule->single ? "" : ",";
    for (char *word = strsep(&rest, between); word; word = strsep(&rest, between)) {
        int value = rule->from_name(word);
        if (value >= 0) {
            in->r->params.numbers[id] |= INT64_C(1) << value;
            continue;
        }
        json_t *valid = json_array();
        for (int i = 0; i < rule->max; i++)
            (void)json_array_append_new(valid, json_string(rule->to_name(i)));
        fault(in, rule->name, "unknown_value", valid, "is not one of the valid values");
    }
}

static void read_text(struct reading *in, enum param_id id, const char *text)
{
    const struct rule *rule = &rules[id];
    size_t most = rule->max ? (size_t)rule->max : MAX_TEXT;
    json_t *valid = NULL;
    if (!*text || strlen(text) > most) {
        char detail[64];
        (void)snprintf(detail, sizeof(detail), "has to be 1 to %zu bytes long", most);
        fault(in, rule->name, "bad_length", NULL, detail);
        return;
    }
    const char *wrong = rule->check ? rule->check(text, &valid) : NULL;
    if (wrong)
        fault(in, rule->name, "wrong_form", valid, wrong);
}

static void read_time(struct reading *in, enum param_id id, const char *text)
{
    if (!params_time(text, env_wall(in->r->api->options.env), &in->r->params.numbers[id]))
        fault(
            in, rules[id].name, "wrong_form", NULL,
            "has to be a time (2026-12-31T00:00:00Z, + as %2B), a date (2026-12-31), or days from now (30d)");
}

/* Another value of a parameter that may be repeated. */
static void join_value(struct reading *in, enum param_id id, const char *more)
{
    struct params *p = &in->r->params;
    char *joined = mem_printf("%s,%s", p->texts[id], more);
    free(p->texts[id]);
    p->texts[id] = joined;
    read_text(in, id, joined);
}

static void read_value(struct reading *in, enum param_id id, char *text)
{
    struct params *p = &in->r->params;
    if (p->given[id]) {
        if (rules[id].repeats)
            join_value(in, id, text);
        else
            fault(in, rules[id].name, "duplicate", NULL, "is given more than once");
        free(text);
        return;
    }
    p->given[id] = true;
    p->texts[id] = text;
    switch (rules[id].kind) {
    case KIND_TEXT:
        read_text(in, id, text);
        break;
    case KIND_NUMBER:
    case KIND_CLAMPED:
        read_number(in, id, text);
        break;
    case KIND_BOOL:
        read_bool(in, id, text);
        break;
    case KIND_ENUM:
        read_enum(in, id, text);
        break;
    case KIND_TIME:
        read_time(in, id, text);
        break;
    case KIND_FLAG:
        break;
    }
}

static int find_rule(uint32_t known, const char *name)
{
    for (int id = 0; id < PARAM_MAX_; id++)
        if (known & PARAM_BIT(id) && !strcmp(name, rules[id].name))
            return id;
    return -1;
}

enum { MAX_PARAMETERS = 50, PARAMETERS_IN_MEMORY = 128 };

static void too_many(struct problem **problem)
{
    problem_add_fault(problem, PROBLEM_INVALID_PARAMETER, FAULT_AT_QUERY, "query", "too_many", NULL,
                      "holds more than %d parameters", MAX_PARAMETERS);
}

struct problem *params_refuse_target(const char *target)
{
    struct problem *problem = NULL;
    const char *p = strchr(target, '?');
    int count = 0;
    for (; p && count <= PARAMETERS_IN_MEMORY; p = strchr(p + 1, '&'))
        count++;
    if (count > PARAMETERS_IN_MEMORY)
        too_many(&problem);
    return problem;
}

static enum MHD_Result read_argument(void *cls, enum MHD_ValueKind kind, const char *key, size_t key_len,
                                     const char *value, size_t value_len)
{
    struct reading *in = cls;
    (void)kind;
    if (++in->count > MAX_PARAMETERS) {
        too_many(&in->problem);
        return MHD_NO;
    }
    char *name CLEANUP_FREE = mem_strndup(key, key_len);
    char *text = value ? mem_strndup(value, value_len) : mem_calloc(1, 1);
    int id = -1;
    if (!percent_decode(name) || !percent_decode(text))
        fault(in, "query", "bad_escape", NULL, "holds a bad percent escape or is not UTF-8");
    else if ((id = find_rule(in->known, name)) < 0)
        fault(in, name, "unknown_parameter", known_names(in->known), "is not a parameter of this operation");
    if (id < 0)
        free(text);
    else
        read_value(in, (enum param_id)id, text);
    return MHD_YES;
}

struct problem *params_read(struct request *r)
{
    struct reading in = {.r = r, .known = r->route->params};
    (void)MHD_get_connection_values_n(r->mhd, MHD_GET_ARGUMENT_KIND, read_argument, &in);
    return in.problem;
}

void params_done(struct params *p)
{
    for (int id = 0; id < PARAM_MAX_; id++)
        free(p->texts[id]);
}

int64_t param_number(const struct params *p, enum param_id id)
{
    return p->given[id] ? p->numbers[id] : rules[id].fallback;
}

bool param_lists(const struct params *p, enum param_id id, const char *text)
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

bool param_has_value(const struct params *p, enum param_id id, int value)
{
    return !p->given[id] || (p->numbers[id] & INT64_C(1) << value);
}

#include "model/error_meanings.h"

#include <string.h>

#include "base/attrs.h"
#include "base/json.h"
#include "base/mem.h"

static const struct error_meaning meanings[] = {
    {"ERR_INFRA_UNAUTHENTICATED", true, false, BY_OPERATOR,
     "Cleura's credentials for this project are invalid: bootstrap the project again or contact Cleura."},
    {"ERR_INFRA_UNAUTHORIZED", true, false, BY_USER,
     "The project lacks a privilege at OpenStack: check the roles of the project."},
    {"ERR_INFRA_QUOTA_EXCEEDED", true, false, BY_USER,
     "Raise the OpenStack quota of the project or ask for fewer or smaller nodes."},
    {"ERR_INFRA_RATE_LIMITS_EXCEEDED", false, true, BY_CLEURA, "OpenStack limits the request rate."},
    {"ERR_INFRA_DEPENDENCIES", true, false, BY_USER,
     "Another OpenStack object is in the way (ports, networks, routers): remove it."},
    {"ERR_RETRYABLE_INFRA_DEPENDENCIES", false, true, BY_CLEURA, "A passing infrastructure fault."},
    {"ERR_INFRA_RESOURCES_DEPLETED", true, true, BY_USER,
     "The machine type is sold out: choose another one, or wait until it is there again."},
    {"ERR_CLEANUP_CLUSTER_RESOURCES", true, true, BY_USER,
     "Objects inside the cluster hang (finalizers, load balancers, volumes): remove them."},
    {"ERR_CONFIGURATION_PROBLEM", true, false, BY_USER,
     "Correct the cluster's configuration as the description says."},
    {"ERR_RETRYABLE_CONFIGURATION_PROBLEM", true, true, BY_USER,
     "Correct the cluster's configuration as the description says (for example a disruption budget)."},
    {"ERR_PROBLEMATIC_WEBHOOK", true, false, BY_USER,
     "An admission webhook inside the cluster blocks Gardener: fix or remove it."},
};

const struct error_meaning *model_error_meaning(const char *code)
{
    static const struct error_meaning unknown = {
        "", false, true, BY_USER, "Read the description; contact Cleura if the issue remains."};
    for (size_t i = 0; code && i < ARRAY_LEN(meanings); i++)
        if (!strcmp(meanings[i].code, code))
            return &meanings[i];
    return &unknown;
}

char *model_error_action(const struct error_meaning *meaning, bool is_over)
{
    static const char *const ends[2][2] = {{" Wait: Cleura tries again by itself.", " Retry."},
                                           {" Cleura then goes on by itself.", " Then retry."}};
    const bool is_known = *meaning->code;
    return mem_printf("%s%s", meaning->action, is_known ? ends[meaning->user_error][is_over] : "");
}

const char *model_error_actor(const struct error_meaning *meaning, bool is_over)
{
    const bool is_left_to_cleura = !strcmp(meaning->responsible, BY_CLEURA);
    return is_over && is_left_to_cleura ? BY_USER : meaning->responsible;
}

/* The entries of an error share its description, which may be long. */
static void append_error(json_t *errors, const char *code, json_t *description, bool is_over)
{
    char *action CLEANUP_FREE = model_error_action(model_error_meaning(code), is_over);
    const struct error_meaning *meaning = model_error_meaning(code);
    json_t *entry = json_object();
    json_set_str(entry, "code", code);
    (void)json_object_set(entry, "description", description);
    json_set_bool(entry, "user_error", meaning->user_error);
    json_set_bool(entry, "retryable", meaning->retryable);
    json_set_str(entry, "action", action);
    json_append_take(errors, entry);
}

void model_append_errors(json_t *errors, const json_t *last_error, bool is_over)
{
    json_t *description CLEANUP_JSON = json_string(json_str_or(last_error, "description", ""));
    json_t *codes = json_arr(last_error, "codes");
    if (!json_array_size(codes)) {
        append_error(errors, "UNKNOWN", description, is_over);
        return;
    }
    size_t i;
    json_t *code;
    json_array_foreach (codes, i, code)
        append_error(errors, json_is_string(code) ? json_string_value(code) : "UNKNOWN", description,
                     is_over);
}

/*
 * What both generations share: paths that differ in a word, lists that differ in their items, logins that
 * differ in their wrapping, and the kubeconfig calls, of which Cleura has three (cleura-api.md 9.1). Pure.
 */
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/mem.h"
#include "upstream/generation_private.h"

char *shoots_path(const char *generation, const struct config_account *account,
                  const struct upstream_call *call)
{
    char *cloud CLEANUP_FREE = url_segment(account->cloud);
    char *region CLEANUP_FREE = url_segment(call->region);
    char *project CLEANUP_FREE = url_segment(call->project_id);
    const char *word = strcmp(generation, "v1") ? "shoots" : "shoot";
    return mem_printf("/gardener/%s/%s/%s/%s/%s", generation, cloud, word, region, project);
}

char *shoot_path(const char *generation, const struct config_account *account,
                 const struct upstream_call *call, const char *rest)
{
    char *shoots CLEANUP_FREE = shoots_path(generation, account, call);
    char *name CLEANUP_FREE = url_segment(call->name);
    return mem_printf("%s/%s%s", shoots, name, rest);
}

bool decode_shoots(const json_t *doc, struct shoot *(*decode_one)(const json_t *doc),
                   struct upstream_result *result)
{
    if (!json_is_array(doc))
        return false;
    size_t i;
    json_t *item;
    result->shoots = mem_calloc(json_array_size(doc), sizeof(struct shoot *));
    json_array_foreach (doc, i, item) {
        struct shoot *shoot = decode_one(item);
        if (shoot)
            result->shoots[result->shoot_count++] = shoot;
        else
            result->shoots_garbled++;
    }
    return true;
}

json_t *decode_schedules(const json_t *schedules)
{
    json_t *ours = json_array();
    size_t i;
    json_t *item;
    json_array_foreach (schedules, i, item) {
        json_t *schedule = json_object();
        json_set_str(schedule, "start", json_str(item, "start"));
        json_set_str(schedule, "end", json_str(item, "end"));
        if (json_str(item, "location"))
            json_set_str(schedule, "location", json_str(item, "location"));
        (void)json_array_append_new(ours, schedule);
    }
    return ours;
}

enum login_result decode_login(const char *body, size_t len, char **ret_token)
{
    json_t *doc CLEANUP_JSON = json_parse_lenient(body, len, NULL);
    const char *result = json_str_or(doc, "result", "");
    *ret_token = mem_strdup(json_str(doc, "token"));
    if (*ret_token && !strcmp(result, "login_ok"))
        return LOGIN_RESULT_TOKEN;
    return strncmp(result, "twofactor", 9) ? LOGIN_RESULT_GARBLED : LOGIN_RESULT_TWO_FACTOR;
}

/* ---- kubeconfigs
 * ---------------------------------------------------------------------------------------------- */

static const struct {
    const char *generation, *rest, *before, *after;
} kubeconfig_calls[] = {
    {"v3", "/admin-kubeconfig",
     "{\"expiration_seconds\":", "}"}, /* the only one that tells the real expiry */
    {"v2", "/admin-kubeconfig", "{\"expiration_seconds\":", "}"},
    {"v1", "/adminkubeconfig",
     "{\"config\":{\"expirationSeconds\":", "}}"}, /* undocumented, works (quirk 5) */
};

int kubeconfig_variants(enum upstream_op op)
{
    return op == UPSTREAM_KUBECONFIG ? (int)ARRAY_LEN(kubeconfig_calls) : 1;
}

void build_kubeconfig(const struct config_account *account, const struct upstream_call *call,
                      struct request_draft *draft)
{
    /* v1 accounts begin with the call that is known to work there. */
    size_t first = account->api == API_V1 ? ARRAY_LEN(kubeconfig_calls) - 1 : 0;
    size_t i = (first + (size_t)call->variant) % ARRAY_LEN(kubeconfig_calls);
    draft->method = "POST";
    draft->path = shoot_path(kubeconfig_calls[i].generation, account, call, kubeconfig_calls[i].rest);
    draft->body =
        mem_printf("%s%d%s", kubeconfig_calls[i].before, call->ttl_seconds, kubeconfig_calls[i].after);
}

/* Told apart by the first byte, never by the content type: v3 a JSON object, v1 a JSON string, v2 plain YAML.
 */
bool decode_kubeconfig(const char *body, size_t len, struct upstream_result *result)
{
    if (len && (body[0] == '{' || body[0] == '"')) {
        json_t *doc CLEANUP_JSON = json_parse_lenient(body, len, NULL);
        result->kubeconfig =
            mem_strdup(json_is_string(doc) ? json_string_value(doc) : json_str(doc, "kubeconfig"));
        result->expires_at = decode_time(json_str(doc, "expires_at"));
    } else {
        result->kubeconfig = mem_strndup(body, len);
    }
    if (!result->kubeconfig || !kubeconfig_is_plausible(result->kubeconfig))
        return false;
    if (!result->expires_at)
        result->expires_at = kubeconfig_expiry(result->kubeconfig);
    return true;
}

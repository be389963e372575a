/* Generation 2 (cleura-api.md 3.1, 6.1), with the v3 kubeconfig call. Pure: says and understands, decides
 * nothing. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "upstream/generation_private.h"

enum { KUBECONFIG_V3, KUBECONFIG_V2, KUBECONFIG_VARIANTS };

static char *shoots_path(const struct config_account *account, const struct upstream_call *call)
{
    char *cloud CLEANUP_FREE = url_segment(account->cloud);
    char *region CLEANUP_FREE = url_segment(call->region);
    char *project CLEANUP_FREE = url_segment(call->project_id);
    return mem_printf("/gardener/v2/%s/shoots/%s/%s", cloud, region, project);
}

static char *shoot_path(const struct config_account *account, const struct upstream_call *call,
                        const char *rest)
{
    char *shoots CLEANUP_FREE = shoots_path(account, call);
    char *name CLEANUP_FREE = url_segment(call->name);
    return mem_printf("%s/%s%s", shoots, name, rest);
}

static void build_catalog(const struct config_account *a, const struct upstream_call *call,
                          struct request_draft *d)
{
    (void)call;
    char *cloud CLEANUP_FREE = url_segment(a->cloud);
    d->path = mem_printf("/gardener/v2/%s/cloud-profiles", cloud);
}

static void build_bootstrap(const struct config_account *a, const struct upstream_call *call,
                            struct request_draft *d)
{
    char *cloud CLEANUP_FREE = url_segment(a->cloud);
    char *region CLEANUP_FREE = url_segment(call->region);
    char *project CLEANUP_FREE = url_segment(call->project_id);
    d->method = "POST";
    d->path = mem_printf("/gardener/v2/%s/%s/%s/bootstrap", cloud, region, project);
}

static void build_list(const struct config_account *a, const struct upstream_call *call,
                       struct request_draft *d)
{
    d->path = shoots_path(a, call);
}

static void build_get(const struct config_account *a, const struct upstream_call *call,
                      struct request_draft *d)
{
    d->path = shoot_path(a, call, "");
}

static void build_create(const struct config_account *a, const struct upstream_call *call,
                         struct request_draft *d)
{
    json_t *body CLEANUP_JSON = encode_create_v2(call->body);
    d->method = "POST";
    d->path = shoots_path(a, call);
    d->body = json_text(body);
}

static void build_delete(const struct config_account *a, const struct upstream_call *call,
                         struct request_draft *d)
{
    d->method = "DELETE";
    d->path = shoot_path(a, call, "");
}

static void build_kubeconfig(const struct config_account *a, const struct upstream_call *call,
                             struct request_draft *d)
{
    d->method = "POST";
    d->path = shoot_path(a, call, "/admin-kubeconfig");
    if (call->variant == KUBECONFIG_V3)
        d->path[strlen("/gardener/v")] = '3';
    d->body = mem_printf("{\"expiration_seconds\":%d}", call->ttl_seconds);
}

static void build(const struct config_account *account, const struct upstream_call *call,
                  struct request_draft *draft)
{
    static void (*const builders[])(const struct config_account *, const struct upstream_call *,
                                    struct request_draft *) = {
        [UPSTREAM_CATALOG] = build_catalog,
        [UPSTREAM_BOOTSTRAP] = build_bootstrap,
        [UPSTREAM_LIST] = build_list,
        [UPSTREAM_GET] = build_get,
        [UPSTREAM_CREATE] = build_create,
        [UPSTREAM_DELETE] = build_delete,
        [UPSTREAM_KUBECONFIG] = build_kubeconfig,
    };
    *draft = (struct request_draft){.method = "GET"};
    builders[call->op](account, call, draft);
}

static bool decode_list(const json_t *doc, struct upstream_result *result)
{
    if (!json_is_array(doc))
        return false;
    size_t i;
    json_t *item;
    result->shoots = mem_calloc(json_array_size(doc), sizeof(struct shoot *));
    json_array_foreach (doc, i, item) {
        struct shoot *shoot = decode_shoot_v2(item);
        if (shoot)
            result->shoots[result->shoot_count++] = shoot;
        else
            result->shoots_garbled++;
    }
    return true;
}

/* Told apart by the first byte, never by the content type (cleura-api.md 9.1). */
static bool decode_kubeconfig(const char *body, size_t len, struct upstream_result *result)
{
    if (len && body[0] == '{') {
        json_t *doc CLEANUP_JSON = json_parse_lenient(body, len, NULL);
        result->kubeconfig = mem_strdup(json_str(doc, "kubeconfig"));
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

static bool decode(const struct upstream_call *call, const char *body, size_t len,
                   struct upstream_result *result)
{
    if (call->op == UPSTREAM_BOOTSTRAP || call->op == UPSTREAM_DELETE)
        return true; /* any 2xx, no body required (16.1 item 3) */
    if (call->op == UPSTREAM_KUBECONFIG)
        return decode_kubeconfig(body, len, result);
    json_t *doc CLEANUP_JSON = json_parse_lenient(body, len, NULL);
    if (call->op == UPSTREAM_LIST)
        return decode_list(doc, result);
    if (call->op == UPSTREAM_CATALOG)
        return (result->catalog = decode_catalog(doc, call->region, false)) != NULL;
    return (result->shoot = decode_shoot_v2(doc)) != NULL;
}

static void build_login(const struct config_account *account, struct request_draft *draft)
{
    json_t *body CLEANUP_JSON = json_object();
    json_set_str(body, "login", account->login);
    json_set_str(body, "password", account->password);
    *draft = (struct request_draft){"POST", mem_strdup("/auth/v2/tokens"), json_text(body)};
}

static enum login_result decode_login(const char *body, size_t len, char **ret_token)
{
    json_t *doc CLEANUP_JSON = json_parse_lenient(body, len, NULL);
    const char *result = json_str_or(doc, "result", "");
    *ret_token = mem_strdup(json_str(doc, "token"));
    if (*ret_token && !strcmp(result, "login_ok"))
        return LOGIN_RESULT_TOKEN;
    return strncmp(result, "twofactor", 9) ? LOGIN_RESULT_GARBLED : LOGIN_RESULT_TWO_FACTOR;
}

static int variants(enum upstream_op op)
{
    return op == UPSTREAM_KUBECONFIG ? KUBECONFIG_VARIANTS : 1;
}

const struct generation generation_v2 = {
    .name = "v2",
    .build = build,
    .decode = decode,
    .build_login = build_login,
    .decode_login = decode_login,
    .validate_path = "/auth/v2/tokens/validate",
    .variants = variants,
};

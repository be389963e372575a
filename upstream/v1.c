/* Generation 1 (cleura-api.md 3.3, 7): wrapped camelCase bodies, singular paths. Pure. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "upstream/generation_private.h"

static char *shoots_path(const struct config_account *account, const struct upstream_call *call)
{
    char *cloud CLEANUP_FREE = url_segment(account->cloud);
    char *region CLEANUP_FREE = url_segment(call->region);
    char *project CLEANUP_FREE = url_segment(call->project_id);
    return mem_printf("/gardener/v1/%s/shoot/%s/%s", cloud, region, project);
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
    d->path = mem_printf("/gardener/v1/%s/cloudprofile", cloud);
}

static void build_bootstrap(const struct config_account *a, const struct upstream_call *call,
                            struct request_draft *d)
{
    char *cloud CLEANUP_FREE = url_segment(a->cloud);
    char *region CLEANUP_FREE = url_segment(call->region);
    char *project CLEANUP_FREE = url_segment(call->project_id);
    d->method = "POST";
    d->path = mem_printf("/gardener/v1/%s/secret/%s/%s/bootstrap", cloud, region, project);
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
    json_t *body CLEANUP_JSON = encode_create_v1(call->body);
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

/* The undocumented path is the one that works (quirk 5). */
static void build_kubeconfig(const struct config_account *a, const struct upstream_call *call,
                             struct request_draft *d)
{
    d->method = "POST";
    d->path = shoot_path(a, call, "/adminkubeconfig");
    d->body = mem_printf("{\"config\":{\"expirationSeconds\":%d}}", call->ttl_seconds);
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
        struct shoot *shoot = decode_shoot_v1(item);
        if (shoot)
            result->shoots[result->shoot_count++] = shoot;
        else
            result->shoots_garbled++;
    }
    return true;
}

/* A JSON string literal whose content is the YAML (K3). */
static bool decode_kubeconfig(const json_t *doc, struct upstream_result *result)
{
    result->kubeconfig = mem_strdup(json_string_value(doc));
    if (!result->kubeconfig || !kubeconfig_is_plausible(result->kubeconfig))
        return false;
    result->expires_at = kubeconfig_expiry(result->kubeconfig);
    return true;
}

static bool decode(const struct upstream_call *call, const char *body, size_t len,
                   struct upstream_result *result)
{
    if (call->op == UPSTREAM_BOOTSTRAP || call->op == UPSTREAM_DELETE)
        return true;
    json_t *doc CLEANUP_JSON = json_parse_lenient(body, len, NULL);
    switch (call->op) {
    case UPSTREAM_LIST:
        return decode_list(doc, result);
    case UPSTREAM_CATALOG:
        return (result->catalog = decode_catalog(doc, call->region, true)) != NULL;
    case UPSTREAM_KUBECONFIG:
        return decode_kubeconfig(doc, result);
    case UPSTREAM_CREATE:
        /* The answer has a shape of its own and tells nothing that the next read does not. */
        return json_str(json_obj(doc, "shoot"), "name") != NULL;
    case UPSTREAM_GET:
    case UPSTREAM_BOOTSTRAP:
    case UPSTREAM_DELETE:
    case UPSTREAM_OP_MAX_:
        break;
    }
    return (result->shoot = decode_shoot_v1(doc)) != NULL;
}

static void build_login(const struct config_account *account, struct request_draft *draft)
{
    json_t *auth = json_object();
    json_set_str(auth, "login", account->login);
    json_set_str(auth, "password", account->password);
    json_t *body CLEANUP_JSON = json_object();
    json_set_take(body, "auth", auth);
    *draft = (struct request_draft){"POST", mem_strdup("/auth/v1/tokens"), json_text(body)};
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
    (void)op;
    return 1;
}

const struct generation generation_v1 = {
    .name = "v1",
    .build = build,
    .decode = decode,
    .build_login = build_login,
    .decode_login = decode_login,
    .validate_path = "/auth/v1/tokens/validate",
    .variants = variants,
};

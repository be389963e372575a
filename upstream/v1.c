/* Generation 1 (cleura-api.md 3.3, 7): wrapped camelCase bodies, singular paths. Pure. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "upstream/generation_private.h"

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
    d->path = shoots_path("v1", a, call);
}

static void build_get(const struct config_account *a, const struct upstream_call *call,
                      struct request_draft *d)
{
    d->path = shoot_path("v1", a, call, "");
}

static void build_create(const struct config_account *a, const struct upstream_call *call,
                         struct request_draft *d)
{
    json_t *body CLEANUP_JSON = encode_create_v1(call->body);
    d->method = "POST";
    d->path = shoots_path("v1", a, call);
    d->body = json_text(body);
}

static void build_delete(const struct config_account *a, const struct upstream_call *call,
                         struct request_draft *d)
{
    d->method = "DELETE";
    d->path = shoot_path("v1", a, call, "");
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

static bool decode(const struct upstream_call *call, const char *body, size_t len,
                   struct upstream_result *result)
{
    if (call->op == UPSTREAM_BOOTSTRAP || call->op == UPSTREAM_DELETE)
        return true;
    if (call->op == UPSTREAM_KUBECONFIG)
        return decode_kubeconfig(body, len, result);
    json_t *doc CLEANUP_JSON = json_parse_lenient(body, len, NULL);
    switch (call->op) {
    case UPSTREAM_LIST:
        return decode_shoots(doc, decode_shoot_v1, result);
    case UPSTREAM_CATALOG:
        return (result->catalog = decode_catalog(doc, call->region, true)) != NULL;
    case UPSTREAM_CREATE:
        /* The answer has a shape of its own and tells nothing that the next read does not. */
        return json_str(json_obj(doc, "shoot"), "name") != NULL;
    case UPSTREAM_GET:
    case UPSTREAM_BOOTSTRAP:
    case UPSTREAM_DELETE:
    case UPSTREAM_KUBECONFIG:
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

const struct generation generation_v1 = {
    .name = "v1",
    .build = build,
    .decode = decode,
    .build_login = build_login,
    .decode_login = decode_login,
    .validate_path = "/auth/v1/tokens/validate",
    .variants = kubeconfig_variants,
};

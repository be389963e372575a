/* Generation 1 (cleura-api.md 3.3, 7): wrapped camelCase bodies, singular paths. Pure. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "upstream/generation_private.h"

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
    .endpoints =
        {
            [UPSTREAM_CATALOG] = {"GET", "/gardener/v1/{cloud}/cloudprofile", NULL},
            [UPSTREAM_BOOTSTRAP] = {"POST", "/gardener/v1/{cloud}/secret/{region}/{project}/bootstrap", NULL},
            [UPSTREAM_LIST] = {"GET", "/gardener/v1/{cloud}/shoot/{region}/{project}", NULL},
            [UPSTREAM_GET] = {"GET", "/gardener/v1/{cloud}/shoot/{region}/{project}/{name}", NULL},
            [UPSTREAM_CREATE] = {"POST", "/gardener/v1/{cloud}/shoot/{region}/{project}", encode_create_v1},
            [UPSTREAM_DELETE] = {"DELETE", "/gardener/v1/{cloud}/shoot/{region}/{project}/{name}", NULL},
        },
    .decode = decode,
    .build_login = build_login,
    .decode_login = decode_login,
    .validate_path = "/auth/v1/tokens/validate",
    .variants = kubeconfig_variants,
};

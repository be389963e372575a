/* Generation 2 (cleura-api.md 3.1, 6.1), with the v3 kubeconfig call. Pure: says and understands, decides
 * nothing. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "upstream/generation_private.h"

static bool decode(const struct upstream_call *call, const char *body, size_t len,
                   struct upstream_result *result)
{
    if (call->op == UPSTREAM_BOOTSTRAP || call->op == UPSTREAM_DELETE)
        return true; /* any 2xx, no body required (16.1 item 3) */
    if (call->op == UPSTREAM_KUBECONFIG)
        return decode_kubeconfig(body, len, result);
    json_t *doc CLEANUP_JSON = json_parse_lenient(body, len, NULL);
    if (call->op == UPSTREAM_LIST)
        return decode_shoots(doc, decode_shoot_v2, result);
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

const struct generation generation_v2 = {
    .name = "v2",
    .endpoints =
        {
            [UPSTREAM_CATALOG] = {"GET", "/gardener/v2/{cloud}/cloud-profiles", NULL},
            [UPSTREAM_BOOTSTRAP] = {"POST", "/gardener/v2/{cloud}/{region}/{project}/bootstrap", NULL},
            [UPSTREAM_LIST] = {"GET", "/gardener/v2/{cloud}/shoots/{region}/{project}", NULL},
            [UPSTREAM_GET] = {"GET", "/gardener/v2/{cloud}/shoots/{region}/{project}/{name}", NULL},
            [UPSTREAM_CREATE] = {"POST", "/gardener/v2/{cloud}/shoots/{region}/{project}", encode_create_v2},
            [UPSTREAM_DELETE] = {"DELETE", "/gardener/v2/{cloud}/shoots/{region}/{project}/{name}", NULL},
        },
    .decode = decode,
    .build_login = build_login,
    .decode_login = decode_login,
    .validate_path = "/auth/v2/tokens/validate",
    .variants = kubeconfig_variants,
};

/* Generation 1 (cleura-api.md 3.3, 7): wrapped camelCase bodies, singular paths. Pure. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "upstream/generation_private.h"

static bool decode_list(const struct upstream_call *call, const char *body, size_t len,
                        struct upstream_result *result)
{
    (void)call;
    json_t *doc CLEANUP_JSON = json_parse_lenient(body, len, NULL);
    return decode_shoots(doc, decode_shoot_v1, result);
}

static bool decode_profiles(const struct upstream_call *call, const char *body, size_t len,
                            struct upstream_result *result)
{
    json_t *doc CLEANUP_JSON = json_parse_lenient(body, len, NULL);
    return (result->catalog = decode_catalog(doc, call->region, true)) != NULL;
}

static bool decode_one(const struct upstream_call *call, const char *body, size_t len,
                       struct upstream_result *result)
{
    (void)call;
    json_t *doc CLEANUP_JSON = json_parse_lenient(body, len, NULL);
    return (result->shoot = decode_shoot_v1(doc)) != NULL;
}

/* The answer has a shape of its own and tells nothing that the next read does not. */
static bool decode_created(const struct upstream_call *call, const char *body, size_t len,
                           struct upstream_result *result)
{
    (void)call;
    (void)result;
    json_t *doc CLEANUP_JSON = json_parse_lenient(body, len, NULL);
    return json_str(json_obj(doc, "shoot"), "name") != NULL;
}

static bool decode(const struct upstream_call *call, const char *body, size_t len,
                   struct upstream_result *result)
{
    return decode_by_table(&generation_v1, call, body, len, result);
}

#define V1    "/gardener/v1/{cloud}"
#define SHOOT V1 "/shoot/{region}/{project}/{name}"

const struct generation generation_v1 = {
    .name = "v1",
    .endpoints =
        {
            [UPSTREAM_CATALOG] = {"GET", V1 "/cloudprofile", NULL, decode_profiles},
            [UPSTREAM_BOOTSTRAP] = {"POST", V1 "/secret/{region}/{project}/bootstrap", NULL, NULL},
            [UPSTREAM_LIST] = {"GET", V1 "/shoot/{region}/{project}", NULL, decode_list},
            [UPSTREAM_GET] = {"GET", SHOOT, NULL, decode_one},
            [UPSTREAM_CREATE] = {"POST", V1 "/shoot/{region}/{project}", encode_create_v1, decode_created},
            [UPSTREAM_DELETE] = {"DELETE", SHOOT, NULL, NULL},
            [UPSTREAM_PATCH] = {"PUT", SHOOT, encode_patch_v1, decode_one},
            [UPSTREAM_POOL_CREATE] = {"POST", SHOOT "/worker", encode_pool_v1, decode_one},
            [UPSTREAM_POOL_UPDATE] = {"PUT", SHOOT "/worker/{item}", encode_pool_v1, decode_one},
            [UPSTREAM_POOL_DELETE] = {"DELETE", SHOOT "/worker/{item}", NULL, NULL},
            [UPSTREAM_HIBERNATE] = {"POST", SHOOT "/hibernate", NULL, NULL},
            [UPSTREAM_WAKE] = {"POST", SHOOT "/wakeup", NULL, NULL},
            [UPSTREAM_ENABLE_HA] = {"POST", SHOOT "/enable-ha-control-plane", NULL, NULL},
            [UPSTREAM_MONITORING] = {"GET", SHOOT "/monitoring", NULL, decode_monitoring},
        },
    .decode = decode,
    .auth =
        {
            [AUTH_STEP_PASSWORD] = {"/auth/v1/tokens", "auth"},
            [AUTH_STEP_ASK_CODE] = {"/auth/v1/tokens/request2facode", "request2fa"},
            [AUTH_STEP_CHECK_CODE] = {"/auth/v1/tokens/verify2fa", "verify2fa"},
        },
    .method_member = "twofa_method",
    .names_method = true,
    .validate_path = "/auth/v1/tokens/validate",
    .variants = kubeconfig_variants,
};

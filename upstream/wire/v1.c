/* Generation 1 (CL-6, CL-14): wrapped camelCase bodies, singular paths. Pure. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "upstream/wire/generation_private.h"

static bool decode_profiles_v1(struct decoding *d, const struct answer_about *about, json_t *doc,
                               struct upstream_result *result)
{
    return (result->catalog = decode_catalog(d, doc, about->region, true)) != NULL;
}

static bool decode_one_v1(struct decoding *d, const struct answer_about *about, json_t *doc,
                          struct upstream_result *result)
{
    (void)about;
    result->shoot = decode_shoot_v1(d, doc);
    result->not_believed = d->fault;
    return result->shoot != NULL;
}

/* The answer to a create has a different form than a read. Its uid is not used: the first read after the
 * create shows the uid. */
static bool decode_created(struct decoding *d, const struct answer_about *about, json_t *doc,
                           struct upstream_result *result)
{
    (void)d;
    (void)about;
    (void)result;
    return json_str(json_obj(doc, "shoot"), "name") != NULL;
}

#define V1    "/gardener/v1/{cloud}"
#define SHOOT V1 "/shoot/{region}/{project}/{name}"

const struct generation generation_v1 = {
    .name = "v1",
    .endpoints =
        {
            [UPSTREAM_CATALOG] = {"GET", V1 "/cloudprofile", NULL, decode_profiles_v1},
            [UPSTREAM_BOOTSTRAP] = {"POST", V1 "/secret/{region}/{project}/bootstrap", NULL, NULL},
            [UPSTREAM_LIST] = {"GET", V1 "/shoot/{region}/{project}", NULL, NULL},
            [UPSTREAM_GET] = {"GET", SHOOT, NULL, decode_one_v1},
            [UPSTREAM_CREATE] = {"POST", V1 "/shoot/{region}/{project}", encode_create_v1, decode_created},
            [UPSTREAM_DELETE] = {"DELETE", SHOOT, NULL, NULL},
            [UPSTREAM_PATCH] = {"PUT", SHOOT, encode_patch_v1, decode_one_v1},
            [UPSTREAM_POOL_CREATE] = {"POST", SHOOT "/worker", encode_pool_v1, decode_one_v1},
            [UPSTREAM_POOL_UPDATE] = {"PUT", SHOOT "/worker/{item}", encode_pool_v1, decode_one_v1},
            [UPSTREAM_POOL_DELETE] = {"DELETE", SHOOT "/worker/{item}", NULL, NULL},
            [UPSTREAM_HIBERNATE] = {"POST", SHOOT "/hibernate", NULL, NULL},
            [UPSTREAM_WAKE] = {"POST", SHOOT "/wakeup", NULL, NULL},
            [UPSTREAM_ENABLE_HA] = {"POST", SHOOT "/enable-ha-control-plane", NULL, NULL},
            [UPSTREAM_MONITORING] = {"GET", SHOOT "/monitoring", NULL, decode_monitoring},
        },
    .decode_shoot = decode_shoot_v1,
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

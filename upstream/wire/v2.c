/* Generation 2 (CL-5, CL-9), with the v3 kubeconfig call. Pure: encodes calls and decodes answers. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "upstream/wire/generation_private.h"

static bool decode_profiles_v2(struct decoding *d, const struct answer_about *about, json_t *doc,
                               struct upstream_result *result)
{
    return (result->catalog = decode_catalog(d, doc, about->region, false)) != NULL;
}

static bool decode_one_v2(struct decoding *d, const struct answer_about *about, json_t *doc,
                          struct upstream_result *result)
{
    (void)about;
    result->shoot = decode_shoot_v2(d, doc);
    result->not_believed = d->fault;
    return result->shoot != NULL;
}

static json_t *encode_stage(const struct upstream_call *call)
{
    json_t *body = json_object();
    json_set_str(body, "stage", call->item);
    return body;
}

#define V2       "/gardener/v2/{cloud}"
#define SHOOTS   V2 "/shoots/{region}/{project}"
#define SHOOT    SHOOTS "/{name}"
#define IDENTITY "/openstack/identity"

const struct generation generation_v2 =
    {
        .name = "v2",
        .endpoints =
            {
                [UPSTREAM_CATALOG] = {"GET", V2 "/cloud-profiles", NULL, decode_profiles_v2},
                [UPSTREAM_BOOTSTRAP] = {"POST", V2 "/{region}/{project}/bootstrap", NULL, NULL},
                [UPSTREAM_LIST] = {"GET", SHOOTS, NULL, NULL},
                [UPSTREAM_GET] = {"GET", SHOOT, NULL, decode_one_v2},
                [UPSTREAM_CREATE] = {"POST", SHOOTS, encode_create_v2, decode_one_v2},
                [UPSTREAM_DELETE] = {"DELETE", SHOOT, NULL, NULL},
                [UPSTREAM_PATCH] = {"PATCH", SHOOT, encode_patch_v2, decode_one_v2},
                [UPSTREAM_POOL_CREATE] = {"POST", SHOOT "/workers", encode_pool_v2, decode_one_v2},
                [UPSTREAM_POOL_UPDATE] = {"PUT", SHOOT "/workers/{item}", encode_pool_v2, decode_one_v2},
                [UPSTREAM_POOL_DELETE] = {"DELETE", SHOOT "/workers/{item}", NULL, NULL},
                [UPSTREAM_HIBERNATE] = {"PATCH", SHOOT "/hibernate", NULL, NULL},
                [UPSTREAM_WAKE] = {"PATCH", SHOOT "/wakeup", NULL, NULL},
                [UPSTREAM_RECONCILE] = {"PATCH", SHOOT "/reconcile", NULL, NULL},
                [UPSTREAM_RETRY] = {"PATCH", SHOOT "/retry", NULL, NULL},
                [UPSTREAM_MAINTAIN] = {"PATCH", SHOOT "/maintenance", NULL, NULL},
                [UPSTREAM_ENABLE_HA] = {"PATCH", SHOOT "/ha-control-plane/enable", NULL, NULL},
                [UPSTREAM_ROTATE_CA] = {"PATCH", SHOOT "/ca/rotate", encode_stage, NULL},
                [UPSTREAM_CA_STAGE] = {"GET", SHOOT "/ca/rotation-stage", NULL, decode_ca_stage},
                [UPSTREAM_MONITORING] = {"GET", SHOOT "/monitoring", NULL, decode_monitoring},
                [UPSTREAM_NODES] = {"GET", SHOOT "/monitoring/workers/{item}/nodes/overview", NULL,
                                    decode_nodes},
                [UPSTREAM_SSH_KEY] = {"GET", SHOOT "/ssh_pk", NULL, NULL},
                [UPSTREAM_UPGRADE_CHECK] = {"GET", SHOOT "/upgrade/check?target_version={item}", NULL,
                                            decode_upgrade_check},
                [UPSTREAM_OWN_PROJECTS] = {"GET", IDENTITY "/v1/current-user/projects", NULL,
                                           decode_own_projects},
                [UPSTREAM_QUOTA] = {"GET", IDENTITY "/v2/domains/{item}/projects/{project}/quotas/{region}",
                                    NULL, decode_quota},
                [UPSTREAM_NAME_TAKEN] = {"GET", V2 "/shoots/{name}/is-name-taken", NULL, decode_name_taken},
            },
        .decode_shoot = decode_shoot_v2,
        .auth =
            {
                [AUTH_STEP_PASSWORD] = {"/auth/v2/tokens", NULL},
                [AUTH_STEP_ASK_CODE] = {"/auth/v2/request-sms-code", NULL},
                [AUTH_STEP_CHECK_CODE] = {"/auth/v2/tokens-by-sms-code", NULL},
            },
        .method_member = "two_factor_method",
        .validate_path = "/auth/v2/tokens/validate",
        .variants = kubeconfig_variants,
};

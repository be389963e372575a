/* The driver of generation 2 of Cleura's API (CL-5, CL-9). Pure. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "upstream/wire/driver_private.h"

static void build_auth_v2(const struct config_account *account, enum auth_step step,
                          const struct auth_words *words, struct request_draft *draft)
{
    static const struct auth_form forms[AUTH_STEP_MAX_] = {
        [AUTH_STEP_PASSWORD] = {"/auth/v2/tokens", NULL, "two_factor_method"},
        [AUTH_STEP_ASK_CODE] = {"/auth/v2/request-sms-code"},
        [AUTH_STEP_CHECK_CODE] = {"/auth/v2/tokens-by-sms-code"},
        [AUTH_STEP_VALIDATE] = {"/auth/v2/tokens/validate"},
    };
    build_auth_form(forms, account, step, words, draft);
}

static bool decode_profiles_v2(struct decoding *d, const struct answer_about *about, json_t *doc,
                               struct upstream_result *result)
{
    const json_t *profile = json_array_get(doc, 0);
    return (result->catalog = decode_catalog(d, profile, profile, about->region)) != NULL;
}

static bool decode_one_v2(struct decoding *d, const struct answer_about *about ATTR_UNUSED, json_t *doc,
                          struct upstream_result *result)
{
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

static const char *row_name_v2(const json_t *row)
{
    return json_str(row, "name");
}

#define GARDENER "/gardener/v2/{cloud}"
#define SHOOTS   GARDENER "/shoots/{region}/{project}"
#define SHOOT    SHOOTS "/{name}"
#define IDENTITY "/openstack/identity"

static const struct upstream_endpoint calls_v2[UPSTREAM_OP_MAX_] = {
    [UPSTREAM_CATALOG] = {"GET", GARDENER "/cloud-profiles", .decode = decode_profiles_v2},
    [UPSTREAM_BOOTSTRAP] = {"POST", GARDENER "/{region}/{project}/bootstrap"},
    [UPSTREAM_LIST] = {"GET", SHOOTS},
    [UPSTREAM_GET] = {"GET", SHOOT, .decode = decode_one_v2},
    [UPSTREAM_CREATE] = {"POST", SHOOTS, .encode = encode_create_v2, .decode = decode_one_v2},
    [UPSTREAM_DELETE] = {"DELETE", SHOOT},
    [UPSTREAM_PATCH] = {"PATCH", SHOOT, .encode = encode_patch_v2, .decode = decode_one_v2},
    [UPSTREAM_POOL_CREATE] = {"POST", SHOOT "/workers", .encode = encode_pool_v2, .decode = decode_one_v2},
    [UPSTREAM_POOL_UPDATE] = {"PUT", SHOOT "/workers/{item}", .encode = encode_pool_v2,
                              .decode = decode_one_v2},
    [UPSTREAM_POOL_DELETE] = {"DELETE", SHOOT "/workers/{item}"},
    [UPSTREAM_HIBERNATE] = {"PATCH", SHOOT "/hibernate"},
    [UPSTREAM_WAKE] = {"PATCH", SHOOT "/wakeup"},
    [UPSTREAM_RECONCILE] = {"PATCH", SHOOT "/reconcile"},
    [UPSTREAM_RETRY] = {"PATCH", SHOOT "/retry"},
    [UPSTREAM_MAINTAIN] = {"PATCH", SHOOT "/maintenance"},
    [UPSTREAM_ENABLE_HA] = {"PATCH", SHOOT "/ha-control-plane/enable"},
    [UPSTREAM_ROTATE_CA] = {"PATCH", SHOOT "/ca/rotate", .encode = encode_stage},
    [UPSTREAM_CA_STAGE] = {"GET", SHOOT "/ca/rotation-stage", .decode = decode_ca_stage},
    [UPSTREAM_MONITORING] = {"GET", SHOOT "/monitoring", .decode = decode_monitoring},
    [UPSTREAM_NODES] = {"GET", SHOOT "/monitoring/workers/{item}/nodes/overview", .decode = decode_nodes},
    [UPSTREAM_SSH_KEY] = {"GET", SHOOT "/ssh_pk", .decode_body = decode_ssh_key},
    [UPSTREAM_UPGRADE_CHECK] = {"GET", SHOOT "/upgrade/check?target_version={item}",
                                .decode = decode_upgrade_check},
    [UPSTREAM_OWN_PROJECTS] = {"GET", IDENTITY "/v1/current-user/projects", .decode = decode_own_projects},
    [UPSTREAM_QUOTA] = {"GET", IDENTITY "/v2/domains/{item}/projects/{project}/quotas/{region}",
                        .decode = decode_quota},
    [UPSTREAM_NAME_TAKEN] = {"GET", GARDENER "/shoots/{name}/is-name-taken", .decode = decode_name_taken},
};

const struct upstream_driver driver_v2 = {
    .abilities = {.api = "v2",
                  .pool_name_max = 15,
                  .default_pool_name = "default",
                  .sets_allowed_cidrs = true,
                  .sets_network_type = true,
                  .sets_load_balancer = true,
                  .sets_cilium = true},
    .build_auth = build_auth_v2,
    .decode_auth = decode_login,
    .calls = calls_v2,
    .kubeconfig = {&kubeconfig_v3, &kubeconfig_v2, &kubeconfig_v1},
    .decode_shoot = decode_shoot_v2,
    .row_name = row_name_v2,
    .classify = classify_answer,
};

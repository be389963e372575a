/* The driver of generation 1 of Cleura's API (CL-6, CL-14). Its bodies are camelCase inside wrapper objects,
 * and its paths have singular words. Pure. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "upstream/wire/driver_private.h"

static void build_auth_v1(const struct config_account *account, enum auth_step step,
                          const struct auth_words *words, struct request_draft *draft)
{
    static const struct auth_form forms[AUTH_STEP_MAX_] = {
        [AUTH_STEP_PASSWORD] = {"/auth/v1/tokens", "auth", "twofa_method"},
        [AUTH_STEP_ASK_CODE] = {"/auth/v1/tokens/request2facode", "request2fa"},
        [AUTH_STEP_CHECK_CODE] = {"/auth/v1/tokens/verify2fa", "verify2fa"},
        [AUTH_STEP_VALIDATE] = {"/auth/v1/tokens/validate"},
    };
    build_auth_form(forms, account, step, words, draft);
}

static bool decode_profiles_v1(struct decoding *d, const struct answer_about *about, json_t *doc,
                               struct upstream_result *result)
{
    const json_t *profile = json_array_get(doc, 0);
    return (result->catalog = decode_catalog(d, profile, json_obj(profile, "spec"), about->region)) != NULL;
}

static bool decode_one_v1(struct decoding *d, const struct answer_about *about ATTR_UNUSED, json_t *doc,
                          struct upstream_result *result)
{
    result->shoot = decode_shoot_v1(d, doc);
    result->not_believed = d->fault;
    return result->shoot != NULL;
}

/* The answer to a create has a different form than the answer to a read. Only the uid in it is used:
 * it shows later which shoot of this name is the created one. */
static bool decode_created_v1(struct decoding *d, const struct answer_about *about ATTR_UNUSED, json_t *doc,
                              struct upstream_result *result)
{
    const json_t *shoot = json_obj(doc, "shoot");
    const char *uid = decode_word(d, shoot, "uid");
    if (!uid || uuid_parse(uid, result->created_uid) != 0)
        uuid_clear(result->created_uid);
    return json_str(shoot, "name") != NULL;
}

static const char *row_name_v1(const json_t *row)
{
    return json_str(json_obj(row, "metadata"), "name");
}

#define GARDENER "/gardener/v1/{cloud}"
#define SHOOTS   GARDENER "/shoot/{region}/{project}"
#define SHOOT    SHOOTS "/{name}"

static const struct upstream_endpoint calls_v1[UPSTREAM_OP_MAX_] = {
    [UPSTREAM_CATALOG] = {"GET", GARDENER "/cloudprofile", .decode = decode_profiles_v1},
    [UPSTREAM_BOOTSTRAP] = {"POST", GARDENER "/secret/{region}/{project}/bootstrap"},
    [UPSTREAM_LIST] = {"GET", SHOOTS},
    [UPSTREAM_GET] = {"GET", SHOOT, .decode = decode_one_v1},
    [UPSTREAM_CREATE] = {"POST", SHOOTS, .encode = encode_create_v1, .decode = decode_created_v1},
    [UPSTREAM_DELETE] = {"DELETE", SHOOT},
    [UPSTREAM_PATCH] = {"PUT", SHOOT, .encode = encode_patch_v1, .decode = decode_one_v1},
    [UPSTREAM_POOL_CREATE] = {"POST", SHOOT "/worker", .encode = encode_pool_v1, .decode = decode_one_v1},
    [UPSTREAM_POOL_UPDATE] = {"PUT", SHOOT "/worker/{item}", .encode = encode_pool_v1,
                              .decode = decode_one_v1},
    [UPSTREAM_POOL_DELETE] = {"DELETE", SHOOT "/worker/{item}"},
    [UPSTREAM_HIBERNATE] = {"POST", SHOOT "/hibernate"},
    [UPSTREAM_WAKE] = {"POST", SHOOT "/wakeup"},
    [UPSTREAM_ENABLE_HA] = {"POST", SHOOT "/enable-ha-control-plane"},
    [UPSTREAM_MONITORING] = {"GET", SHOOT "/monitoring", .decode = decode_monitoring},
};

const struct upstream_driver driver_v1 = {
    .abilities = {.api = "v1", .pool_name_max = 6, .default_pool_name = "pool1"},
    .build_auth = build_auth_v1,
    .decode_auth = decode_login,
    .names_method = true,
    .calls = calls_v1,
    .kubeconfig = {&kubeconfig_v1, &kubeconfig_v3, &kubeconfig_v2},
    .decode_shoot = decode_shoot_v1,
    .row_name = row_name_v1,
    .classify = classify_answer,
};

/* Generation 2 (CL-5, CL-9), with the v3 kubeconfig call. Pure: encodes calls and decodes answers. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "upstream/wire/generation_private.h"

bool decode_profiles_v2(struct decoding *d, const struct answer_about *about, json_t *doc,
                        struct upstream_result *result)
{
    return (result->catalog = decode_catalog(d, doc, about->region, false)) != NULL;
}

bool decode_one_v2(struct decoding *d, const struct answer_about *about, json_t *doc,
                   struct upstream_result *result)
{
    (void)about;
    result->shoot = decode_shoot_v2(d, doc);
    result->not_believed = d->fault;
    return result->shoot != NULL;
}

json_t *encode_stage(const struct upstream_call *call)
{
    json_t *body = json_object();
    json_set_str(body, "stage", call->item);
    return body;
}

const struct generation generation_v2 = {
    .name = "v2",
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

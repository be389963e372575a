/* Generation 1 (CL-6, CL-14). Its bodies are camelCase inside wrapper objects, and its paths have singular
 * words. Pure. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "upstream/wire/generation_private.h"

bool decode_profiles_v1(struct decoding *d, const struct answer_about *about, json_t *doc,
                        struct upstream_result *result)
{
    return (result->catalog = decode_catalog(d, doc, about->region, true)) != NULL;
}

bool decode_one_v1(struct decoding *d, const struct answer_about *about, json_t *doc,
                   struct upstream_result *result)
{
    (void)about;
    result->shoot = decode_shoot_v1(d, doc);
    result->not_believed = d->fault;
    return result->shoot != NULL;
}

/* The answer to a create has a different form than the answer to a read. Only the uid in it is used:
 * it shows later which shoot of this name is the created one. */
bool decode_created(struct decoding *d, const struct answer_about *about, json_t *doc,
                    struct upstream_result *result)
{
    const json_t *shoot = json_obj(doc, "shoot");
    const char *uid = decode_word(d, shoot, "uid");
    (void)about;
    if (!uid || uuid_parse(uid, result->created_uid) != 0)
        uuid_clear(result->created_uid);
    return json_str(shoot, "name") != NULL;
}

const struct generation generation_v1 = {
    .name = "v1",
    .is_first = true,
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

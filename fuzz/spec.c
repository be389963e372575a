/*
 * Specifications: the check of a body, the possible changes of an existing cluster, the result of a create,
 * and the plan of a change. The input is one JSON document {v1, catalog, shoot, defaults, known, body}:
 * catalog and shoot in Cleura's form, body in a caller's.
 */
#include "fuzz/fuzz.h"

#include <string.h>

#include "base/mem.h"
#include "model/spec.h"
#include "upstream/wire/driver_private.h"

/* Each step has a body to send, and the plan is empty when there is no difference. */
static void check_plan(const json_t *spec, const json_t *observed, const struct spec_context *context)
{
    json_t *differences CLEANUP_JSON = json_array();
    json_t *plan CLEANUP_JSON = spec_plan(spec, observed, context);
    size_t count = spec_differences(spec, observed, SPEC_UNKNOWN_DIFFERS, differences), i;
    FUZZ_CHECK(count == json_array_size(differences));
    FUZZ_CHECK(count || !json_array_size(plan));
    json_t *step;
    json_array_foreach (plan, i, step) {
        const char *target = json_str(step, "target");
        int type = step_type_from_name(json_str(step, "type"));
        const json_t *want = json_object_get(step, "want");
        FUZZ_CHECK(type >= 0 && target);
        (void)spec_step_is_met((enum step_type)type, target, want, observed, SPEC_UNKNOWN_DIFFERS);
        json_decref(spec_step_body((enum step_type)type, target, want, observed, context));
    }
    fuzz_check_stored(plan);
}

/* A create sends a complete spec, and a cluster with all of its values has no difference from it. */
static void check_create(const json_t *spec, const struct spec_context *context)
{
    json_t *resolved CLEANUP_JSON = spec_resolve("dev", spec, context);
    json_t *quota CLEANUP_JSON = spec_quota(json_arr(resolved, "node_pools"), context);
    json_t *differences CLEANUP_JSON = json_array();
    fuzz_check_stored(resolved);
    fuzz_check_stored(quota);
    FUZZ_CHECK(!spec_differences(spec, resolved, SPEC_UNKNOWN_DIFFERS, differences));
    check_plan(spec, resolved, context);
}

static void check_change(const json_t *spec, const struct spec_context *context)
{
    struct problem *faults CLEANUP_PROBLEM = NULL;
    spec_check_change(spec, context->observed, context, &faults);
    json_t *pools CLEANUP_JSON = spec_pools_after(spec, context->observed, context);
    json_t *quota CLEANUP_JSON = spec_quota(pools, context);
    fuzz_check_stored(quota);
    if (!faults)
        check_plan(spec, context->observed, context);
}

static void check_body(const json_t *body, struct spec_context *context)
{
    struct problem *faults CLEANUP_PROBLEM = NULL;
    const json_t *spec = json_obj(body, "spec");
    spec_check_body(body, context->observed ? SPEC_PUT : SPEC_CREATE, context, &faults);
    if (faults) {
        json_t *problem CLEANUP_JSON = problem_to_json(faults, "req_1");
        fuzz_check_stored(problem);
        return;
    }
    if (context->observed && spec)
        check_change(spec, context);
    else if (context->catalog)
        check_create(spec, context);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct json_fault fault;
    json_t *doc CLEANUP_JSON = len ? json_parse_strict((const char *)bytes, len, &fault) : NULL;
    const struct upstream_driver *driver = json_bool(doc, "v1", false) ? &driver_v1 : &driver_v2;
    struct spec_context context = {.now = FUZZ_NOW, .name = "dev", .abilities = &driver->abilities};
    struct decoding d = {.now = FUZZ_NOW};
    const struct answer_about about = {.op = UPSTREAM_CATALOG, .region = (char[]){"Sto2"}, .now = FUZZ_NOW};
    struct upstream_result offers = {0};
    (void)driver->calls[UPSTREAM_CATALOG].decode(&d, &about, json_arr(doc, "catalog"), &offers);
    struct shoot *shoot = json_obj(doc, "shoot") ? driver->decode_shoot(&d, json_obj(doc, "shoot")) : NULL;
    context.catalog = offers.catalog;
    context.defaults = json_obj(doc, "defaults");
    context.known = json_obj(doc, "known");
    context.observed = shoot_observed(shoot);
    if (json_obj(doc, "body"))
        check_body(json_obj(doc, "body"), &context);
    shoot_free(shoot);
    upstream_result_done(&offers);
    return 0;
}

/* The calls to Cleura. Each has a row with its name, the limits of its answer, and its form in each
 * generation of the API (CL-5, CL-6, CL-9, CL-14). Pure. */
#include <assert.h>

#include "upstream/wire/generation_private.h"

#define KIB ((size_t)1024)
#define MIB (1024 * KIB)

/* The largest spec (model/spec_limits.h) has about 12,000 values in an answer, where labels are pairs. */
#define SHOOT_LIMITS          \
    {                         \
        2 * MIB, 20000, 20000 \
    }

enum {
    LIST_ROWS = 20000,     /* the limit of shoots of a project; a whole installation has some thousands */
    LIST_VALUES = 6000000, /* enough for 10,000 shoots */
};

/* {cloud}, {region}, {project}, {name} and {item} are replaced by the call's values. */
#define V2        "/gardener/v2/{cloud}"
#define SHOOTS_V2 V2 "/shoots/{region}/{project}"
#define SHOOT_V2  SHOOTS_V2 "/{name}"
#define IDENTITY  "/openstack/identity"
#define V1        "/gardener/v1/{cloud}"
#define SHOOT_V1  V1 "/shoot/{region}/{project}/{name}"

static const struct {
    const char *name;
    bool is_write; /* a call with a lost answer may have had an effect */
    struct json_limits limits;
    struct endpoint v2, v1; /* an endpoint without a method: the generation has no such call */
} calls[UPSTREAM_OP_MAX_] = {
    [UPSTREAM_CATALOG] = {.name = "catalog",
                          .limits = {8 * MIB, 100000, 10000},
                          .v2 = {"GET", V2 "/cloud-profiles", .decode = decode_profiles_v2},
                          .v1 = {"GET", V1 "/cloudprofile", .decode = decode_profiles_v1}},
    [UPSTREAM_BOOTSTRAP] = {.name = "bootstrap",
                            .is_write = true,
                            .limits = {64 * KIB, 1000, 1000},
                            .v2 = {"POST", V2 "/{region}/{project}/bootstrap"},
                            .v1 = {"POST", V1 "/secret/{region}/{project}/bootstrap"}},
    [UPSTREAM_LIST] = {.name = "list",
                       .limits = {64 * MIB, LIST_VALUES, LIST_ROWS},
                       .v2 = {"GET", SHOOTS_V2},
                       .v1 = {"GET", V1 "/shoot/{region}/{project}"}},
    [UPSTREAM_GET] = {.name = "get",
                      .limits = SHOOT_LIMITS,
                      .v2 = {"GET", SHOOT_V2, .decode = decode_one_v2},
                      .v1 = {"GET", SHOOT_V1, .decode = decode_one_v1}},
    [UPSTREAM_CREATE] = {.name = "create",
                         .is_write = true,
                         .limits = SHOOT_LIMITS,
                         .v2 = {"POST", SHOOTS_V2, .encode = encode_create_v2, .decode = decode_one_v2},
                         .v1 = {"POST", V1 "/shoot/{region}/{project}", .encode = encode_create_v1,
                                .decode = decode_created}},
    [UPSTREAM_DELETE] = {.name = "delete",
                         .is_write = true,
                         .limits = SHOOT_LIMITS,
                         .v2 = {"DELETE", SHOOT_V2},
                         .v1 = {"DELETE", SHOOT_V1}},
    /* The call makes a certificate, but it may be repeated without harm, so it is not marked as a write. The
     * call has several endpoints (shared.c). */
    [UPSTREAM_KUBECONFIG] = {.name = "kubeconfig", .limits = {256 * KIB, 1000, 1000}},
    [UPSTREAM_PATCH] = {.name = "patch",
                        .is_write = true,
                        .limits = SHOOT_LIMITS,
                        .v2 = {"PATCH", SHOOT_V2, .encode = encode_patch_v2, .decode = decode_one_v2},
                        .v1 = {"PUT", SHOOT_V1, .encode = encode_patch_v1, .decode = decode_one_v1}},
    [UPSTREAM_POOL_CREATE] = {.name = "pool_create",
                              .is_write = true,
                              .limits = SHOOT_LIMITS,
                              .v2 = {"POST", SHOOT_V2 "/workers", .encode = encode_pool_v2,
                                     .decode = decode_one_v2},
                              .v1 = {"POST", SHOOT_V1 "/worker", .encode = encode_pool_v1,
                                     .decode = decode_one_v1}},
    [UPSTREAM_POOL_UPDATE] = {.name = "pool_update",
                              .is_write = true,
                              .limits = SHOOT_LIMITS,
                              .v2 = {"PUT", SHOOT_V2 "/workers/{item}", .encode = encode_pool_v2,
                                     .decode = decode_one_v2},
                              .v1 = {"PUT", SHOOT_V1 "/worker/{item}", .encode = encode_pool_v1,
                                     .decode = decode_one_v1}},
    [UPSTREAM_POOL_DELETE] = {.name = "pool_delete",
                              .is_write = true,
                              .limits = SHOOT_LIMITS,
                              .v2 = {"DELETE", SHOOT_V2 "/workers/{item}"},
                              .v1 = {"DELETE", SHOOT_V1 "/worker/{item}"}},
    [UPSTREAM_HIBERNATE] = {.name = "hibernate",
                            .is_write = true,
                            .limits = SHOOT_LIMITS,
                            .v2 = {"PATCH", SHOOT_V2 "/hibernate"},
                            .v1 = {"POST", SHOOT_V1 "/hibernate"}},
    [UPSTREAM_WAKE] = {.name = "wake",
                       .is_write = true,
                       .limits = SHOOT_LIMITS,
                       .v2 = {"PATCH", SHOOT_V2 "/wakeup"},
                       .v1 = {"POST", SHOOT_V1 "/wakeup"}},
    [UPSTREAM_RECONCILE] = {.name = "reconcile",
                            .is_write = true,
                            .limits = SHOOT_LIMITS,
                            .v2 = {"PATCH", SHOOT_V2 "/reconcile"}},
    [UPSTREAM_RETRY] = {.name = "retry",
                        .is_write = true,
                        .limits = SHOOT_LIMITS,
                        .v2 = {"PATCH", SHOOT_V2 "/retry"}},
    [UPSTREAM_MAINTAIN] = {.name = "maintain",
                           .is_write = true,
                           .limits = SHOOT_LIMITS,
                           .v2 = {"PATCH", SHOOT_V2 "/maintenance"}},
    [UPSTREAM_ENABLE_HA] = {.name = "enable_ha",
                            .is_write = true,
                            .limits = SHOOT_LIMITS,
                            .v2 = {"PATCH", SHOOT_V2 "/ha-control-plane/enable"},
                            .v1 = {"POST", SHOOT_V1 "/enable-ha-control-plane"}},
    [UPSTREAM_ROTATE_CA] = {.name = "rotate_ca",
                            .is_write = true,
                            .limits = SHOOT_LIMITS,
                            .v2 = {"PATCH", SHOOT_V2 "/ca/rotate", .encode = encode_stage}},
    [UPSTREAM_CA_STAGE] = {.name = "ca_stage",
                           .limits = {64 * KIB, 1000, 1000},
                           .v2 = {"GET", SHOOT_V2 "/ca/rotation-stage", .decode = decode_ca_stage}},
    [UPSTREAM_MONITORING] = {.name = "monitoring",
                             .limits = {64 * KIB, 1000, 1000},
                             .v2 = {"GET", SHOOT_V2 "/monitoring", .decode = decode_monitoring},
                             .v1 = {"GET", SHOOT_V1 "/monitoring", .decode = decode_monitoring}},
    [UPSTREAM_NODES] = {.name = "nodes",
                        .limits = {4 * MIB, 50000, 5000},
                        .v2 = {"GET", SHOOT_V2 "/monitoring/workers/{item}/nodes/overview",
                               .decode = decode_nodes}},
    [UPSTREAM_SSH_KEY] = {.name = "ssh_key", .limits = {64 * KIB, 1, 1}, .v2 = {"GET", SHOOT_V2 "/ssh_pk"}},
    [UPSTREAM_UPGRADE_CHECK] = {.name = "upgrade_check",
                                .limits = {256 * KIB, 5000, 5000},
                                .v2 = {"GET", SHOOT_V2 "/upgrade/check?target_version={item}",
                                       .decode = decode_upgrade_check}},
    [UPSTREAM_OWN_PROJECTS] = {.name = "own_projects",
                               .limits = {4 * MIB, 50000, 10000},
                               .v2 = {"GET", IDENTITY "/v1/current-user/projects",
                                      .decode = decode_own_projects}},
    [UPSTREAM_QUOTA] = {.name = "quota",
                        .limits = {256 * KIB, 5000, 1000},
                        .v2 = {"GET", IDENTITY "/v2/domains/{item}/projects/{project}/quotas/{region}",
                               .decode = decode_quota}},
    [UPSTREAM_NAME_TAKEN] = {.name = "name_taken",
                             .limits = {64 * KIB, 1000, 1000},
                             .v2 = {"GET", V2 "/shoots/{name}/is-name-taken", .decode = decode_name_taken}},
};

const char *upstream_op_name(enum upstream_op op)
{
    assert(op < UPSTREAM_OP_MAX_ && calls[op].name);
    return calls[op].name;
}

bool upstream_op_is_write(enum upstream_op op)
{
    assert(op < UPSTREAM_OP_MAX_);
    return calls[op].is_write;
}

const struct json_limits *call_limits(enum upstream_op op)
{
    assert(op < UPSTREAM_OP_MAX_ && calls[op].limits.bytes);
    return &calls[op].limits;
}

const struct endpoint *call_endpoint(const struct generation *generation, enum upstream_op op)
{
    assert(op < UPSTREAM_OP_MAX_);
    return generation->is_first ? &calls[op].v1 : &calls[op].v2;
}

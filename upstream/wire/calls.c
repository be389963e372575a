/* What is true of a call in each API: its name, whether it is a write, the limits of its answer. The request
 * and the meaning of the answer are rows of the drivers (v1.c, v2.c). Pure. */
#include <assert.h>

#include "upstream/wire/driver_private.h"

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

static const struct {
    const char *name;
    bool is_write; /* a call with a lost answer may have had an effect */
    struct json_limits limits;
} calls[UPSTREAM_OP_MAX_] = {
    [UPSTREAM_CATALOG] = {"catalog", false, {8 * MIB, 100000, 10000}},
    [UPSTREAM_BOOTSTRAP] = {"bootstrap", true, {64 * KIB, 1000, 1000}},
    [UPSTREAM_LIST] = {"list", false, {64 * MIB, LIST_VALUES, LIST_ROWS}},
    [UPSTREAM_GET] = {"get", false, SHOOT_LIMITS},
    [UPSTREAM_CREATE] = {"create", true, SHOOT_LIMITS},
    [UPSTREAM_DELETE] = {"delete", true, SHOOT_LIMITS},
    /* The call makes a certificate, but it may be repeated without harm, so it is not marked as a write. */
    [UPSTREAM_KUBECONFIG] = {"kubeconfig", false, {256 * KIB, 1000, 1000}},
    [UPSTREAM_PATCH] = {"patch", true, SHOOT_LIMITS},
    [UPSTREAM_POOL_CREATE] = {"pool_create", true, SHOOT_LIMITS},
    [UPSTREAM_POOL_UPDATE] = {"pool_update", true, SHOOT_LIMITS},
    [UPSTREAM_POOL_DELETE] = {"pool_delete", true, SHOOT_LIMITS},
    [UPSTREAM_HIBERNATE] = {"hibernate", true, SHOOT_LIMITS},
    [UPSTREAM_WAKE] = {"wake", true, SHOOT_LIMITS},
    [UPSTREAM_RECONCILE] = {"reconcile", true, SHOOT_LIMITS},
    [UPSTREAM_RETRY] = {"retry", true, SHOOT_LIMITS},
    [UPSTREAM_MAINTAIN] = {"maintain", true, SHOOT_LIMITS},
    [UPSTREAM_ENABLE_HA] = {"enable_ha", true, SHOOT_LIMITS},
    [UPSTREAM_ROTATE_CA] = {"rotate_ca", true, SHOOT_LIMITS},
    [UPSTREAM_CA_STAGE] = {"ca_stage", false, {64 * KIB, 1000, 1000}},
    [UPSTREAM_MONITORING] = {"monitoring", false, {64 * KIB, 1000, 1000}},
    [UPSTREAM_NODES] = {"nodes", false, {4 * MIB, 50000, 5000}},
    [UPSTREAM_SSH_KEY] = {"ssh_key", false, {64 * KIB, 1, 1}},
    [UPSTREAM_UPGRADE_CHECK] = {"upgrade_check", false, {256 * KIB, 5000, 5000}},
    [UPSTREAM_OWN_PROJECTS] = {"own_projects", false, {4 * MIB, 50000, 10000}},
    [UPSTREAM_QUOTA] = {"quota", false, {256 * KIB, 5000, 1000}},
    [UPSTREAM_NAME_TAKEN] = {"name_taken", false, {64 * KIB, 1000, 1000}},
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

const struct upstream_endpoint *call_endpoint(const struct upstream_driver *driver, enum upstream_op op,
                                              int variant)
{
    assert(op < UPSTREAM_OP_MAX_ && variant >= 0);
    if (op == UPSTREAM_KUBECONFIG)
        return variant < KUBECONFIG_ENDPOINTS ? driver->kubeconfig[variant] : NULL;
    return variant == 0 && driver->calls[op].method ? &driver->calls[op] : NULL;
}

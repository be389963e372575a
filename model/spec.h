/*
 * The cluster specification: its members, their valid values, and the defaults of a create. There is one
 * table of members. All faults are reported at once, with the valid values. Pure; any thread.
 */
#ifndef MODEL_SPEC_H
#define MODEL_SPEC_H

#include "base/attrs.h"
#include "base/env.h"
#include "base/json.h"
#include "model/names.h"
#include "model/problem.h"
#include "model/spec_hint.h"
#include "model/upstream_abilities.h"

struct spec_context {
    const json_t *catalog;  /* the catalog of the project; NULL: checks that need it are left out */
    const json_t *defaults; /* the defaults of the project: {machine_type, minimum, ...}, or NULL */
    const struct upstream_abilities *abilities; /* what the account's API can do; for checks and defaults */
    wall_us now;            /* the present time: expired versions are not offered; 0: expiry is ignored */
    const json_t *observed; /* the existing state, whose values are accepted even when they are no longer
                             * offered; or NULL */
    const json_t *known;    /* the stored body, whose parts may stay although they exceed today's limits; or
                             * NULL */
    const char *name;       /* for a PUT or PATCH, the name of the cluster; the body may contain this name */
};

enum spec_use { SPEC_CREATE, SPEC_PUT };

/*
 * Checks a create or PUT body: {name, labels, description, deletion_protection, spec}. A PUT may contain the
 * name in context->name, because some tools send the same document with POST and PUT. If context->name is
 * NULL, no name is allowed. Faults are added to *faults, which the first fault creates.
 */
void spec_check_body(const json_t *body, enum spec_use use, const struct spec_context *context,
                     struct problem **faults);
/*
 * Checks for changes that an existing cluster does not allow (GA-8, GA-13; CL-22). `spec` has passed
 * spec_check_body with the same `observed`. Members that are absent in `spec` or in `observed` are not
 * compared. The detail of each fault names the solution. The problem is PROBLEM_IMMUTABLE_FIELD when all
 * faults are "immutable", else PROBLEM_VALIDATION_FAILED.
 */
void spec_check_change(const json_t *spec, const json_t *observed, const struct spec_context *context,
                       struct problem **faults);
/*
 * Whether a change of a pool replaces its nodes one by one (GA-13). Members that are absent in `wanted_pool`
 * do not change. When `wanted_pool` is NULL, nothing changes; when `observed_pool` is NULL, there are no
 * nodes yet. NULL versions are not compared. *ret_reason is a static text, or NULL when no node is replaced.
 */
bool spec_change_rolls_nodes(const json_t *wanted_pool, const json_t *observed_pool,
                             const char *wanted_version, const char *observed_version,
                             const char **ret_reason);
/* Whether a cluster may have this name (GA-7, and Cleura's limit of 15 characters). */
bool spec_name_is_valid(const char *name);

/* Checks a label key by the rules of Kubernetes (GA-9). Returns the fault as static text, or NULL. */
const char *spec_label_key_fault(const char *key);
bool spec_label_value_is_valid(const char *text, size_t len);

/* Returns the complete spec that a create sends, including `name`. Called only when spec_check_body has found
 * no faults. */
json_t *spec_resolve(const char *name, const json_t *spec, const struct spec_context *context);
/* Returns the values that spec_resolve uses for absent members: `defaults` of the catalog in the API. */
json_t *spec_defaults(const struct spec_context *context);

/* Returns the pool with a value for each member, for a create or an update. The caller owns it. */
json_t *spec_resolve_pool(const json_t *pool, const struct spec_context *context);
/* Returns the version that "1.33" means at present, borrowed from the catalog; NULL when none is offered. */
const char *spec_resolve_version(const char *wanted, const struct spec_context *context);

/* How a null member of `observed` is treated. A member is null when Cleura does not report its value, or
 * reports it in an unreadable form. */
enum spec_unknown {
    SPEC_UNKNOWN_DIFFERS, /* the value counts as different, so the wanted value is sent */
    SPEC_UNKNOWN_AGREES,  /* the value counts as equal to the wanted value */
};
/*
 * Compares the wanted state with the observed state. Members absent in `spec` are not compared; "1.33" equals
 * "1.33.7"; zones, taints, schedules and allowed networks have no order. Appends {path, wanted, found} to
 * `differences`; returns the number of differences.
 */
size_t spec_differences(const json_t *spec, const json_t *observed, enum spec_unknown unknown,
                        json_t *differences);
/* Compares one pool member by member, except its name. Returns whether there is no difference. */
bool spec_pool_is_met(const json_t *wanted, const json_t *observed, enum spec_unknown unknown);
/*
 * Returns `observed` with its unreadable (null) members filled in. A null becomes the value that `spec` and
 * `before` both have; `before` is the spec that was last requested from Cleura. Therefore a plan that starts
 * from the result does not request these values again. Pools that cannot be seen are added with the values
 * that both specs have. A pool without a name is added when more pools may exist. NULL when `observed` is
 * NULL; `before` may be NULL. The caller owns the result.
 */
json_t *spec_presumed(const json_t *observed, const json_t *before, const json_t *spec);
/* True when every existing pool is known by name; false when the list cannot be read. */
bool spec_pools_are_known(const json_t *observed_pools);

/*
 * Returns the steps from `observed` to `spec`, in the order of sending: an array of {type, target, want,
 * rolls_nodes, reason}. `type` is patch_cluster, update_pool, create_pool or delete_pool; `target` is the
 * pool, or "". `want` contains the members to change. For create_pool it is the complete pool. For
 * update_pool it is the wanted pool; an image that the pool has already is left out unless the caller names
 * its version. `reason` says why nodes are replaced, or is null. The array is empty when there is no
 * difference. While not all pools are known by name, no pool is created. Instead of a create, a change is
 * planned for a pool that cannot be seen; Cleura's answer shows whether this pool exists.
 */
json_t *spec_plan(const json_t *spec, const json_t *observed, const struct spec_context *context);
/* Whether `observed` shows the effect of a step of spec_plan. */
bool spec_step_is_met(enum step_type type, const char *target, const json_t *want, const json_t *observed,
                      enum spec_unknown unknown);
/*
 * Returns the body that a step has to send now, in shootd's format. For the cluster it has the members that
 * still differ, with resolved versions. For a pool it is the complete pool, in which wanted values replace
 * observed values.
 */
json_t *spec_step_body(enum step_type type, const char *target, const json_t *want, const json_t *observed,
                       const struct spec_context *context);

/*
 * Returns how much of the project's quota these pools use at most: {nodes, cores, memory_gib, volume_gib}. It
 * is computed from the `maximum` and the `max_surge` of each pool; the pools must have all members. Cores and
 * memory are null when the catalog lacks a machine type.
 */
json_t *spec_quota(const json_t *pools, const struct spec_context *context);
/* The sum of spec_quota for many clusters. It begins with SPEC_QUOTA_NONE. */
struct spec_quota_sum {
    int64_t nodes, cores, memory_mib, volume_gib;
    bool types_known; /* the catalog contains all machine types */
};
#define SPEC_QUOTA_NONE ((struct spec_quota_sum){.types_known = true})
void spec_quota_add(struct spec_quota_sum *sum, const json_t *pools, const struct spec_context *context);
json_t *spec_quota_of(const struct spec_quota_sum *sum);
/*
 * Adds {pointer, code, detail} for each valid setting that is probably a mistake. `observed` is the existing
 * state, NULL for a create. `pools` are complete, in the order of the spec's pools if the spec has pools.
 */
void spec_warnings(const json_t *spec, const json_t *observed, const json_t *pools, json_t *warnings);
/* Returns spec_quota for each pool alone, in an array that the caller owns. */
json_t *spec_quota_shares(const json_t *pools, const struct spec_context *context);
/*
 * Adds a warning for each resource of which there is too little. `use` is the sum of spec_quota for all
 * clusters of the project; `limits` are the project's limits, NULL when they are not known. The warning
 * points to the pool that takes most of it: `given` are the pools of the request, or NULL, and `shares` what
 * each of them takes.
 */
void spec_warn_of_quota(json_t *warnings, const json_t *use, const json_t *limits, const json_t *given,
                        const json_t *shares);
/* Adds one warning. */
void spec_warn(json_t *warnings, const char *pointer, const char *code, const char *format, ...)
    ATTR_PRINTF(4, 5);
/* Returns the complete pools that the cluster has after `spec` was applied. */
json_t *spec_pools_after(const json_t *spec, const json_t *observed, const struct spec_context *context);

/*
 * Return the versions to which a cluster can be upgraded: newer entries of the catalog that a write accepts,
 * in the catalog's order. For Kubernetes these are versions of the same and the next minor version, for an
 * observed pool they are versions of its image. The caller owns the array.
 */
json_t *spec_version_offers(const char *present, const struct spec_context *context);
json_t *spec_image_offers(const json_t *pool, const struct spec_context *context);

/* Whether a version entry of the catalog is expired at `now`. */
bool version_is_expired(const json_t *entry, wall_us now);
/* Whether a caller may request this exact version; preview and deprecated versions are allowed. */
bool version_is_offered(const json_t *entry, wall_us now);
/* Whether `wanted` is `version` or the beginning of it: "1.33" contains "1.33.7". */
bool version_is_within(const char *wanted, const char *version);
/*
 * Returns `wanted` itself when it is listed, otherwise the newest supported version within `wanted`. When
 * `wanted` is NULL, returns the newest supported version of all entries. Releases come before pre-releases.
 * NULL: there is none. The catalog owns the text.
 */
const char *version_newest(const json_t *versions, const char *wanted, wall_us now);
enum { VERSION_LINE_BYTES = 32 };
/* Writes the major and minor number of a version ("1.33" for "1.33.7"), and the next minor version
 * ("1.34"). */
void version_minor(const char *version, char line[static VERSION_LINE_BYTES]);
void version_next_minor(const char *version, char line[static VERSION_LINE_BYTES]);
/* Compares dotted version numbers; the result is negative, 0 or positive. A pre-release ("1.34.0-rc.1") is
 * older than its release. */
int version_compare(const char *left, const char *right);

#endif

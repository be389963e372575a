/*
 * The cluster specification: which members exist, what each may be, what a create uses for those
 * left out. One table of members; every fault is reported at once, with the valid values. Pure;
 * any thread.
 */
#ifndef MODEL_SPEC_H
#define MODEL_SPEC_H

#include "base/attrs.h"
#include "base/env.h"
#include "base/json.h"
#include "model/names.h"
#include "model/problem.h"

struct spec_context {
    const json_t *catalog;  /* of the project; NULL: checks that need it are left out */
    const json_t *defaults; /* of the project: {machine_type, minimum, ...}, or NULL */
    bool v1;                /* the account's generation: shorter names, fewer members */
    wall_us now;            /* versions that expired before it are not offered; 0: expiry is not looked at */
    const json_t *observed; /* what is there already, or NULL: values it has are accepted though no longer
                               offered */
    const json_t *known; /* the body that is stored, or NULL: what is larger than today's limits may stay */
    const char *name;    /* of the cluster that a PUT or PATCH is for: its body may repeat it */
};

enum spec_use { SPEC_CREATE, SPEC_PUT };

/*
 * Checks a create or PUT body: {name, labels, description, deletion_protection, spec}. A PUT may have the
 * name that context->name says, as tools do that send one document with POST and PUT; there is none where
 * that is NULL. Faults are added to *faults (created on the first one).
 */
void spec_check_body(const json_t *body, enum spec_use use, const struct spec_context *context,
                     struct problem **faults);
/*
 * Checks what an existing cluster cannot become (GA-8, GA-13; CL-22). `spec` passed
 * spec_check_body with the same `observed` in its context; members that it leaves out, and members that
 * `observed` lacks, are not compared. Each fault's detail names the way out. The problem is
 * PROBLEM_IMMUTABLE_FIELD when all of its faults are "immutable", else PROBLEM_VALIDATION_FAILED.
 */
void spec_check_change(const json_t *spec, const json_t *observed, const struct spec_context *context,
                       struct problem **faults);
/*
 * Whether changing a pool replaces its nodes one by one (GA-13). Members that `wanted_pool` leaves
 * out do not change; a NULL pool changes nothing (wanted) or has no nodes yet (observed); NULL versions are
 * not compared. *ret_reason is static text, NULL when nothing rolls.
 */
bool spec_change_rolls_nodes(const json_t *wanted_pool, const json_t *observed_pool,
                             const char *wanted_version, const char *observed_version,
                             const char **ret_reason);
/* Whether a cluster name is acceptable at all (GA-7, Cleura's 15). */
bool spec_name_is_valid(const char *name);

/* Labels as Kubernetes has them (GA-9): what is wrong with a key, static text, NULL when nothing
 * is. */
const char *spec_label_key_fault(const char *key);
bool spec_label_value_is_valid(const char *text, size_t len);

/* The complete spec that a create sends, `name` included. Call only after spec_check_body found nothing. */
json_t *spec_resolve(const char *name, const json_t *spec, const struct spec_context *context);
/* The values that spec_resolve uses where the caller gives none: for the catalog's `defaults`. */
json_t *spec_defaults(const struct spec_context *context);

/* One pool of a create or an update, complete. */
json_t *spec_resolve_pool(const json_t *pool, const struct spec_context *context);
/* The version that "1.33" stands for now, borrowed from the catalog; NULL when none is offered. */
const char *spec_resolve_version(const char *wanted, const struct spec_context *context);

/* The meaning of a null member of `observed`, which Cleura does not report, or not in a readable form. */
enum spec_unknown {
    SPEC_UNKNOWN_DIFFERS, /* from what is wanted: it is to be sent */
    SPEC_UNKNOWN_AGREES,  /* nothing shows that it differs */
};
/*
 * Compares what is wanted with what is there. Members that `spec` leaves out are not compared; "1.33" equals
 * "1.33.7"; zones, taints, schedules and allowed networks have no order. Appends {path, wanted, found} to
 * `differences`; returns how many were found.
 */
size_t spec_differences(const json_t *spec, const json_t *observed, enum spec_unknown unknown,
                        json_t *differences);
/* The same for one pool, member by member, its name left out. */
bool spec_pool_is_met(const json_t *wanted, const json_t *observed, enum spec_unknown unknown);
/*
 * `observed` where it can be read. A null in it is replaced by the value in which `spec` and `before`, the
 * spec that was asked for until now, agree: a plan that is made from the result does not ask again for what
 * was asked for already. Pools that are not seen are added as far as the two specs agree, and one without a
 * name for those that nobody knows of. NULL when `observed` is; `before` may be NULL. The caller owns it.
 */
json_t *spec_presumed(const json_t *observed, const json_t *before, const json_t *spec);
/* Every pool that is there is known by its name; false when their list cannot be read. */
bool spec_pools_are_known(const json_t *observed_pools);

/*
 * The steps that lead from `observed` to `spec`, in the order in which they are to be sent: an array of
 * {type, target, want, rolls_nodes, reason}, type one of patch_cluster, update_pool, create_pool,
 * delete_pool; target the pool, or ""; want the members to change (create_pool: the complete pool;
 * update_pool: the wanted one, without an image that is there in any version, unless it names the version);
 * reason why nodes are replaced, or null. Empty when nothing differs. While not all pools are known by their
 * names, none is created: those that are not seen are changed, so that Cleura's answer shows whether they
 * exist.
 */
json_t *spec_plan(const json_t *spec, const json_t *observed, const struct spec_context *context);
/* Whether `observed` shows what a step of spec_plan is to bring about. */
bool spec_step_is_met(enum step_type type, const char *target, const json_t *want, const json_t *observed,
                      enum spec_unknown unknown);
/*
 * The body that a step has to send now, in our words: for the cluster the members that still differ, versions
 * resolved; for a pool the complete one, what is there overlaid with what is wanted.
 */
json_t *spec_step_body(enum step_type type, const char *target, const json_t *want, const json_t *observed,
                       const struct spec_context *context);

/*
 * The most that complete pools may take of the project's quota: {nodes, cores, memory_gib, volume_gib}, with
 * `maximum` and `max_surge` of each; cores and memory are null when the catalog lacks a machine type.
 */
json_t *spec_quota(const json_t *pools, const struct spec_context *context);
/* The same piece by piece, for many clusters; it begins with SPEC_QUOTA_NONE. */
struct spec_quota_sum {
    int64_t nodes, cores, memory_mib, volume_gib;
    bool types_known; /* by the catalog, all of them */
};
#define SPEC_QUOTA_NONE ((struct spec_quota_sum){.types_known = true})
void spec_quota_add(struct spec_quota_sum *sum, const json_t *pools, const struct spec_context *context);
json_t *spec_quota_of(const struct spec_quota_sum *sum);
/*
 * Adds {pointer, code, detail} for each setting that passed its checks but that hardly anybody intends.
 * `observed` is what there is, NULL for a create; pools: complete, in the order of those of the spec where it
 * has any.
 */
void spec_warnings(const json_t *spec, const json_t *observed, const json_t *pools, json_t *warnings);
/* use: of spec_quota, for all clusters of the project; limits: of the project, NULL when they are not known.
 */
void spec_warn_of_quota(json_t *warnings, const json_t *use, const json_t *limits);
/* Adds one. */
void spec_warn(json_t *warnings, const char *pointer, const char *code, const char *format, ...)
    ATTR_PRINTF(4, 5);
/* The complete pools that there are once `spec` is true. */
json_t *spec_pools_after(const json_t *spec, const json_t *observed, const struct spec_context *context);

/*
 * The versions that a cluster can be upgraded to: entries of the catalog, in its order, that are newer and
 * that a write accepts; for Kubernetes those of this minor and the next one, for an observed pool those of
 * its image. The caller owns the array.
 */
json_t *spec_version_offers(const char *present, const struct spec_context *context);
json_t *spec_image_offers(const json_t *pool, const struct spec_context *context);

/* Whether a version entry of the catalog is expired at `now`. */
bool version_is_expired(const json_t *entry, wall_us now);
/* Whether it may be asked for exactly; what is only preview or deprecated may. */
bool version_is_offered(const json_t *entry, wall_us now);
/* Whether `wanted` is `version` or a line of versions that it belongs to: "1.33" holds "1.33.7". */
bool version_is_within(const char *wanted, const char *version);
/*
 * The newest supported version of the entries that belongs to `wanted`, of all with NULL; `wanted` itself
 * when it is listed. NULL: none. The text is the entry's.
 */
const char *version_newest(const json_t *versions, const char *wanted, wall_us now);
enum { VERSION_LINE_BYTES = 32 };
/* The line of versions that one belongs to, "1.33" of "1.33.7", and the one after it, "1.34". */
void version_minor(const char *version, char line[static VERSION_LINE_BYTES]);
void version_next_minor(const char *version, char line[static VERSION_LINE_BYTES]);
/* Compares dotted version numbers: <0, 0, >0. */
int version_compare(const char *left, const char *right);

#endif

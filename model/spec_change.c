/* Changes of an existing cluster: impossible changes, and changes that replace nodes. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "model/spec_check_private.h"

/* ---- versions ---- */

struct minor {
    unsigned long major, minor;
    bool complete; /* false for "1", which has no minor number */
};

static struct minor minor_of(const char *version)
{
    char *end;
    struct minor m = {.major = strtoul(version, &end, 10)};
    m.complete = *end == '.';
    if (m.complete)
        m.minor = strtoul(end + 1, NULL, 10);
    return m;
}

static bool minors_differ(const char *wanted, const char *observed)
{
    struct minor w = minor_of(wanted), o = minor_of(observed);
    return w.major != o.major || (w.complete && w.minor != o.minor);
}

/* Returns the newest usable version of a minor version: a supported version if possible, otherwise a version
 * that is still offered; or NULL. */
static const char *best_of_minor(const struct spec_context *context, const char *minor)
{
    const json_t *versions = json_arr(context->catalog, "kubernetes_versions");
    const char *best = version_newest(versions, minor, context->now);
    bool supported = best != NULL;
    size_t i;
    json_t *entry;
    json_array_foreach (versions, i, entry) {
        const char *version = json_str_or(entry, "version", "");
        if (supported || !version_is_within(minor, version) || !version_is_offered(entry, context->now))
            continue;
        if (!best || version_compare(version, best) > 0)
            best = version;
    }
    return best;
}

static void check_version(struct spec_check *k, const char *wanted, const char *observed)
{
    static const char pointer[] = "#/spec/kubernetes_version";
    struct minor w = minor_of(wanted), o = minor_of(observed);
    if (version_is_within(wanted, observed))
        return;
    if (version_compare(wanted, observed) < 0) {
        FAULT(k, pointer, "downgrade", json_pack("[s]", observed),
              "'%s' is older than %s, and Kubernetes is never downgraded: keep %s or take a newer version",
              wanted, observed, observed);
        return;
    }
    if (w.major == o.major && w.minor <= o.minor + 1)
        return;
    char *next CLEANUP_FREE = mem_printf("%lu.%lu", o.major, o.minor + 1);
    const char *best = best_of_minor(k->context, next);
    FAULT(k, pointer, "skipped_minor", best ? json_pack("[s]", best) : NULL,
          "'%s' is more than one minor above %s: change to %s first, then go on from there", wanted, observed,
          best ? best : next);
}

/* ---- immutable members ---- */

static void check_networking(struct spec_check *k, const json_t *wanted, const json_t *observed)
{
    static const struct {
        const char *name;
        int (*compare)(const char *, const char *);
    } immutable[] = {
        {"type", strcmp},           {"nodes_cidr", strcmp},
        {"floating_pool", strcmp},  {"load_balancer_provider", strcmp},
        {"network_id", strcasecmp}, {"router_id", strcasecmp}, /* UUIDs may be in upper or lower case */
    };
    for (size_t i = 0; i < ARRAY_LEN(immutable); i++) {
        const char *name = immutable[i].name;
        const char *new = json_str(wanted, name), *old = json_str(observed, name);
        if (!new || !old || !immutable[i].compare(new, old))
            continue;
        char *here CLEANUP_FREE = json_pointer_to("#/spec/networking", name);
        FAULT(k, here, "immutable", json_pack("[s]", old),
              "cannot change after the create: keep '%s' or leave it out; for '%s' delete the cluster and "
              "create it again",
              old, new);
    }
    const char *type = json_str(observed, "type");
    if (json_obj(wanted, "cilium") && type && strcmp(type, "cilium") != 0)
        FAULT(k, "#/spec/networking/cilium", "conflict", NULL,
              "the cluster's networking.type is %s: leave cilium out, or delete the cluster and create it "
              "again with type cilium",
              type);
}

static void check_high_availability(struct spec_check *k, const json_t *wanted, const json_t *observed)
{
    if (json_bool(observed, "high_availability", false) && !json_bool(wanted, "high_availability", true))
        FAULT(k, "#/spec/high_availability", "one_way", json_pack("[b]", 1),
              "cannot be switched off again: keep true or leave it out; for false delete the cluster and "
              "create it again");
}

static bool holds_all(const json_t *array, const json_t *items)
{
    size_t i, j;
    json_t *item, *other;
    json_array_foreach (items, i, item) {
        bool found = false;
        json_array_foreach (array, j, other)
            found |= json_equal(item, other);
        if (!found)
            return false;
    }
    return true;
}

/* Checks that no zone is removed. The order does not matter, because Gardener decides the order, and Cleura
 * may show another order (CL-13). */
static void check_zones(struct spec_check *k, const char *pointer, const json_t *pool, const json_t *observed)
{
    const json_t *wanted = json_arr(pool, "zones");
    json_t *old = json_arr(observed, "zones");
    if (!wanted || !old || holds_all(wanted, old))
        return;
    char *here CLEANUP_FREE = json_pointer_to(pointer, "zones");
    FAULT(k, here, "immutable", json_incref(old),
          "must hold the zones that the pool has; more may be added. For other zones add a pool with another "
          "name and remove this one");
}

/* Checks a change of the machine type. Cleura accepts type and image of a pool only together. When the
 * observed image cannot be read, shootd has no image to send. The same is true for a pool that was requested
 * before but is not visible yet, if the caller names no image. */
static void check_machine(struct spec_check *k, const char *pointer, const json_t *pool,
                          const json_t *observed)
{
    const char *wanted = json_str(pool, "machine_type"), *old = json_str(observed, "machine_type");
    const json_t *image = json_obj(pool, "image");
    const bool is_image_known = json_str(image, "name") || json_str(image, "version") ||
                                json_str(json_obj(observed, "image"), "name");
    if (!json_object_get(observed, "image") || !wanted || is_image_known || (old && !strcmp(wanted, old)))
        return;
    char *here CLEANUP_FREE = json_pointer_to(pointer, "machine_type");
    FAULT(k, here, "conflict", NULL,
          "changes together with the image, which cannot be read from Cleura's answer: set the pool's "
          "image.name, too");
}

static void check_pools(struct spec_check *k, const json_t *wanted, const json_t *observed)
{
    size_t i;
    json_t *pool;
    json_array_foreach (wanted, i, pool) {
        char *here CLEANUP_FREE = spec_pointer_at("#/spec/node_pools", i);
        const json_t *there = spec_pool_there(wanted, pool, observed);
        check_zones(k, here, pool, there);
        check_machine(k, here, pool, there);
    }
}

static enum problem_code code_for(const json_t *faults)
{
    size_t i;
    json_t *fault;
    json_array_foreach (faults, i, fault)
        if (strcmp(json_str_or(fault, "code", ""), "immutable") != 0)
            return PROBLEM_VALIDATION_FAILED;
    return PROBLEM_IMMUTABLE_FIELD;
}

void spec_check_change(const json_t *spec, const json_t *observed, const struct spec_context *context,
                       struct problem **faults)
{
    struct spec_check k = {context, faults};
    const char *wanted = json_str(spec, "kubernetes_version");
    const char *version = json_str(observed, "kubernetes_version");
    if (wanted && version)
        check_version(&k, wanted, version);
    check_pools(&k, json_arr(spec, "node_pools"), json_arr(observed, "node_pools"));
    check_networking(&k, json_obj(spec, "networking"), json_obj(observed, "networking"));
    check_high_availability(&k, spec, observed);
    if (*faults && (*faults)->faults)
        (*faults)->code = code_for((*faults)->faults);
}

/* ---- changes that replace nodes ---- */

static bool text_differs(const json_t *wanted, const json_t *observed, const char *name)
{
    const char *new = json_str(wanted, name);
    return new &&strcmp(new, json_str_or(observed, name, "")) != 0;
}

/* Returns why nodes are replaced, or NULL. Changes of other members are made in place, or concern only new
 * nodes (GA-13). */
static const char *rolling_reason(const json_t *wanted, const json_t *observed)
{
    const json_t *image = json_obj(wanted, "image"), *old_image = json_obj(observed, "image");
    if (text_differs(wanted, observed, "machine_type"))
        return "the machine type changes";
    if (text_differs(image, old_image, "name"))
        return "the machine image changes";
    if (text_differs(image, old_image, "version"))
        return "the version of the machine image changes";
    int64_t size = json_int(wanted, "volume_size_gib", -1);
    if (size >= 0 && size != json_int(observed, "volume_size_gib", -1))
        return "the volume size changes";
    return NULL;
}

bool spec_change_rolls_nodes(const json_t *wanted_pool, const json_t *observed_pool,
                             const char *wanted_version, const char *observed_version,
                             const char **ret_reason)
{
    *ret_reason = NULL;
    if (!observed_pool)
        return false;
    if (wanted_version && observed_version && minors_differ(wanted_version, observed_version))
        *ret_reason = "the minor version of Kubernetes changes";
    else if (wanted_pool)
        *ret_reason = rolling_reason(wanted_pool, observed_pool);
    return *ret_reason != NULL;
}

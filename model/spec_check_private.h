/*
 * Declarations shared by the files of the spec check: the struct of a row of the tables, the macro for
 * faults, the checks of single values. The rules are GA-7 to GA-12, restricted by Cleura's published patterns
 * (CL-10). Pure; any thread.
 */
#ifndef MODEL_SPEC_CHECK_PRIVATE_H
#define MODEL_SPEC_CHECK_PRIVATE_H

#include <stdint.h>

#include "model/spec.h"

struct spec_check {
    const struct spec_context *context;
    struct problem **faults;
};

/*
 * Checks one value of the right type. `there` is the existing value in context->observed, NULL when there is
 * none. The function is not called for strings, integers and booleans that equal the existing value.
 */
typedef void spec_check_fn(struct spec_check *k, const char *pointer, const json_t *value,
                           const json_t *there);

enum { KUBERNETES_VERSION_MAX = 32, IMAGE_VERSION_MAX = 63 };

enum member_kind { MEMBER_STRING, MEMBER_INTEGER, MEMBER_BOOL, MEMBER_OBJECT, MEMBER_ARRAY };

struct spec_member {
    const char *name;
    enum member_kind kind;
    int64_t low, high;    /* the range of integers, or of the lengths of strings */
    const char *pattern;  /* for strings: a POSIX extended regular expression, or NULL */
    spec_check_fn *check; /* an additional check of the value, or NULL */
};

#define FAULT(k, pointer, code, valid, ...)                                                        \
    problem_add_fault((k)->faults, PROBLEM_VALIDATION_FAILED, FAULT_AT_BODY, pointer, code, valid, \
                      __VA_ARGS__)

/*
 * Checks the members of `object` by the table; null equals absent (HT-33). Members that exist only in `there`
 * are read-only. Such a member is accepted when its value equals the existing value, so that a document that
 * was read can be edited and sent back.
 */
void spec_check_object(struct spec_check *k, const struct spec_member *members, size_t count,
                       const char *pointer, const json_t *object, const json_t *there);

/* ---- spec_values.c: small functions for checks and comparisons ---- */
/* Adds a fault when `value` is not in `list`; a NULL list accepts every value. */
void spec_check_listed(struct spec_check *k, const char *pointer, const json_t *value, json_t *list,
                       const char *what);
/* Returns the pointer of an item below `base`; the caller frees it. */
char *spec_pointer_at(const char *base, size_t index);
/* Adds `key` to the set; false when the set contained it already. */
bool spec_set_add(json_t *set, const char *key);
/* Whether a schedule's time zone is UTC, which is also the default. */
bool spec_zone_is_utc(const json_t *schedule);
const json_t *spec_find_named(const json_t *array, const char *name);
/*
 * Returns the existing pool with the name of `pool`; `pool` is an item of `pools`. When `pools` has only one
 * pool and it has no name, it means the cluster's only pool. NULL: the pool is new.
 */
const json_t *spec_pool_there(const json_t *pools, const json_t *pool, const json_t *observed_pools);

/* ---- spec_catalog.c: values that the catalog lists ---- */
spec_check_fn spec_check_kubernetes_version, spec_check_machine_type, spec_check_image, spec_check_zones,
    spec_check_floating_pool, spec_check_load_balancer, spec_check_volume_size;
/* Whether the pool's image runs on its machine type, if the catalog contains that information. */
void spec_check_architecture(struct spec_check *k, const char *pointer, const json_t *pool,
                             const json_t *there);

/* ---- spec_labels.c ---- */
spec_check_fn spec_check_labels, spec_check_annotations, spec_check_taints;

/* ---- spec_network.c ---- */
/*
 * An IPv4 network from the text of a caller. The text is read strictly, by GA-10 and by Cleura's pattern for
 * networks (P-CIDR, CL-10), which accepts only IPv4 and requires the prefix length.
 */
struct ipv4_net {
    uint32_t base; /* host byte order, host bits cleared */
    unsigned bits; /* 0..32 */
};

/* Reads a text such as "10.250.0.0/16". *ret_canonical is true when all host bits were 0. False: the text is
 * not a network. */
bool ipv4_net_parse(const char *text, struct ipv4_net *ret_net, bool *ret_canonical);
/* Whether the two networks have an address in common. */
bool ipv4_net_overlaps(const struct ipv4_net *left, const struct ipv4_net *right);
/* Returns the canonical text; the caller frees it. */
char *ipv4_net_text(const struct ipv4_net *net);
spec_check_fn spec_check_networking, spec_check_allowed_cidrs;

/* ---- spec_times.c ---- */
/* Returns NULL when both Gardener and Cleura accept the cron expression. Otherwise returns the fault of the
 * expression ("hour 24 is ..."); the caller frees it. */
char *cron_fault(const char *text);
/* Returns the schedule with the same start and end, if possible in the same time zone; NULL: there is
 * none. */
const json_t *spec_schedule_there(const json_t *schedules, const json_t *schedule);
spec_check_fn spec_check_schedules, spec_check_maintenance;

#endif

/*
 * The declarations that the files of the spec check share: the tables' row, the fault macro, the checks of
 * single values. Rules: GA-7 to GA-12, narrowed by Cleura's published patterns (CL-10). Pure; any thread.
 */
#ifndef MODEL_SPEC_CHECK_PRIVATE_H
#define MODEL_SPEC_CHECK_PRIVATE_H

#include <stdint.h>

#include "model/spec.h"

struct check {
    const struct spec_context *context;
    struct problem **faults;
};

/*
 * Checks one value of the right type. `there` is its counterpart in context->observed, NULL when there is
 * none; strings, integers and booleans that equal theirs never get here.
 */
typedef void spec_check_fn(struct check *k, const char *pointer, const json_t *value, const json_t *there);

enum { KUBERNETES_VERSION_MAX = 32, IMAGE_VERSION_MAX = 63 };

enum member_kind { MEMBER_STRING, MEMBER_INTEGER, MEMBER_BOOL, MEMBER_OBJECT, MEMBER_ARRAY };

struct member {
    const char *name;
    enum member_kind kind;
    int64_t low, high;    /* integers; string lengths */
    const char *pattern;  /* strings: POSIX extended, or NULL */
    spec_check_fn *check; /* more, or NULL */
};

#define FAULT(k, pointer, code, valid, ...)                                                        \
    problem_add_fault((k)->faults, PROBLEM_VALIDATION_FAILED, FAULT_AT_BODY, pointer, code, valid, \
                      __VA_ARGS__)

/*
 * Checks the members of `object` by the table; null equals absent (HT-33). Members that only `there` knows
 * are read only: accepted when they are equal, so that what was read can be edited and sent back.
 */
void spec_check_object(struct check *k, const struct member *members, size_t count, const char *pointer,
                       const json_t *object, const json_t *there);
/* A fault when `value` is not in `list`; a NULL list lets everything pass. */
void spec_check_listed(struct check *k, const char *pointer, const json_t *value, json_t *list,
                       const char *what);
/* The pointer of an item below `base`; the caller frees it. */
char *spec_pointer_at(const char *base, size_t index);
/* Adds `key` to the set; false when it was in it. */
bool spec_set_add(json_t *set, const char *key);
/* Whether a schedule's time zone is UTC, as it is where none is said. */
bool spec_zone_is_utc(const json_t *schedule);
/* The schedule with the same start and end, if possible in the same time zone; NULL: none. */
const json_t *spec_schedule_there(const json_t *schedules, const json_t *schedule);
const json_t *spec_find_named(const json_t *array, const char *name);
/*
 * The pool of the cluster that `pool`, one of `pools`, is about: the one of the same name; a single pool
 * without a name is the single pool of the cluster. NULL: a new one.
 */
const json_t *spec_pool_there(const json_t *pools, const json_t *pool, const json_t *observed_pools);

/* spec_catalog.c: values that the catalog lists */
spec_check_fn spec_check_kubernetes_version, spec_check_machine_type, spec_check_image, spec_check_zones,
    spec_check_floating_pool, spec_check_load_balancer, spec_check_volume_size;
/* Whether the pool's image runs on its machine type, as far as the catalog says. */
void spec_check_architecture(struct check *k, const char *pointer, const json_t *pool, const json_t *there);

/* spec_labels.c */
spec_check_fn spec_check_labels, spec_check_annotations, spec_check_taints;

/* spec_network.c */
/*
 * IPv4 networks as the caller writes them, read strictly: GA-10, narrowed by Cleura's P-CIDR (CL-10), which
 * knows IPv4 only and wants the prefix length.
 */
struct ipv4_net {
    uint32_t base; /* host byte order, host bits cleared */
    unsigned bits; /* 0..32 */
};

/* "10.250.0.0/16" and the like; *ret_canonical says whether no host bits were set. False: not a network. */
bool ipv4_net_parse(const char *text, struct ipv4_net *ret_net, bool *ret_canonical);
/* Whether the two have an address in common. */
bool ipv4_net_overlaps(const struct ipv4_net *left, const struct ipv4_net *right);
/* The canonical text; the caller frees it. */
char *ipv4_net_text(const struct ipv4_net *net);
spec_check_fn spec_check_networking, spec_check_allowed_cidrs;

/* spec_times.c */
/* NULL when `text` is a cron string that both Gardener and Cleura take, else what is wrong with it ("hour 24
 * is
 * ..."); the caller frees it. */
char *cron_fault(const char *text);
spec_check_fn spec_check_schedules, spec_check_maintenance;

#endif

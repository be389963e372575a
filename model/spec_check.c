/*
 * Checks specs, by tables that list the members of the body, of the spec and of pools. The checks of single
 * kinds of values are in separate files. The rules are GA-7 to GA-12, restricted by Cleura's published
 * patterns (CL-10).
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/near_word.h"
#include "model/former_names.h"
#include "model/names.h"
#include "model/spec_check_private.h"
#include "model/spec_limits.h"

static const char *const kind_names[] = {[MEMBER_STRING] = "a string",
                                         [MEMBER_INTEGER] = "an integer",
                                         [MEMBER_BOOL] = "true or false",
                                         [MEMBER_OBJECT] = "an object",
                                         [MEMBER_ARRAY] = "an array"};

static bool kind_is(const json_t *value, enum member_kind kind)
{
    static const json_type types[] = {[MEMBER_STRING] = JSON_STRING,
                                      [MEMBER_INTEGER] = JSON_INTEGER,
                                      [MEMBER_OBJECT] = JSON_OBJECT,
                                      [MEMBER_ARRAY] = JSON_ARRAY};
    return kind == MEMBER_BOOL ? json_is_boolean(value) : json_typeof(value) == types[kind];
}

static bool is_container(const json_t *value)
{
    return json_is_object(value) || json_is_array(value);
}

static void check_value(struct spec_check *k, const struct spec_member *m, const char *pointer,
                        const json_t *value, const json_t *there)
{
    if (!kind_is(value, m->kind)) {
        FAULT(k, pointer, "wrong_type", NULL, "must be %s", kind_names[m->kind]);
        return;
    }
    if (there && !is_container(value) && json_equal(value, there))
        return; /* an existing value may stay, whatever today's rules are */
    if (m->kind == MEMBER_INTEGER &&
        (json_integer_value(value) < m->low || json_integer_value(value) > m->high)) {
        FAULT(k, pointer, "out_of_range", NULL, "must be %lld to %lld", (long long)m->low,
              (long long)m->high);
        return;
    }
    if (m->kind == MEMBER_STRING) {
        int64_t len = (int64_t)json_string_length(value);
        if (len < m->low || len > m->high) {
            FAULT(k, pointer, "wrong_length", NULL, "must have %lld to %lld characters", (long long)m->low,
                  (long long)m->high);
            return;
        }
        if (m->pattern && !pattern_matches(m->pattern, json_string_value(value))) {
            FAULT(k, pointer, "wrong_form", NULL, "must match %s", m->pattern);
            return;
        }
    }
    if (m->check)
        m->check(k, pointer, value, there);
}

static json_t *member_names(const struct spec_member *members, size_t count)
{
    json_t *names = json_array();
    for (size_t i = 0; i < count; i++)
        json_append_take(names, json_string(members[i].name));
    return names;
}

/* `pointer` is that of the object with the member. */
static void fault_unknown_member(struct spec_check *k, const char *pointer, const char *name,
                                 const struct spec_member *members, size_t count)
{
    char *here CLEANUP_FREE = json_pointer_to(pointer, name);
    json_t *valid = member_names(members, count);
    char *hint CLEANUP_FREE = !strcmp(pointer, "#") ? spec_member_hint(name) : word_hint(name, valid);
    char *renamed CLEANUP_FREE = former_name_fault(FORMER_MEMBER, name, valid);
    if (renamed)
        FAULT(k, here, FORMER_NAME_CODE, valid, "%s", renamed);
    else
        FAULT(k, here, "unknown_member", valid, "is not a member that exists here%s", hint);
}

void spec_check_object(struct spec_check *k, const struct spec_member *members, size_t count,
                       const char *pointer, const json_t *object, const json_t *there)
{
    const char *name;
    json_t *value;
    json_object_foreach ((json_t *)(uintptr_t)object, name, value) {
        if (problem_is_full(*k->faults))
            return; /* more faults are not reported */
        char *here CLEANUP_FREE = json_pointer_to(pointer, name);
        const struct spec_member *m = NULL;
        for (size_t i = 0; i < count && !m; i++)
            if (!strcmp(members[i].name, name))
                m = &members[i];
        const json_t *old = json_object_get(there, name);
        /* only Cleura sets this member, and the value equals Cleura's */
        if (!m && old && json_equal(value, old))
            continue;
        if (!m && old)
            FAULT(k, here, "read_only", json_pack("[O]", old),
                  "is said by Cleura: leave it out, or as it is");
        else if (!m)
            fault_unknown_member(k, pointer, name, members, count);
        else if (!json_is_null(value))
            check_value(k, m, here, value, json_object_get(there, name));
    }
}

/* ---- node pools ---- */

/* Returns the value that the pool's member will have: the requested value, otherwise the existing value,
 * otherwise the project's default. */
static int64_t pool_int(const struct spec_check *k, const json_t *pool, const json_t *there, const char *name,
                        int64_t fallback)
{
    return json_int(pool, name, json_int(there, name, json_int(k->context->defaults, name, fallback)));
}

static void check_pool_name(struct spec_check *k, const char *pointer, const json_t *value,
                            const json_t *there ATTR_UNUSED)
{
    const struct upstream_abilities *abilities = k->context->abilities;
    if (json_string_length(value) > abilities->pool_name_max)
        FAULT(k, pointer, "wrong_length", NULL, "must have at most %zu characters on a %s account",
              abilities->pool_name_max, abilities->api);
}

static const struct spec_member pool_members[] = {
    {"name", MEMBER_STRING, 1, 15, PATTERN_DNS_LABEL, check_pool_name},
    {"machine_type", MEMBER_STRING, 1, 63, NULL, spec_check_machine_type},
    {"image", MEMBER_OBJECT, 0, 0, NULL, spec_check_image},
    {"minimum", MEMBER_INTEGER, 0, 1000, NULL, NULL},
    {"maximum", MEMBER_INTEGER, 0, 1000, NULL, NULL},
    /* not 0, because Cleura sets max_unavailable to 0, and only one of the two may be 0 (GA-9) */
    {"max_surge", MEMBER_INTEGER, 1, 1000, NULL, NULL},
    {"volume_size_gib", MEMBER_INTEGER, 1, 65536, NULL, spec_check_volume_size},
    {"zones", MEMBER_ARRAY, 0, 0, NULL, spec_check_zones},
    {"labels", MEMBER_OBJECT, 0, 0, NULL, spec_check_labels},
    {"annotations", MEMBER_OBJECT, 0, 0, NULL, spec_check_annotations},
    {"taints", MEMBER_ARRAY, 0, 0, NULL, spec_check_taints},
};

struct pool_size {
    int64_t minimum, maximum;
    size_t zones;
};

static struct pool_size pool_size(const struct spec_check *k, const json_t *pool, const json_t *there)
{
    int64_t minimum = pool_int(k, pool, there, "minimum", 1);
    const json_t *zones = json_arr(pool, "zones");
    if (!zones)
        zones = json_arr(there, "zones");
    if (!zones)
        zones = json_arr(k->context->defaults, "zones");
    return (struct pool_size){
        .minimum = minimum,
        .maximum = pool_int(k, pool, there, "maximum", minimum > 3 ? minimum : 3),
        .zones = zones ? json_array_size(zones) : 1,
    };
}

/*
 * Checks the size of a pool. Gardener requires that a pool with system components can have a node in each of
 * its zones, and at Cleura every pool with nodes has them. Therefore `maximum` must not be less than the
 * number of zones. A pool whose size does not change is not checked.
 */
static void check_pool_size(struct spec_check *k, const char *pointer, const json_t *pool,
                            const json_t *there)
{
    struct pool_size size = pool_size(k, pool, there), old = pool_size(k, there, NULL);
    if (there && size.minimum == old.minimum && size.maximum == old.maximum && size.zones == old.zones)
        return;
    char *here CLEANUP_FREE = json_pointer_to(pointer, "maximum");
    if (size.maximum < size.minimum)
        FAULT(k, here, "out_of_range", NULL, "must not be less than minimum (%lld)", (long long)size.minimum);
    else if (size.maximum > 0 && size.maximum < (int64_t)size.zones)
        FAULT(k, here, "out_of_range", NULL, "must not be less than the number of zones (%zu)", size.zones);
}

static void check_pool(struct spec_check *k, const char *pointer, const json_t *pool, const json_t *there)
{
    spec_check_object(k, pool_members, ARRAY_LEN(pool_members), pointer, pool, there);
    check_pool_size(k, pointer, pool, there);
    spec_check_architecture(k, pointer, pool, there);
}

static void check_pool_identity(struct spec_check *k, const char *pointer, const json_t *pool, bool several,
                                json_t *seen)
{
    const char *name = json_str(pool, "name");
    if (name && !spec_set_add(seen, name))
        FAULT(k, pointer, "duplicate", NULL, "the pool name '%s' is used twice", name);
    if (!name && several)
        FAULT(k, pointer, "missing_member", NULL, "needs a name when there are several pools");
}

static void check_pools(struct spec_check *k, const char *pointer, const json_t *value, const json_t *there)
{
    json_t *seen CLEANUP_JSON = json_object();
    bool several = json_array_size(value) > 1 || json_array_size(there) > 1, any_schedulable = false;
    size_t i;
    json_t *pool;
    if (!json_array_size(value)) {
        FAULT(k, pointer, "too_few", NULL, "must have at least one node pool");
        return;
    }
    json_array_foreach (value, i, pool) {
        char *here CLEANUP_FREE = spec_pointer_at(pointer, i);
        if (!json_is_object(pool)) {
            FAULT(k, here, "wrong_type", NULL, "must be an object");
            continue;
        }
        const json_t *old = spec_pool_there(value, pool, there);
        check_pool(k, here, pool, old);
        any_schedulable |= pool_size(k, pool, old).maximum > 0;
        check_pool_identity(k, here, pool, several, seen);
    }
    if (!any_schedulable)
        FAULT(k, pointer, "out_of_range", NULL, "at least one pool must have a maximum above 0");
}

/* ---- spec and body ---- */

static const struct spec_member spec_members[] = {
    {"kubernetes_version", MEMBER_STRING, 1, KUBERNETES_VERSION_MAX, PATTERN_VERSION,
     spec_check_kubernetes_version},
    {"node_pools", MEMBER_ARRAY, 0, 0, NULL, check_pools},
    {"networking", MEMBER_OBJECT, 0, 0, NULL, spec_check_networking},
    {"high_availability", MEMBER_BOOL, 0, 0, NULL, NULL},
    {"hibernation_schedules", MEMBER_ARRAY, 0, 0, NULL, spec_check_schedules},
    {"maintenance", MEMBER_OBJECT, 0, 0, NULL, spec_check_maintenance},
    {"allowed_cidrs", MEMBER_ARRAY, 0, 0, NULL, spec_check_allowed_cidrs},
};

static void check_spec(struct spec_check *k, const char *pointer, const json_t *value,
                       const json_t *there ATTR_UNUSED)
{
    spec_check_object(k, spec_members, ARRAY_LEN(spec_members), pointer, value, k->context->observed);
}

bool spec_name_is_valid(const char *name)
{
    size_t len = strlen(name);
    return len >= 1 && len <= 15 && pattern_matches(PATTERN_DNS_LABEL, name) && !strstr(name, "--");
}

static void check_name(struct spec_check *k, const char *pointer, const json_t *value,
                       const json_t *there ATTR_UNUSED)
{
    const char *own = k->context->name;
    if (own && strcmp(json_string_value(value), own) != 0)
        FAULT(k, pointer, "immutable", json_pack("[s]", own), "is another name than the one in the path");
    else if (!own && !spec_name_is_valid(json_string_value(value)))
        FAULT(k, pointer, "wrong_form", NULL,
              "must have 1 to 15 characters a-z, 0-9 and '-', begin and end with a letter or digit, without "
              "'--'");
}

static const struct spec_member body_members[] = {
    {"name", MEMBER_STRING, 0, 1000, NULL, check_name},
    {"labels", MEMBER_OBJECT, 0, 0, NULL, spec_check_labels},
    {"description", MEMBER_STRING, 0, 1000, NULL, NULL},
    {"deletion_protection", MEMBER_BOOL, 0, 0, NULL, NULL},
    {"spec", MEMBER_OBJECT, 0, 0, NULL, check_spec},
};

char *spec_member_hint(const char *name)
{
    json_t *body CLEANUP_JSON = member_names(body_members, ARRAY_LEN(body_members));
    json_t *spec CLEANUP_JSON = member_names(spec_members, ARRAY_LEN(spec_members));
    const char *inside = word_near(name, spec);
    return inside && !word_near(name, body) ? mem_printf(": '%s' belongs into 'spec'", inside)
                                            : word_hint(name, body);
}

void spec_check_body(const json_t *body, enum spec_use use, const struct spec_context *context,
                     struct problem **faults)
{
    struct spec_check k = {context, faults};
    spec_check_limits(body, SPEC_PART_BODY, context->known, faults);
    if (*faults)
        return;
    size_t skip = use == SPEC_PUT && !context->name ? 1 : 0;
    spec_check_object(&k, body_members + skip, ARRAY_LEN(body_members) - skip, "#", body, NULL);
    if (use == SPEC_CREATE && !json_object_get(body, "name"))
        FAULT(&k, "#/name", "missing_member", NULL, "is required");
}

/*
 * Checking of specs. The tables say what members there are; the functions below them check one kind of value
 * each. Rules: gardener.md 3, narrowed by Cleura's published patterns (cleura-api.md 6.2).
 */
#include <arpa/inet.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/spec.h"

struct check {
    const struct spec_context *context;
    struct problem **faults;
};

enum member_kind { MEMBER_STRING, MEMBER_INTEGER, MEMBER_BOOL, MEMBER_OBJECT, MEMBER_ARRAY };

struct member {
    const char *name;
    enum member_kind kind;
    int64_t low, high;   /* integers; string lengths */
    const char *pattern; /* strings: POSIX extended, or NULL */
    void (*check)(struct check *k, const char *pointer, const json_t *value); /* more, or NULL */
};

#define DNS_LABEL   "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
#define UUID        "^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$"
#define WINDOW_TIME "^([01][0-9]|2[0-3])[0-5][0-9][0-5][0-9][+](0[0-9]|1[0-4])00$"
#define LABEL_VALUE "^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$"
#define LABEL_KEY   "^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$"
#define CRON        "^(@(annually|yearly|monthly|weekly|daily|hourly)|([0-9*,/-]+ ){4}[0-9*,/-]+)$"

static const char *const kind_names[] = {[MEMBER_STRING] = "a string",
                                         [MEMBER_INTEGER] = "an integer",
                                         [MEMBER_BOOL] = "true or false",
                                         [MEMBER_OBJECT] = "an object",
                                         [MEMBER_ARRAY] = "an array"};

#define FAULT(k, pointer, code, valid, ...)                                                        \
    problem_add_fault((k)->faults, PROBLEM_VALIDATION_FAILED, FAULT_AT_BODY, pointer, code, valid, \
                      __VA_ARGS__)

static bool matches(const char *pattern, const char *text)
{
    regex_t regex;
    if (regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB) != 0)
        abort(); /* our own patterns */
    bool ok = regexec(&regex, text, 0, NULL, 0) == 0;
    regfree(&regex);
    return ok;
}

static bool kind_is(const json_t *value, enum member_kind kind)
{
    static const json_type types[] = {[MEMBER_STRING] = JSON_STRING,
                                      [MEMBER_INTEGER] = JSON_INTEGER,
                                      [MEMBER_OBJECT] = JSON_OBJECT,
                                      [MEMBER_ARRAY] = JSON_ARRAY};
    return kind == MEMBER_BOOL ? json_is_boolean(value) : json_typeof(value) == types[kind];
}

static void check_value(struct check *k, const struct member *m, const char *pointer, const json_t *value)
{
    if (!kind_is(value, m->kind)) {
        FAULT(k, pointer, "wrong_type", NULL, "must be %s", kind_names[m->kind]);
        return;
    }
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
        if (m->pattern && !matches(m->pattern, json_string_value(value))) {
            FAULT(k, pointer, "wrong_form", NULL, "must match %s", m->pattern);
            return;
        }
    }
    if (m->check)
        m->check(k, pointer, value);
}

static json_t *member_names(const struct member *members, size_t count)
{
    json_t *names = json_array();
    for (size_t i = 0; i < count; i++)
        (void)json_array_append_new(names, json_string(members[i].name));
    return names;
}

/* null equals absent (HT-33). */
static void check_object(struct check *k, const struct member *members, size_t count, const char *pointer,
                         const json_t *object)
{
    const char *name;
    json_t *value;
    json_object_foreach ((json_t *)(uintptr_t)object, name, value) {
        char *here CLEANUP_FREE = mem_printf("%s/%s", pointer, name);
        const struct member *m = NULL;
        for (size_t i = 0; i < count && !m; i++)
            if (!strcmp(members[i].name, name))
                m = &members[i];
        if (!m)
            FAULT(k, here, "unknown_member", member_names(members, count),
                  "is not a member that exists here");
        else if (!json_is_null(value))
            check_value(k, m, here, value);
    }
}

/* ---- values that the catalog knows
 * ---------------------------------------------------------------------------- */

static bool version_is_within(const char *wanted, const char *version)
{
    size_t len = strlen(wanted);
    return !strncmp(wanted, version, len) && (version[len] == '\0' || version[len] == '.');
}

static bool state_is_offered(const struct check *k, const json_t *entry, bool exact)
{
    const char *state = json_str_or(entry, "state", "supported");
    if (version_is_expired(entry, k->context->now))
        return false;
    return exact ? strcmp(state, "unavailable") != 0 : !strcmp(state, "supported");
}

static void check_kubernetes_version(struct check *k, const char *pointer, const json_t *value)
{
    const json_t *versions = json_arr(k->context->catalog, "kubernetes_versions");
    const char *wanted = json_string_value(value);
    json_t *valid = json_array();
    size_t i;
    json_t *entry;
    bool found = !versions;
    json_array_foreach (versions, i, entry) {
        const char *version = json_str(entry, "version");
        bool exact = !strcmp(wanted, version);
        if (version_is_within(wanted, version) && state_is_offered(k, entry, exact))
            found = true;
        if (state_is_offered(k, entry, true))
            (void)json_array_append_new(valid, json_string(version));
    }
    if (found)
        json_decref(valid);
    else
        FAULT(k, pointer, "unknown_version", valid, "'%s' is not offered", wanted);
}

static void check_listed(struct check *k, const char *pointer, const json_t *value, json_t *list,
                         const char *what)
{
    size_t i;
    json_t *item;
    if (!list)
        return;
    json_array_foreach (list, i, item)
        if (json_equal(item, value))
            return;
    FAULT(k, pointer, "unknown_value", json_incref(list), "'%s' is not %s", json_string_value(value), what);
}

static json_t *usable_machine_types(const json_t *catalog)
{
    json_t *names = json_array();
    size_t i;
    json_t *type;
    json_array_foreach (json_arr(catalog, "machine_types"), i, type)
        if (json_bool(type, "usable", true))
            (void)json_array_append(names, json_object_get(type, "name"));
    return names;
}

static void check_machine_type(struct check *k, const char *pointer, const json_t *value)
{
    if (!k->context->catalog)
        return;
    json_t *names CLEANUP_JSON = usable_machine_types(k->context->catalog);
    check_listed(k, pointer, value, names, "a usable machine type");
}

static void check_floating_pool(struct check *k, const char *pointer, const json_t *value)
{
    check_listed(k, pointer, value, json_arr(k->context->catalog, "floating_pools"), "a floating pool");
}

static void check_load_balancer(struct check *k, const char *pointer, const json_t *value)
{
    check_listed(k, pointer, value, json_arr(k->context->catalog, "load_balancer_providers"),
                 "a load balancer provider");
}

static void check_zones(struct check *k, const char *pointer, const json_t *value)
{
    size_t i;
    json_t *zone;
    if (!json_array_size(value))
        FAULT(k, pointer, "too_few", NULL, "must name at least one zone");
    json_array_foreach (value, i, zone) {
        char *here CLEANUP_FREE = mem_printf("%s/%zu", pointer, i);
        if (!json_is_string(zone))
            FAULT(k, here, "wrong_type", NULL, "must be a string");
        else
            check_listed(k, here, zone, json_arr(k->context->catalog, "zones"), "a zone of the region");
        for (size_t j = 0; j < i; j++)
            if (json_equal(zone, json_array_get(value, j)))
                FAULT(k, here, "duplicate", NULL, "is named twice");
    }
}

static const json_t *find_named(const json_t *array, const char *name)
{
    size_t i;
    json_t *item;
    json_array_foreach (array, i, item)
        if (name && !strcmp(json_str_or(item, "name", ""), name))
            return item;
    return NULL;
}

static void check_image_version(struct check *k, const char *pointer, const json_t *image)
{
    const json_t *images = json_arr(k->context->catalog, "machine_images");
    const char *name = json_str(image, "name");
    const json_t *known = name ? find_named(images, name) : json_array_get(images, 0);
    const char *wanted = json_str(image, "version");
    if (!images)
        return;
    if (!known) {
        json_t *valid = json_array();
        size_t i;
        json_t *item;
        json_array_foreach (images, i, item)
            (void)json_array_append(valid, json_object_get(item, "name"));
        FAULT(k, pointer, "unknown_value", valid, "'%s' is not a machine image", name ? name : "");
        return;
    }
    json_t *valid = json_array();
    bool found = !wanted;
    size_t i;
    json_t *version;
    json_array_foreach (json_arr(known, "versions"), i, version) {
        if (state_is_offered(k, version, true))
            (void)json_array_append(valid, json_object_get(version, "version"));
        if (wanted && !strcmp(wanted, json_str(version, "version")) && state_is_offered(k, version, true))
            found = true;
    }
    if (found)
        json_decref(valid);
    else
        FAULT(k, pointer, "unknown_version", valid, "'%s' is not an offered version of this image", wanted);
}

static void check_image(struct check *k, const char *pointer, const json_t *value)
{
    static const struct member members[] = {
        {"name", MEMBER_STRING, 1, 63, NULL, NULL},
        {"version", MEMBER_STRING, 1, 63, "^[0-9]+([.][0-9]+)*$", NULL},
    };
    check_object(k, members, ARRAY_LEN(members), pointer, value);
    check_image_version(k, pointer, value);
}

/* ---- structured values
 * ---------------------------------------------------------------------------------------- */

static void check_string_map(struct check *k, const char *pointer, const json_t *map, size_t value_max,
                             const char *value_pattern)
{
    const char *key;
    json_t *value;
    json_object_foreach ((json_t *)(uintptr_t)map, key, value) {
        char *here CLEANUP_FREE = mem_printf("%s/%s", pointer, key);
        if (strlen(key) > 253 + 1 + 63 || !matches(LABEL_KEY, key))
            FAULT(k, here, "wrong_form", NULL,
                  "is not a valid key: an optional DNS prefix and '/', then a name");
        if (!json_is_string(value))
            FAULT(k, here, "wrong_type", NULL, "must be a string");
        else if (json_string_length(value) > value_max ||
                 (value_pattern && !matches(value_pattern, json_string_value(value))))
            FAULT(k, here, "wrong_form", NULL, "must have at most %zu characters%s%s", value_max,
                  value_pattern ? " and match " : "", value_pattern ? value_pattern : "");
    }
}

static void check_labels(struct check *k, const char *pointer, const json_t *value)
{
    check_string_map(k, pointer, value, 63, LABEL_VALUE);
}

static void check_annotations(struct check *k, const char *pointer, const json_t *value)
{
    check_string_map(k, pointer, value, 4096, NULL);
}

static void check_effect(struct check *k, const char *pointer, const json_t *value)
{
    json_t *effects CLEANUP_JSON = json_pack("[sss]", "NoSchedule", "PreferNoSchedule", "NoExecute");
    check_listed(k, pointer, value, effects, "a taint effect");
}

static void check_taints(struct check *k, const char *pointer, const json_t *value)
{
    static const struct member members[] = {
        {"key", MEMBER_STRING, 1, 317, LABEL_KEY, NULL},
        {"value", MEMBER_STRING, 0, 63, LABEL_VALUE, NULL},
        {"effect", MEMBER_STRING, 1, 32, NULL, check_effect},
    };
    size_t i;
    json_t *taint;
    json_array_foreach (value, i, taint) {
        char *here CLEANUP_FREE = mem_printf("%s/%zu", pointer, i);
        if (!json_is_object(taint)) {
            FAULT(k, here, "wrong_type", NULL, "must be an object");
            continue;
        }
        check_object(k, members, ARRAY_LEN(members), here, taint);
        if (!json_str(taint, "key") || !json_str(taint, "effect"))
            FAULT(k, here, "missing_member", NULL, "needs key and effect");
    }
}

static void check_pool_name(struct check *k, const char *pointer, const json_t *value)
{
    enum { V1_POOL_NAME_MAX = 6 };
    if (k->context->v1 && json_string_length(value) > V1_POOL_NAME_MAX)
        FAULT(k, pointer, "wrong_length", NULL, "must have at most %d characters on a v1 account",
              V1_POOL_NAME_MAX);
}

static const struct member pool_members[] = {
    {"name", MEMBER_STRING, 1, 15, DNS_LABEL, check_pool_name},
    {"machine_type", MEMBER_STRING, 1, 63, NULL, check_machine_type},
    {"image", MEMBER_OBJECT, 0, 0, NULL, check_image},
    {"minimum", MEMBER_INTEGER, 0, 1000, NULL, NULL},
    {"maximum", MEMBER_INTEGER, 0, 1000, NULL, NULL},
    {"max_surge", MEMBER_INTEGER, 1, 1000, NULL,
     NULL}, /* max_unavailable is 0 at Cleura: not both may be 0 */
    {"volume_size_gib", MEMBER_INTEGER, 1, 65536, NULL, NULL},
    {"zones", MEMBER_ARRAY, 0, 0, NULL, check_zones},
    {"labels", MEMBER_OBJECT, 0, 0, NULL, check_labels},
    {"annotations", MEMBER_OBJECT, 0, 0, NULL, check_annotations},
    {"taints", MEMBER_ARRAY, 0, 0, NULL, check_taints},
};

static void check_pool(struct check *k, const char *pointer, const json_t *pool)
{
    check_object(k, pool_members, ARRAY_LEN(pool_members), pointer, pool);
    const json_t *defaults = k->context->defaults;
    int64_t minimum = json_int(pool, "minimum", json_int(defaults, "minimum", 1));
    int64_t maximum = json_int(pool, "maximum", json_int(defaults, "maximum", minimum > 3 ? minimum : 3));
    if (maximum < minimum) {
        char *here CLEANUP_FREE = mem_printf("%s/maximum", pointer);
        FAULT(k, here, "out_of_range", NULL, "must not be less than minimum (%lld)", (long long)minimum);
    }
}

static void check_pools(struct check *k, const char *pointer, const json_t *value)
{
    size_t i;
    json_t *pool;
    bool any_schedulable = false;
    if (!json_array_size(value)) {
        FAULT(k, pointer, "too_few", NULL, "must have at least one node pool");
        return;
    }
    json_array_foreach (value, i, pool) {
        char *here CLEANUP_FREE = mem_printf("%s/%zu", pointer, i);
        if (!json_is_object(pool)) {
            FAULT(k, here, "wrong_type", NULL, "must be an object");
            continue;
        }
        check_pool(k, here, pool);
        any_schedulable |= json_int(pool, "maximum", 3) > 0;
        const char *name = json_str(pool, "name");
        for (size_t j = 0; j < i && name; j++)
            if (!strcmp(name, json_str_or(json_array_get(value, j), "name", "")))
                FAULT(k, here, "duplicate", NULL, "the pool name '%s' is used twice", name);
        if (!name && json_array_size(value) > 1)
            FAULT(k, here, "missing_member", NULL, "needs a name when there are several pools");
    }
    if (!any_schedulable)
        FAULT(k, pointer, "out_of_range", NULL, "at least one pool must have a maximum above 0");
}

static bool cidr_is_canonical(const char *text)
{
    char address[INET_ADDRSTRLEN];
    const char *slash = strchr(text, '/');
    size_t len = slash ? (size_t)(slash - text) : 0;
    char *end;
    struct in_addr in;
    if (!slash || len >= sizeof(address))
        return false;
    memcpy(address, text, len);
    address[len] = '\0';
    long bits = strtol(slash + 1, &end, 10);
    if (inet_pton(AF_INET, address, &in) != 1 || end == slash + 1 || *end || bits < 0 || bits > 32)
        return false;
    uint32_t host_mask = bits == 32 ? 0 : UINT32_MAX >> bits;
    return (ntohl(in.s_addr) & host_mask) == 0;
}

static void check_cidr(struct check *k, const char *pointer, const json_t *value)
{
    if (!cidr_is_canonical(json_string_value(value)))
        FAULT(k, pointer, "wrong_form", NULL,
              "must be an IPv4 network such as 10.250.0.0/16, without host bits");
}

static void check_cidrs(struct check *k, const char *pointer, const json_t *value)
{
    size_t i;
    json_t *item;
    json_array_foreach (value, i, item) {
        char *here CLEANUP_FREE = mem_printf("%s/%zu", pointer, i);
        if (!json_is_string(item))
            FAULT(k, here, "wrong_type", NULL, "must be a string");
        else
            check_cidr(k, here, item);
    }
}

static void check_network_type(struct check *k, const char *pointer, const json_t *value)
{
    json_t *types CLEANUP_JSON = json_pack("[ss]", "calico", "cilium");
    check_listed(k, pointer, value, types, "a network type");
}

static void check_networking(struct check *k, const char *pointer, const json_t *value)
{
    static const struct member members[] = {
        {"type", MEMBER_STRING, 1, 16, NULL, check_network_type},
        {"nodes_cidr", MEMBER_STRING, 9, 18, NULL, check_cidr},
        {"floating_pool", MEMBER_STRING, 1, 255, NULL, check_floating_pool},
        {"network_id", MEMBER_STRING, 36, 36, UUID, NULL},
        {"router_id", MEMBER_STRING, 36, 36, UUID, NULL},
        {"load_balancer_provider", MEMBER_STRING, 1, 63, NULL, check_load_balancer},
        {"cilium", MEMBER_OBJECT, 0, 0, NULL, NULL},
    };
    check_object(k, members, ARRAY_LEN(members), pointer, value);
    if (json_obj(value, "cilium") && strcmp(json_str_or(value, "type", ""), "cilium") != 0) {
        char *here CLEANUP_FREE = mem_printf("%s/cilium", pointer);
        FAULT(k, here, "conflict", NULL, "needs networking.type cilium");
    }
    static const char *const v2_only[] = {"type", "load_balancer_provider", "cilium"};
    for (size_t i = 0; k->context->v1 && i < ARRAY_LEN(v2_only); i++) {
        if (!json_object_get(value, v2_only[i]))
            continue;
        char *here CLEANUP_FREE = mem_printf("%s/%s", pointer, v2_only[i]);
        FAULT(k, here, "not_in_v1", NULL, "cannot be set through a v1 account");
    }
}

static void check_schedules(struct check *k, const char *pointer, const json_t *value)
{
    static const struct member members[] = {
        {"start", MEMBER_STRING, 5, 100, CRON, NULL},
        {"end", MEMBER_STRING, 5, 100, CRON, NULL},
    };
    size_t i;
    json_t *schedule;
    json_array_foreach (value, i, schedule) {
        char *here CLEANUP_FREE = mem_printf("%s/%zu", pointer, i);
        if (!json_is_object(schedule)) {
            FAULT(k, here, "wrong_type", NULL, "must be an object");
            continue;
        }
        check_object(k, members, ARRAY_LEN(members), here, schedule);
        if (!json_str(schedule, "start") || !json_str(schedule, "end"))
            FAULT(k, here, "missing_member", NULL, "needs start and end");
    }
}

static void check_maintenance(struct check *k, const char *pointer, const json_t *value)
{
    static const struct member members[] = {
        {"begin", MEMBER_STRING, 11, 11, WINDOW_TIME, NULL},
        {"end", MEMBER_STRING, 11, 11, WINDOW_TIME, NULL},
        {"auto_update_kubernetes", MEMBER_BOOL, 0, 0, NULL, NULL},
        {"auto_update_machine_image", MEMBER_BOOL, 0, 0, NULL, NULL},
    };
    check_object(k, members, ARRAY_LEN(members), pointer, value);
    if (!json_str(value, "begin") != !json_str(value, "end"))
        FAULT(k, pointer, "missing_member", NULL, "needs both begin and end, or neither");
}

static void check_allowed_cidrs(struct check *k, const char *pointer, const json_t *value)
{
    check_cidrs(k, pointer, value);
    if (k->context->v1 && json_array_size(value))
        FAULT(k, pointer, "not_in_v1", NULL, "cannot be set through a v1 account");
}

static const struct member spec_members[] = {
    {"kubernetes_version", MEMBER_STRING, 1, 32, "^[0-9]+([.][0-9]+)*$", check_kubernetes_version},
    {"node_pools", MEMBER_ARRAY, 0, 0, NULL, check_pools},
    {"networking", MEMBER_OBJECT, 0, 0, NULL, check_networking},
    {"high_availability", MEMBER_BOOL, 0, 0, NULL, NULL},
    {"hibernation_schedules", MEMBER_ARRAY, 0, 0, NULL, check_schedules},
    {"maintenance", MEMBER_OBJECT, 0, 0, NULL, check_maintenance},
    {"allowed_cidrs", MEMBER_ARRAY, 0, 0, NULL, check_allowed_cidrs},
};

static void check_spec(struct check *k, const char *pointer, const json_t *value)
{
    check_object(k, spec_members, ARRAY_LEN(spec_members), pointer, value);
}

bool spec_name_is_valid(const char *name)
{
    size_t len = strlen(name);
    return len >= 1 && len <= 15 && matches(DNS_LABEL, name) && !strstr(name, "--");
}

static void check_name(struct check *k, const char *pointer, const json_t *value)
{
    if (!spec_name_is_valid(json_string_value(value)))
        FAULT(k, pointer, "wrong_form", NULL,
              "must have 1 to 15 characters a-z, 0-9 and '-', begin and end with a letter or digit, without "
              "'--'");
}

static const struct member body_members[] = {
    {"name", MEMBER_STRING, 0, 1000, NULL, check_name},
    {"labels", MEMBER_OBJECT, 0, 0, NULL, check_labels},
    {"description", MEMBER_STRING, 0, 1000, NULL, NULL},
    {"deletion_protection", MEMBER_BOOL, 0, 0, NULL, NULL},
    {"spec", MEMBER_OBJECT, 0, 0, NULL, check_spec},
};

void spec_check_body(const json_t *body, enum spec_use use, const struct spec_context *context,
                     struct problem **faults)
{
    struct check k = {context, faults};
    size_t skip = use == SPEC_PUT ? 1 : 0;
    check_object(&k, body_members + skip, ARRAY_LEN(body_members) - skip, "#", body);
    if (use == SPEC_CREATE && !json_object_get(body, "name"))
        FAULT(&k, "#/name", "missing_member", NULL, "is required");
}

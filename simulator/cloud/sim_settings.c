#include "simulator/cloud/sim_settings.h"

#include "base/attrs.h"

#include <stddef.h>
#include <string.h>

enum member_type { MEMBER_SECONDS, MEMBER_MS, MEMBER_STATUS, MEMBER_BOOL };

struct setting_member {
    const char *name;
    size_t offset;
    enum member_type type;
};

static const struct setting_member members[] = {
    {"stale_seconds", offsetof(struct sim_settings, stale_seconds), MEMBER_SECONDS},
    {"care_seconds", offsetof(struct sim_settings, care_seconds), MEMBER_SECONDS},
    {"delete_linger_seconds", offsetof(struct sim_settings, delete_linger_seconds), MEMBER_SECONDS},
    {"kubeconfig_cap_seconds", offsetof(struct sim_settings, kubeconfig_cap_seconds), MEMBER_SECONDS},
    {"list_cache_seconds", offsetof(struct sim_settings, list_cache_seconds), MEMBER_SECONDS},
    {"hibernated_lag_seconds", offsetof(struct sim_settings, hibernated_lag_seconds), MEMBER_SECONDS},
    {"latency_ms", offsetof(struct sim_settings, latency_ms), MEMBER_MS},
    {"action_status", offsetof(struct sim_settings, action_status), MEMBER_STATUS},
    {"invalid_token_status", offsetof(struct sim_settings, invalid_token_status), MEMBER_STATUS},
    {"refuse_before_pickup", offsetof(struct sim_settings, refuse_before_pickup), MEMBER_BOOL},
    {"v3_kubeconfig", offsetof(struct sim_settings, v3_kubeconfig), MEMBER_BOOL},
    {"auto_bootstrap", offsetof(struct sim_settings, auto_bootstrap), MEMBER_BOOL},
    {"require_bootstrap", offsetof(struct sim_settings, require_bootstrap), MEMBER_BOOL},
    {"hibernation_blocked", offsetof(struct sim_settings, hibernation_blocked), MEMBER_BOOL},
    {"escape_slashes", offsetof(struct sim_settings, escape_slashes), MEMBER_BOOL},
};

#define MEMBER_COUNT (ARRAY_LEN(members))

void settings_init(struct sim_settings *settings, const struct options *options)
{
    memset(settings, 0, sizeof(*settings));
    settings->stale_seconds = options->stale_seconds;
    settings->care_seconds = 30;
    settings->delete_linger_seconds = 5;
    settings->kubeconfig_cap_seconds = 86400;
    settings->latency_ms = options->latency_ms;
    settings->action_status = 202;
    settings->invalid_token_status = 403;
    settings->v3_kubeconfig = true;
    settings->require_bootstrap = true;
    for (int kind = 0; kind < RUN_KIND_MAX_; kind++)
        settings->durations[kind] = run_kind_seconds((enum run_kind)kind);
}

static const void *member_at(const struct sim_settings *settings, const struct setting_member *member)
{
    return (const char *)settings + member->offset;
}

static json_t *render_member(const struct sim_settings *settings, const struct setting_member *member)
{
    const void *at = member_at(settings, member);
    switch (member->type) {
    case MEMBER_SECONDS:
        return json_real(*(const double *)at);
    case MEMBER_MS:
        return json_integer((json_int_t) * (const unsigned *)at);
    case MEMBER_STATUS:
        return json_integer((json_int_t) * (const int *)at);
    case MEMBER_BOOL:
        return json_boolean(*(const bool *)at);
    }
    return json_null();
}

json_t *settings_render(const struct sim_settings *settings)
{
    json_t *object = json_object();
    json_t *durations = json_object();
    for (size_t i = 0; i < MEMBER_COUNT; i++)
        (void)json_object_set_new(object, members[i].name, render_member(settings, &members[i]));
    for (int kind = 0; kind < RUN_KIND_MAX_; kind++)
        (void)json_object_set_new(durations, run_kind_name((enum run_kind)kind),
                                  json_real(settings->durations[kind]));
    (void)json_object_set_new(object, "durations", durations);
    return object;
}

static bool is_allowed_status(const struct setting_member *member, json_int_t status)
{
    if (!strcmp(member->name, "action_status"))
        return status == 200 || status == 202 || status == 204;
    return status == 401 || status == 403;
}

static bool apply_member(struct sim_settings *settings, const struct setting_member *member,
                         const json_t *value)
{
    void *at = (char *)settings + member->offset;
    switch (member->type) {
    case MEMBER_SECONDS:
        if (!json_is_number(value) || json_number_value(value) < 0 || json_number_value(value) > 1e9)
            return false;
        *(double *)at = json_number_value(value);
        return true;
    case MEMBER_MS:
        if (!json_is_integer(value) || json_integer_value(value) < 0 || json_integer_value(value) > 600000)
            return false;
        *(unsigned *)at = (unsigned)json_integer_value(value);
        return true;
    case MEMBER_STATUS:
        if (!json_is_integer(value) || !is_allowed_status(member, json_integer_value(value)))
            return false;
        *(int *)at = (int)json_integer_value(value);
        return true;
    case MEMBER_BOOL:
        if (!json_is_boolean(value))
            return false;
        *(bool *)at = json_is_true(value);
        return true;
    }
    return false;
}

static const char *apply_durations(struct sim_settings *settings, const json_t *durations)
{
    const char *name;
    json_t *value;
    if (!json_is_object(durations))
        return "durations";
    for (void *at = json_object_iter((json_t *)(uintptr_t)durations); at;
         at = json_object_iter_next((json_t *)(uintptr_t)durations, at)) {
        enum run_kind kind;
        name = json_object_iter_key(at);
        value = json_object_iter_value(at);
        kind = run_kind_find(name);
        if (kind == RUN_KIND_INVALID || !json_is_number(value) || json_number_value(value) < 0 ||
            json_number_value(value) > 1e9)
            return "durations";
        settings->durations[kind] = json_number_value(value);
    }
    return NULL;
}

static const struct setting_member *member_find(const char *name)
{
    for (size_t i = 0; i < MEMBER_COUNT; i++)
        if (!strcmp(members[i].name, name))
            return &members[i];
    return NULL;
}

const char *settings_apply(struct sim_settings *settings, const json_t *changes)
{
    struct sim_settings changed = *settings;
    json_t *object = (json_t *)(uintptr_t)changes; /* jansson's iterators take no const pointer */
    for (void *at = json_object_iter(object); at; at = json_object_iter_next(object, at)) {
        const char *name = json_object_iter_key(at);
        const json_t *value = json_object_iter_value(at);
        const struct setting_member *member = member_find(name);
        if (!strcmp(name, "durations")) {
            const char *wrong = apply_durations(&changed, value);
            if (wrong)
                return wrong;
        } else if (!member || !apply_member(&changed, member, value)) {
            return name;
        }
    }
    *settings = changed;
    return NULL;
}

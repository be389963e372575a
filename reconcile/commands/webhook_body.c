#include <string.h>

#include "base/attrs.h"
#include "base/mem.h"
#include "model/string_list.h"
#include "reconcile/commands/body.h"
#include "reconcile/commands/webhooks.h"
#include "reconcile/world/world.h"

enum { DESCRIPTION_MAX_BYTES = 500 };

static const char *const create_members[] = {"url",     "event_types",   "projects",  "description",
                                             "headers", "max_in_flight", "signature", "secret"};
static const char *const patch_members[] = {"url",     "event_types",   "projects", "description",
                                            "headers", "max_in_flight", "enabled"};

static void set_text(char **place, const char *text)
{
    char *copy = mem_strdup(text);
    free(*place);
    *place = copy;
}

static void set_strings(char ***place, char **list)
{
    string_list_free(*place);
    *place = list;
}

/* ---- target ---- */

/* A caller that may change a webhook must not get the credentials that another caller put into its
 * headers. */
static void forget_headers(const struct command *cmd, struct subscription *s, struct problem **faults)
{
    if (!s->header_count)
        return;
    if (!json_object_get(cmd->body, "headers"))
        BODY_FAULT(
            faults, "#/headers", "missing_member", NULL,
            "must be given again, or be null, when the URL has another host: they may contain credentials");
    while (s->header_count)
        subscription_remove_header(s, s->headers[0].name);
}

static void apply_url(struct reconcile *r, const struct command *cmd, struct subscription *s,
                      struct problem **faults)
{
    const json_t *value = json_object_get(cmd->body, "url");
    if (!value && s->url)
        return;
    if (!json_is_string(value)) {
        BODY_FAULT(faults, "#/url", value ? "wrong_type" : "missing_member", NULL,
                   "is required: the URL to which events are posted");
        return;
    }
    webhook_check_url(r->o.config, json_string_value(value), faults);
    if (s->url && !webhook_same_origin(s->url, json_string_value(value)))
        forget_headers(cmd, s, faults);
    set_text(&s->url, json_string_value(value));
}

/* ---- events and projects ---- */

static void apply_lists(const struct command *cmd, struct subscription *s)
{
    const json_t *types = json_object_get(cmd->body, "event_types");
    const json_t *projects = json_object_get(cmd->body, "projects");
    if (types || !s->event_types)
        set_strings(&s->event_types, string_list_from_json(json_is_array(types) ? types : NULL));
    /* default: the projects that the creator may see */
    if (projects || !s->projects)
        set_strings(&s->projects, json_array_size(projects) ? string_list_from_json(projects)
                                                            : string_list_copy(cmd->caller.projects));
}

static void apply_header(struct reconcile *r, struct subscription *s, const char *name, const json_t *value,
                         struct problem **faults)
{
    char *pointer CLEANUP_FREE = json_pointer_to("#/headers", name);
    struct webhook_header header = {0};
    if (json_is_null(value)) {
        subscription_remove_header(s, name);
        return;
    }
    if (!json_is_string(value)) {
        BODY_FAULT(faults, pointer, "wrong_type", NULL, "must be a string, or null to remove it");
        return;
    }
    struct problem *before = *faults;
    size_t faults_before = before ? json_array_size(before->faults) : 0;
    webhook_check_header(name, json_string_value(value), pointer, faults);
    if (*faults && json_array_size((*faults)->faults) > faults_before)
        return;
    bool sealed = webhook_header_seal(r->env, r->o.key, s->id, name, json_string_value(value), &header);
    if (!sealed || !subscription_set_header(s, &header))
        BODY_FAULT(faults, pointer, "too_many", NULL, "is one too many: a webhook has at most %d headers",
                   SUBSCRIPTION_MAX_HEADERS);
    webhook_header_done(&header);
}

static void apply_headers(struct reconcile *r, const struct command *cmd, struct subscription *s,
                          struct problem **faults)
{
    json_t *headers = json_object_get(cmd->body, "headers");
    const char *name;
    json_t *value;
    if (json_is_null(headers))
        while (s->header_count)
            subscription_remove_header(s, s->headers[0].name);
    else if (headers && !json_is_object(headers))
        BODY_FAULT(faults, "#/headers", "wrong_type", NULL, "must be an object of strings");
    else
        json_object_foreach (headers, name, value)
            apply_header(r, s, name, value, faults);
}

static void apply_enabled(const struct reconcile *r, const struct command *cmd, struct subscription *s,
                          struct problem **faults)
{
    const json_t *value = json_object_get(cmd->body, "enabled");
    const bool disabled = json_is_false(value);
    if (!value)
        return;
    if (!json_is_boolean(value)) {
        BODY_FAULT(faults, "#/enabled", "wrong_type", NULL, "must be true or false");
        return;
    }
    if (disabled == s->disabled)
        return;
    char *reason CLEANUP_FREE = mem_printf("switched off with the token %s", cmd->caller.token_name);
    s->disabled = disabled;
    s->enabled_at = disabled ? s->enabled_at : env_wall(r->env);
    set_text(&s->disabled_reason, disabled ? reason : NULL);
}

void webhook_apply(struct reconcile *r, const struct command *cmd, struct subscription *s,
                   struct problem **faults)
{
    bool patch = cmd->type == COMMAND_WEBHOOK_PATCH;
    body_check_members(cmd->body, patch ? patch_members : create_members,
                       patch ? ARRAY_LEN(patch_members) : ARRAY_LEN(create_members), faults);
    body_check_event_types(cmd->body, "event_types", faults);
    body_check_projects(r, cmd, "projects", faults);
    body_check_text(cmd->body, "description", DESCRIPTION_MAX_BYTES, faults);
    body_check_number(cmd->body, "max_in_flight", 1, SUBSCRIPTION_MAX_IN_FLIGHT, true, faults);
    apply_url(r, cmd, s, faults);
    apply_lists(cmd, s);
    apply_headers(r, cmd, s, faults);
    if (patch)
        apply_enabled(r, cmd, s, faults);
    if (json_object_get(cmd->body, "description"))
        set_text(&s->description, json_str(cmd->body, "description"));
    if (json_object_get(cmd->body, "max_in_flight") || !s->max_in_flight)
        s->max_in_flight = (int)json_int(cmd->body, "max_in_flight", 1);
}

/* ---- keys ---- */

static bool key_of_owner(struct reconcile *r, const char *id, const json_t *secret,
                         enum signature_scheme scheme, struct signing_key *ret_key, char **ret_secret,
                         struct problem **faults)
{
    if (scheme != SIGNATURE_V1) {
        BODY_FAULT(faults, "#/secret", "conflict", NULL,
                   "is for the signature v1 only: the private key of v1a is made here and stays here");
        return false;
    }
    if (!json_is_string(secret) ||
        !webhook_key_given(r->env, r->o.key, id, json_string_value(secret), ret_key)) {
        BODY_FAULT(faults, "#/secret", "invalid_format", NULL,
                   "must be whsec_ and the base64 of 24 to 64 random bytes");
        return false;
    }
    *ret_secret = mem_strdup(json_string_value(secret));
    return true;
}

bool webhook_make_key(struct reconcile *r, const struct command *cmd, const char *id,
                      enum signature_scheme scheme, struct signing_key *ret_key, char **ret_secret,
                      struct problem **faults)
{
    const json_t *asked = json_object_get(cmd->body, "signature");
    const json_t *secret = json_object_get(cmd->body, "secret");
    int wanted = asked ? signature_scheme_from_name(json_string_value(asked)) : (int)scheme;
    *ret_secret = NULL;
    if (wanted < 0) {
        BODY_FAULT(faults, "#/signature", "unknown_value", json_pack("[ss]", "v1", "v1a"),
                   "must be v1 (HMAC-SHA256) or v1a (Ed25519)");
        return false;
    }
    if (secret && !json_is_null(secret))
        return key_of_owner(r, id, secret, (enum signature_scheme)wanted, ret_key, ret_secret, faults);
    return webhook_key_new(r->env, r->o.key, id, (enum signature_scheme)wanted, ret_key, ret_secret);
}

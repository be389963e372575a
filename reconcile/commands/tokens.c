/* Commands about API tokens. Loop thread. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/ids.h"
#include "base/log.h"
#include "base/mem.h"
#include "model/string_list.h"
#include "reconcile/answers/audit.h"
#include "reconcile/answers/reply.h"
#include "reconcile/commands/body.h"
#include "reconcile/commands/commands.h"
#include "reconcile/commands/decide.h"
#include "reconcile/commands/webhooks.h"
#include "reconcile/world/deciders.h"
#include "reconcile/world/events.h"
#include "reconcile/world/save.h"
#include "reconcile/world/token_registry.h"
#include "reconcile/world/world.h"
#include "view/render.h"

/* The event token.expiring is emitted this many days before a token expires. In descending order. */
static const int announced_ahead[] = {14, 1};

struct api_token *token_new(const struct reconcile *r, const char *name, enum role role, char **projects,
                            const char *created_by, char **ret_secret)
{
    char secret[TOKEN_BYTES];
    struct api_token *t = api_token_new(r->env, name, role, projects, created_by, secret);
    *ret_secret = mem_strdup(secret);
    explicit_bzero(secret, sizeof(secret));
    return t;
}

static void on_token_saved(struct save *save)
{
    reply_saved(save, "the token could not be stored");
}

/* ---- bodies ---- */

enum {
    NAME_MAX = 100,
    DESCRIPTION_MAX = 500,
    DAYS = 90 /* AU-4 */,
    DAYS_MAX = 3650,
    TOKENS_OF_A_MAKER = 1000, /* valid tokens that callers with one name have made */
    SHOWN_DAYS = 30 /* expired tokens are listed for this many days */,
    GRACE_S = 24 * 3600
};

#define DAY_US (24 * 3600 * US_PER_S)

static json_t *role_names(void)
{
    json_t *names = json_array();
    for (int i = 0; i < ROLE_MAX_; i++)
        json_append_take(names, json_string(role_name((enum role)i)));
    return names;
}

static void check_role(const json_t *body, struct problem **faults)
{
    const char *role = json_str(body, "role");
    if (!json_object_get(body, "role"))
        BODY_FAULT(faults, "#/role", "missing_member", role_names(),
                   "is required: viewer, kubeconfig, operator or admin");
    else if (!role || role_from_name(role) < 0)
        BODY_FAULT(faults, "#/role", "unknown_value", role_names(),
                   "must be viewer, kubeconfig, operator or admin");
}

/* Checks the required members: a create must have them, and a patch must not remove them. */
static void check_name_and_projects(struct reconcile *r, const struct command *cmd, struct problem **faults)
{
    const char *name = json_str(cmd->body, "name");
    const bool creates = cmd->type == COMMAND_TOKEN_CREATE;
    if ((creates || json_object_get(cmd->body, "name")) && (!name || !*name || strlen(name) > NAME_MAX))
        BODY_FAULT(faults, "#/name", name ? "wrong_length" : "missing_member", NULL,
                   "is required: 1 to 100 characters");
    if ((creates || json_object_get(cmd->body, "projects")) &&
        !json_array_size(json_arr(cmd->body, "projects")))
        BODY_FAULT(faults, "#/projects", "missing_member", NULL, "is required: project names, or [\"*\"]");
    body_check_projects(r, cmd, "projects", faults);
    body_check_text(cmd->body, "description", DESCRIPTION_MAX, faults);
}

/* Returns when the token expires, from the number of days in the body; 0: never. `otherwise` is the result
 * for a body without this number. */
static wall_us end_of_life(const json_t *body, wall_us now, wall_us otherwise)
{
    const json_t *days = json_object_get(body, "expires_in_days");
    if (!days)
        return otherwise;
    return json_is_null(days) ? 0 : now + json_integer_value(days) * DAY_US;
}

/* Returns the warning that is due now, in days before the token expires; 0: no new warning is due. */
static int days_to_announce(const struct api_token *t, wall_us now)
{
    int days = 0;
    for (size_t i = 0; i < ARRAY_LEN(announced_ahead); i++)
        if (t->expires_at - now <= announced_ahead[i] * DAY_US)
            days = announced_ahead[i];
    return !t->announced_days || days < t->announced_days ? days : 0;
}

/* Sets the expiry of the token. A warning that is already due at `since` is not emitted, because the caller
 * has just chosen this short lifetime. */
static void set_end(struct api_token *t, wall_us since, wall_us expires_at)
{
    t->expires_at = expires_at;
    t->announced_days = 0;
    t->announced_days = expires_at ? days_to_announce(t, since) : 0;
}

/* ---- creating ---- */

/* Returns the problem when the caller has made as many valid tokens as one caller may. Tokens that end by
 * themselves make room again. */
static struct problem *too_many_tokens(struct reconcile *r, const struct command *cmd)
{
    const wall_us now = env_wall(r->env);
    size_t count = 0;
    for (const struct token_entry *entry = r->tokens; entry; entry = entry->hh.next) {
        const struct api_token *t = entry->token;
        count += t->created_by && !strcmp(t->created_by, cmd->caller.token_name) && !t->revoked_at &&
                 (!t->expires_at || t->expires_at > now);
    }
    return count < TOKENS_OF_A_MAKER
               ? NULL
               : problem_new(PROBLEM_ACTION_NOT_POSSIBLE,
                             "%s has made %d valid tokens, which is the limit; delete some",
                             cmd->caller.token_name, TOKENS_OF_A_MAKER);
}

struct problem *command_token_create(struct reconcile *r, struct command *cmd)
{
    static const char *const members[] = {"name", "role", "projects", "description", "expires_in_days"};
    struct problem *faults = NULL;
    body_check_members(cmd->body, members, ARRAY_LEN(members), &faults);
    check_name_and_projects(r, cmd, &faults);
    check_role(cmd->body, &faults);
    body_check_number(cmd->body, "expires_in_days", 1, DAYS_MAX, true, &faults);
    if (!faults)
        faults = too_many_tokens(r, cmd);
    if (faults)
        return faults;
    char *secret = NULL;
    char **projects = string_list_from_json(json_arr(cmd->body, "projects"));
    struct api_token *t =
        token_new(r, json_str(cmd->body, "name"), (enum role)role_from_name(json_str(cmd->body, "role")),
                  projects, cmd->caller.token_name, &secret);
    string_list_free(projects);
    set_end(t, t->created_at, end_of_life(cmd->body, t->created_at, t->created_at + DAYS * DAY_US));
    mem_set_str(&t->description, json_str(cmd->body, "description"));
    log_info("token created", "token", t->id, "name", t->name, "by", cmd->caller.token_name);
    body_prepare_secret(cmd, 201, render_api_token_text(t), "token", secret);
    memcpy(cmd->id, t->id, sizeof(cmd->id));
    struct save *save = save_answer(r, on_token_saved, cmd);
    change_put_token(save->set, t);
    command_keep(save, cmd);
    save_submit(save, true);
    return NULL;
}

/* The sender repeats the command until the token is stored, so a token that exists already is not a fault. */
struct problem *command_token_hand_in(struct reconcile *r, struct command *cmd)
{
    uint8_t packed[ID_PACKED_BYTES];
    const struct token_entry *entry = NULL;
    struct api_token *t = api_token_from_json(cmd->body);
    if (!t || !id_pack(ID_TOKEN, t->id, packed)) {
        api_token_free(t);
        return problem_new(PROBLEM_VALIDATION_FAILED, "this is no token");
    }
    HASH_FIND_STR(r->tokens, t->id, entry);
    if (entry) {
        reply_json(cmd, 204, NULL);
        api_token_free(t);
        return NULL;
    }
    log_info("token created", "token", t->id, "name", t->name, "by", t->created_by);
    cmd->caller.token_name = mem_strdup(t->created_by);
    memcpy(cmd->id, t->id, sizeof(cmd->id));
    reply_prepare(cmd, 201, NULL);
    struct save *save = save_answer(r, on_token_saved, cmd);
    change_put_token(save->set, t);
    command_keep(save, cmd);
    save_submit(save, true);
    return NULL;
}

/* ---- changing ---- */

/* Finds the token of the command. An admin with limited projects neither sees nor changes a token with more
 * projects. */
static struct problem *token_of(struct reconcile *r, const struct command *cmd, struct token_entry **ret)
{
    HASH_FIND_STR(r->tokens, cmd->id, *ret);
    const bool is_seen =
        *ret && !(*ret)->is_leaving && projects_cover(cmd->caller.projects, (*ret)->token->projects);
    return is_seen ? NULL : problem_new(PROBLEM_NOT_FOUND, "no token %s", cmd->id);
}

static struct problem *token_precondition(const struct command *cmd, const struct api_token *t)
{
    char version[ETAG_BYTES];
    if (!cmd->preconditions)
        return NULL;
    render_api_token_version(t, version);
    return precondition_of(cmd, "token", "token", &(struct etag_current){.exists = true, .tag = version});
}

static bool rules_everything(const struct api_token *t, wall_us now)
{
    return t->role == ROLE_ADMIN && projects_include(t->projects, "*") && !t->revoked_at &&
           (!t->expires_at || t->expires_at > now);
}

/* Whether the token is the last token that can create tokens for all projects. A new token counts only when
 * it is stored, because the store may refuse it. */
static bool is_last_admin(struct reconcile *r, const struct api_token *t)
{
    wall_us now = env_wall(r->env);
    if (!rules_everything(t, now))
        return false;
    for (const struct token_entry *other = r->tokens; other; other = other->hh.next)
        if (other->token != t && rules_everything(other->token, now))
            return false;
    return true;
}

static struct problem *last_admin(const struct api_token *t)
{
    return problem_new(PROBLEM_LAST_ADMIN, "%s is the last token with the role admin and all projects",
                       t->id);
}

/* Called when the old secret of a rotation has expired. */
static void on_overlap_over(struct loop_timer *timer)
{
    struct token_entry *entry = CONTAINER_OF(timer, struct token_entry, overlap.timer);
    struct api_token *t = entry->token;
    const wall_us over = overlap_take(&entry->overlap);
    if (entry->r->stopping || entry->is_leaving)
        return;
    assert(t->old_ends_at == over);
    t->old_ends_at = 0;
    explicit_bzero(t->old_digest, sizeof(t->old_digest));
    struct save *save = save_new(entry->r, NULL, NULL);
    change_put_token(save->set, api_token_copy(t));
    save_submit(save, false);
}

void token_watch(struct token_entry *entry)
{
    entry->overlap.timer.fire = on_overlap_over;
    entry->overlap.timer.name = "end of an old token";
    overlap_set(entry->r->o.loop, &entry->overlap, entry->token->old_ends_at, env_wall(entry->r->env));
}

/* Takes over `t`, the new state of the token; the answer is prepared. */
static void change_token(struct reconcile *r, struct command *cmd, struct token_entry *entry,
                         struct api_token *t)
{
    assert(t != entry->token && !strcmp(t->id, entry->id));
    log_info("token changed", "token", t->id, "action", cmd->action_name, "by", cmd->caller.token_name);
    api_token_free(entry->token);
    entry->token = t;
    token_watch(entry);
    struct save *save = save_answer(r, command_reply_saved, cmd);
    change_put_token(save->set, api_token_copy(t));
    command_keep(save, cmd);
    save_submit(save, false);
}

static bool is_equal(const struct api_token *a, const struct api_token *b)
{
    json_t *left CLEANUP_JSON = api_token_to_json(a);
    json_t *right CLEANUP_JSON = api_token_to_json(b);
    return json_equal(left, right);
}

/* Returns a copy of the token with the changes of the body, which was checked. */
static struct api_token *patched(const struct api_token *old, const json_t *body)
{
    struct api_token *t = api_token_copy(old);
    if (json_object_get(body, "name"))
        mem_set_str(&t->name, json_str(body, "name"));
    if (json_object_get(body, "description"))
        mem_set_str(&t->description, json_str(body, "description"));
    if (json_object_get(body, "projects")) {
        string_list_free(t->projects);
        t->projects = string_list_from_json(json_arr(body, "projects"));
    }
    return t;
}

struct problem *command_token_patch(struct reconcile *r, struct command *cmd)
{
    static const char *const members[] = {"name", "projects", "description"};
    struct token_entry *entry;
    struct problem *faults = token_of(r, cmd, &entry);
    if (faults)
        return faults;
    body_check_members(cmd->body, members, ARRAY_LEN(members), &faults);
    check_name_and_projects(r, cmd, &faults);
    if (faults)
        return faults;
    struct api_token *t = patched(entry->token, cmd->body);
    if (is_last_admin(r, entry->token) && !projects_include(t->projects, "*"))
        faults = last_admin(entry->token);
    else
        faults = token_precondition(cmd, entry->token);
    if (faults) {
        api_token_free(t);
        return faults;
    }
    reply_prepare_text(cmd, 200, render_api_token_text(t));
    render_api_token_etag(t, cmd->reply.text, cmd->reply.etag);
    if (is_equal(t, entry->token)) {
        api_token_free(t);
        reply_unchanged(r, cmd);
    } else {
        change_token(r, cmd, entry, t);
    }
    return NULL;
}

/* Returns a copy of the token with a new secret. The current secret stays valid for the grace time. The old
 * secret of an earlier rotation becomes invalid now. */
static struct api_token *rotated(struct reconcile *r, const struct api_token *old, const json_t *body,
                                 char secret[static TOKEN_BYTES])
{
    struct api_token *t = api_token_copy(old);
    const wall_us now = env_wall(r->env), began = old->rotated_at ? old->rotated_at : old->created_at;
    const wall_us as_before = old->expires_at ? now + (old->expires_at - began) : 0;
    const int64_t grace_s = json_int(body, "grace_seconds", GRACE_S);
    memcpy(t->old_digest, old->digest, sizeof(t->old_digest));
    t->old_ends_at = grace_s ? now + grace_s * US_PER_S : 0;
    if (t->old_ends_at && old->expires_at && old->expires_at < t->old_ends_at)
        t->old_ends_at = old->expires_at;
    api_token_set_secret(t, r->env, secret);
    t->rotated_at = now;
    set_end(t, now, end_of_life(body, now, as_before));
    return t;
}

struct problem *command_token_rotate(struct reconcile *r, struct command *cmd)
{
    static const char *const members[] = {"grace_seconds", "expires_in_days"};
    struct token_entry *entry;
    struct problem *faults = token_of(r, cmd, &entry);
    char secret[TOKEN_BYTES];
    if (faults)
        return faults;
    body_check_members(cmd->body, members, ARRAY_LEN(members), &faults);
    body_check_number(cmd->body, "grace_seconds", 0, GRACE_S, false, &faults);
    body_check_number(cmd->body, "expires_in_days", 1, DAYS_MAX, true, &faults);
    if (!faults)
        faults = token_precondition(cmd, entry->token);
    if (faults)
        return faults;
    struct api_token *t = rotated(r, entry->token, cmd->body, secret);
    body_prepare_secret(cmd, 200, render_api_token_text(t), "token", mem_strdup(secret));
    explicit_bzero(secret, sizeof(secret));
    change_token(r, cmd, entry, t);
    return NULL;
}

/* ---- use ---- */

struct problem *command_token_used(struct reconcile *r, struct command *cmd)
{
    struct token_entry *entry;
    HASH_FIND_STR(r->tokens, cmd->caller.token_id, entry);
    if (entry && !entry->is_leaving) {
        entry->token->used_at = token_minute(env_wall(r->env));
        struct save *save = save_new(r, NULL, NULL);
        change_put_token(save->set, api_token_copy(entry->token));
        save_submit(save, true);
    }
    reply_json(cmd, 204, NULL);
    return NULL;
}

/* ---- ends ---- */

static void remove_token(struct save *save, struct token_entry *entry)
{
    assert(!entry->is_leaving);
    entry->is_leaving = true;
    entry->token->revoked_at = env_wall(save->r->env);
    change_delete_token(save->set, entry->id);
}

struct problem *command_token_delete(struct reconcile *r, struct command *cmd)
{
    struct token_entry *entry;
    struct problem *refusal = token_of(r, cmd, &entry);
    if (refusal)
        return refusal;
    if (is_last_admin(r, entry->token))
        return last_admin(entry->token);
    refusal = token_precondition(cmd, entry->token);
    if (refusal)
        return refusal;
    log_info("token revoked", "token", cmd->id, "by", cmd->caller.token_name);
    struct save *save = save_answer(r, command_reply_saved, cmd);
    remove_token(save, entry);
    entry->switches_off = cmd->token.disables_webhooks;
    webhooks_token_revoked(save, entry);
    cmd->reply.status = 204;
    audit_accepted(save, cmd);
    save_submit(save, false);
    return NULL;
}

static void look_at_token(struct reconcile *r, struct api_token *t, wall_us now)
{
    const int days = t->expires_at > now ? days_to_announce(t, now) : 0;
    if (!days)
        return;
    t->announced_days = days;
    struct save *save = save_new(r, NULL, NULL);
    change_put_token(save->set, api_token_copy(t));
    emit_token_expiring(save, t, (t->expires_at - now + DAY_US - 1) / DAY_US);
    save_submit(save, false);
}

/* Whether the token must be removed. A revoked token is removed at once; only earlier versions of shootd kept
 * it in the store. */
static bool is_over(const struct api_token *t, wall_us now)
{
    return t->revoked_at || (t->expires_at && t->expires_at + SHOWN_DAYS * DAY_US <= now);
}

void tokens_check(struct reconcile *r)
{
    const wall_us now = env_wall(r->env), settled = settled_clock_now(&r->settled);
    for (struct token_entry *entry = r->tokens; entry; entry = entry->hh.next) {
        if (entry->is_leaving)
            continue;
        if (!is_over(entry->token, settled)) {
            look_at_token(r, entry->token, now);
            continue;
        }
        log_info("token removed", "token", entry->id, "name", entry->token->name);
        struct save *save = save_new(r, NULL, NULL);
        remove_token(save, entry);
        save_submit(save, false);
    }
}

/* Commands about API tokens. Loop thread. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ids.h"
#include "base/log.h"
#include "base/mem.h"
#include "reconcile/answers/audit.h"
#include "reconcile/answers/reply.h"
#include "reconcile/commands/body.h"
#include "reconcile/commands/commands.h"
#include "reconcile/commands/decide.h"
#include "reconcile/commands/webhooks.h"
#include "reconcile/world/save.h"
#include "reconcile/world/world.h"
#include "view/render.h"

struct api_token *token_new(struct reconcile *r, const char *name, enum role role, char **projects,
                            const char *created_by, char **ret_secret)
{
    char secret[TOKEN_BYTES];
    assert(role < ROLE_MAX_ && projects && projects[0]);
    struct api_token *t = MEM_NEW(struct api_token);
    token_make(r->env, secret);
    token_digest(secret, t->digest);
    (void)id_new(r->env, ID_TOKEN, t->id);
    t->name = mem_strdup(name);
    t->role = role;
    t->projects = string_list_copy(projects);
    (void)snprintf(t->last4, sizeof(t->last4), "%s", secret + strlen(secret) - 4);
    t->created_by = mem_strdup(created_by);
    t->created_at = env_wall(r->env);
    *ret_secret = mem_strdup(secret);
    explicit_bzero(secret, sizeof(secret));
    struct token_entry *entry = MEM_NEW(struct token_entry);
    memcpy(entry->id, t->id, sizeof(entry->id));
    entry->token = t;
    HASH_ADD_STR(r->tokens, id, entry);
    return t;
}

static void on_token_saved(struct save *save)
{
    struct command *cmd = save->ctx;
    assert(save->set->count && save->set->changes[0].kind == CHANGE_TOKEN_PUT);
    const struct api_token *t = save->set->changes[0].token;
    if (save->status != STORE_OK) {
        struct token_entry *entry;
        HASH_FIND_STR(save->r->tokens, t->id, entry);
        if (entry) {
            HASH_DEL(save->r->tokens, entry);
            api_token_free(entry->token);
            free(entry);
        }
        reply_problem(cmd, problem_passing(PROBLEM_STORE_UNAVAILABLE, 5, "the token could not be stored"));
    } else {
        reply_prepared(save->r, cmd);
    }
}

static json_t *role_names(void)
{
    json_t *names = json_array();
    for (int i = 0; i < ROLE_MAX_; i++)
        (void)json_array_append_new(names, json_string(role_name((enum role)i)));
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

static void check_token(struct reconcile *r, const struct command *cmd, struct problem **faults)
{
    static const char *const members[] = {"name", "role", "projects", "expires_in_days"};
    const json_t *days = json_object_get(cmd->body, "expires_in_days");
    const char *name = json_str(cmd->body, "name");
    body_check_members(cmd->body, members, ARRAY_LEN(members), faults);
    if (!name || !*name || strlen(name) > 100)
        BODY_FAULT(faults, "#/name", name ? "wrong_length" : "missing_member", NULL,
                   "is required: 1 to 100 characters");
    check_role(cmd->body, faults);
    if (!json_array_size(json_arr(cmd->body, "projects")))
        BODY_FAULT(faults, "#/projects", "missing_member", NULL, "is required: project names, or [\"*\"]");
    body_check_projects(r, cmd, "projects", faults);
    if (days && !json_is_null(days) &&
        (!json_is_integer(days) || json_integer_value(days) < 1 || json_integer_value(days) > 3650))
        BODY_FAULT(faults, "#/expires_in_days", "out_of_range", NULL, "must be 1 to 3650");
}

void command_token_create(struct reconcile *r, struct command *cmd)
{
    struct problem *faults = NULL;
    check_token(r, cmd, &faults);
    if (faults) {
        reply_problem(cmd, faults);
        return;
    }
    char *secret = NULL;
    char **projects = string_list_from_json(json_arr(cmd->body, "projects"));
    struct api_token *t =
        token_new(r, json_str(cmd->body, "name"), (enum role)role_from_name(json_str(cmd->body, "role")),
                  projects, cmd->caller.token_name, &secret);
    string_list_free(projects);
    int64_t days = json_int(cmd->body, "expires_in_days", 0);
    t->expires_at = days ? t->created_at + days * 24 * 3600 * US_PER_S : 0;
    log_info("token created", "token", t->id, "name", t->name, "by", cmd->caller.token_name);
    body_prepare_secret(cmd, 201, render_api_token(t), "token", secret);
    struct save *save = save_answer(r, on_token_saved, cmd);
    change_put_token(save->set, api_token_copy(t));
    memcpy(cmd->id, t->id, sizeof(cmd->id));
    command_keep(save, cmd);
    save_submit(save, true);
}

void command_token_delete(struct reconcile *r, struct command *cmd)
{
    struct token_entry *entry;
    HASH_FIND_STR(r->tokens, cmd->id, entry);
    /* A limited admin neither sees nor touches a token that reaches further than its own. */
    if (!entry || entry->token->revoked_at || !projects_cover(cmd->caller.projects, entry->token->projects)) {
        reply_problem(cmd, problem_new(PROBLEM_NOT_FOUND, "no token %s", cmd->id));
        return;
    }
    entry->token->revoked_at = env_wall(r->env);
    log_info("token revoked", "token", cmd->id, "by", cmd->caller.token_name);
    struct save *save = save_answer(r, command_reply_saved, cmd);
    change_put_token(save->set, api_token_copy(entry->token));
    webhooks_token_revoked(save, entry->token, cmd->token.disables_webhooks);
    cmd->reply.status = 204;
    audit_accepted(save, cmd);
    save_submit(save, false);
}

/*
 * The permission of commands is decided here, because a token may be revoked, restricted or rotated, or may
 * expire, while a request is in progress. That may happen between the header section of a request and its
 * body, or while a command waits for Cleura, the store or an operation. On the loop, each change of a token
 * comes either before or after a command. Each command is checked before it is decided, and again before an
 * answer that only reports something (reply.c). The HTTP side has made the same check earlier, with the state
 * that was committed at that time.
 */
#include "reconcile/answers/permission.h"

#include <string.h>

#include "model/problem.h"
#include "model/string_list.h"
#include "reconcile/world/world.h"

/* Returns the caller's token if it is valid and the caller used one of its valid secrets, else NULL. */
static const struct api_token *find_token(struct reconcile *r, const struct command_caller *caller)
{
    const wall_us now = env_wall(r->env);
    struct token_entry *entry;
    HASH_FIND_STR(r->tokens, caller->token_id, entry);
    if (!entry || entry->is_leaving || !api_token_is_live(entry->token, now))
        return NULL;
    const struct api_token *t = entry->token;
    const bool by_secret = !memcmp(t->digest, caller->digest, sizeof(t->digest));
    const bool by_old_secret =
        t->old_ends_at > now && !memcmp(t->old_digest, caller->digest, sizeof(t->old_digest));
    return by_secret || by_old_secret ? t : NULL;
}

static struct problem *no_project(const struct command *cmd)
{
    const bool about_operation = cmd->type == COMMAND_OPERATION_WAIT || cmd->type == COMMAND_OPERATION_CANCEL;
    return about_operation ? problem_new(PROBLEM_OPERATION_NOT_FOUND,
                                         "There is no operation of this id that the token may see.")
                           : problem_no_project(cmd->project);
}

/* Whether the command concerns projects that the caller may not see any more. A read without a project in its
 * path concerns the projects in its query. Without such a query it concerns all projects that the caller
 * could see when the read began. A command about an operation is checked again when the operation is found,
 * because only then its project is known. */
static bool reaches_too_far(const struct command *cmd, const struct api_token *t)
{
    if (cmd->project || cmd->type == COMMAND_OPERATION_WAIT || !command_only_reads(cmd))
        return false;
    char *const *asked =
        cmd->type == COMMAND_EVENTS && cmd->events.projects ? cmd->events.projects : cmd->caller.projects;
    return !projects_cover(t->projects, asked);
}

static void take_over(struct command_caller *caller, const struct api_token *t)
{
    caller->role = t->role;
    string_list_free(caller->projects);
    caller->projects = string_list_copy(t->projects);
}

struct problem *permission_fault(struct reconcile *r, struct command *cmd)
{
    static const char gone[] = "The token is not known, expired or revoked.";
    struct command_caller *caller = &cmd->caller;
    if (!*caller->token_id || command_is(cmd, COMMAND_NOTES))
        return NULL;
    if (caller->holds) /* during a stop, the HTTP side may no longer exist */
        return r->stopping || caller->holds(caller) ? NULL : problem_new(PROBLEM_INVALID_TOKEN, "%s", gone);
    const struct api_token *t = find_token(r, caller);
    if (!t)
        return problem_new(PROBLEM_INVALID_TOKEN, "%s", gone);
    if (t->role < cmd->least_role)
        return problem_new(PROBLEM_FORBIDDEN, "This operation needs the role %s; the token has the role %s.",
                           role_name(cmd->least_role), role_name(t->role));
    if (cmd->needs_all_projects && !projects_include(t->projects, PROJECT_ALL))
        return problem_new(
            PROBLEM_FORBIDDEN,
            "This operation needs a token of all projects (\"*\"); the token is for some by now.");
    if (cmd->project && !api_token_sees_project(t, cmd->project))
        return no_project(cmd);
    if (reaches_too_far(cmd, t))
        return problem_new(PROBLEM_FORBIDDEN,
                           "The token sees fewer projects by now than when this was asked: ask again.");
    take_over(caller, t);
    return NULL;
}

bool permission_is_lost(struct reconcile *r, struct command *cmd)
{
    struct problem *fault CLEANUP_PROBLEM = permission_fault(r, cmd);
    return fault != NULL;
}

/*
 * Preconditions of writes (HT-17, HT-18). A tag names a cluster as a caller saw it: only its id and
 * generation are compared, so that a poll in between is no conflict (view/render.h). For node pools "*" is
 * about the pool and tags are the cluster's. Loop thread.
 */
#include <string.h>

#include "reconcile/answers/reply.h"
#include "reconcile/commands/commands.h"
#include "reconcile/world/entity.h"
#include "view/render.h"

static bool is_any(const char *list)
{
    if (!list)
        return false;
    list += strspn(list, " \t");
    return *list == '*' && !list[1 + strspn(list + 1, " \t")];
}

/* Whether a list of entity tags names the cluster as it is; weak tags count only in weak comparison. */
static bool names_current(const char *list, const struct cluster *c, bool weak)
{
    for (const char *p = strchr(list, '"'); p; p = strchr(p, '"')) {
        bool is_weak = p >= list + 2 && p[-1] == '/' && p[-2] == 'W';
        if ((weak || !is_weak) && render_cluster_etag_protects(p, c))
            return true;
        p = strchr(p + 1, '"');
        if (!p++)
            return false;
    }
    return false;
}

static bool precondition_failed(struct command *cmd, const char *why)
{
    reply_problem(cmd, problem_new(PROBLEM_PRECONDITION_FAILED, "%s", why));
    return false;
}

/* "*" is about the pool; adding one has no precondition of the kind that 409 would not tell. */
static bool pool_holds(struct command *cmd)
{
    if (cmd->write.pool == POOL_ADD)
        return true;
    if (cmd->write.pool_exists && is_any(cmd->write.if_none_match))
        return precondition_failed(cmd, "If-None-Match: * but the node pool exists");
    if (!cmd->write.pool_exists && is_any(cmd->write.if_match))
        return precondition_failed(cmd, "If-Match: * but there is no such node pool");
    return true;
}

bool command_precondition(struct command *cmd, const struct entity *e)
{
    bool about_pool = cmd->type == COMMAND_NODE_POOL;
    const char *match = cmd->write.if_match, *none_match = cmd->write.if_none_match;
    if (match && !e)
        return precondition_failed(cmd,
                                   "If-Match does not name the current version: there is no such cluster");
    if (match && !is_any(match) && !names_current(match, e->cluster, false))
        return precondition_failed(cmd, "If-Match does not name the current version");
    if (about_pool && !pool_holds(cmd))
        return false;
    if (!none_match || !e)
        return true;
    if (is_any(none_match))
        return about_pool || precondition_failed(cmd, "If-None-Match: * but the cluster exists");
    return !names_current(none_match, e->cluster, true) ||
           precondition_failed(cmd, "If-None-Match names the current version");
}

/* Whom a command is about; answered when that is not there, or set aside. Loop thread. */
#include "reconcile/answers/subject.h"

#include "reconcile/answers/reply.h"
#include "reconcile/world/entity.h"
#include "reconcile/world/project.h"
#include "reconcile/world/world.h"

bool location_refuses(const struct project *p, struct command *cmd)
{
    if (!p->set_aside)
        return false;
    reply_problem(cmd,
                  problem_new(PROBLEM_PROJECT_SET_ASIDE,
                              "the configuration names another place at Cleura for project '%s' than the "
                              "one where its clusters are known from",
                              p->config->name));
    return true;
}

struct project *command_project(struct reconcile *r, struct command *cmd)
{
    struct project *p = project_find(r, cmd->project);
    if (!p)
        reply_problem(cmd, problem_new(PROBLEM_PROJECT_NOT_FOUND, "no project '%s'", cmd->project));
    return p && !location_refuses(p, cmd) ? p : NULL;
}

struct entity *command_cluster(struct reconcile *r, struct command *cmd)
{
    if (!command_project(r, cmd))
        return NULL;
    struct entity *e = entity_find(r, cmd->project, cmd->name);
    if (!e)
        reply_problem(cmd, problem_new(PROBLEM_CLUSTER_NOT_FOUND, "no cluster '%s' in project '%s'",
                                       cmd->name, cmd->project));
    return e;
}

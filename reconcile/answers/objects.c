#include "reconcile/answers/objects.h"

#include "reconcile/answers/reply.h"
#include "reconcile/world/entity.h"
#include "reconcile/world/project.h"
#include "reconcile/world/world.h"

struct problem *problem_at_rest(const struct project *p)
{
    if (p->r->stopping)
        return problem_stopping();
    return p->config ? problem_passing(PROBLEM_UPSTREAM_UNAVAILABLE, 1,
                                       "the configuration of the project or its account was changed just now")
                     : problem_new(PROBLEM_PROJECT_NOT_FOUND,
                                   "the configuration does not name project '%s' any more", p->name);
}

struct problem *location_refusal(const struct project *p)
{
    if (p->place.resting)
        return problem_at_rest(p);
    return p->place.set_aside
               ? problem_new(PROBLEM_PROJECT_SET_ASIDE,
                             "project '%s' has another location at Cleura in the configuration than its "
                             "known clusters",
                             p->name)
               : NULL;
}

struct problem *problem_not_ready(const struct entity *e)
{
    struct problem *p =
        problem_new(PROBLEM_CLUSTER_NOT_READY, "the cluster is %s", phase_name(e->cluster->phase));
    p->retry_after_s = 15;
    if (entity_has_open_operation(e))
        reply_name_operation(p, e->op);
    return p;
}

struct problem *problem_not_managed(const struct cluster *c)
{
    return problem_new(PROBLEM_NOT_MANAGED, "cluster '%s' was not made through shootd", c->name);
}

struct problem *command_project(struct reconcile *r, const struct command *cmd, struct project **ret)
{
    struct project *p = project_find(r, cmd->project);
    struct problem *refusal = p ? location_refusal(p) : problem_no_project(cmd->project);
    *ret = refusal ? NULL : p;
    return refusal;
}

struct problem *command_cluster(struct reconcile *r, const struct command *cmd, struct entity **ret)
{
    struct project *p;
    struct problem *refusal = command_project(r, cmd, &p);
    *ret = p ? entity_find(r, cmd->project, cmd->name) : NULL;
    return refusal || *ret ? refusal : problem_no_cluster(cmd->project, cmd->name);
}

#include "reconcile/world/event_share.h"

#include "base/attrs.h"
#include "model/command.h"
#include "reconcile/world/project.h"

/*
 * A project may add SHARE_MIN events a day, or a tenth of events.keep_count if that is more, all at once or
 * one by one. The count is one time: `events_paid_until` is when all events so far would be a day old, if
 * they had been added at an even rate. Events without a project have one share together.
 */
enum { PARTS = 10, SHARE_MIN = 10000 };
#define DAY_US (24 * 3600 * US_PER_S)

static int64_t cost_us(const struct reconcile *r)
{
    const int64_t part = r->o.config->events.keep_count / PARTS;
    return DAY_US / (part > SHARE_MIN ? part : SHARE_MIN);
}

/* Returns NULL for an unknown project. */
static mono_us *share_of(struct reconcile *r, const char *project)
{
    struct project *p = project ? project_find(r, project) : NULL;
    return p ? &p->events_paid_until : project ? NULL : &r->events_paid_until;
}

void event_share_spend(struct reconcile *r, const char *project)
{
    mono_us *share = share_of(r, project);
    const mono_us now = env_mono(r->env);
    if (!share)
        return;
    if (*share < now)
        *share = now;
    *share += cost_us(r);
}

/* Returns the first project of the caller; NULL: the caller has all projects. */
static const char *project_of_caller(const struct command *cmd)
{
    char *const *projects = cmd->caller.projects;
    return projects_include(projects, "*") ? NULL : projects[0];
}

struct problem *event_share_refusal(struct reconcile *r, const struct command *cmd)
{
    const struct command_write *w = command_write_of(cmd);
    const bool is_of_webhook = !w;
    if (!command_is(cmd, COMMAND_SPENDS_EVENTS) || (w && (w->dry_run || !cmd->project)))
        return NULL;
    const char *project = is_of_webhook ? project_of_caller(cmd) : cmd->project;
    const mono_us *share = share_of(r, project);
    const int64_t ahead = share ? *share - env_mono(r->env) : 0;
    if (is_of_webhook && ahead <= DAY_US)
        event_share_spend(r,
                          project); /* not each of these changes adds an event, but each has an audit entry */
    if (ahead <= DAY_US)
        return NULL;
    struct problem *problem = problem_new(PROBLEM_TOO_MANY_REQUESTS,
                                          "%s%s added more events than a share of %lld in the last 24 hours",
                                          project ? "project " : "callers of all projects",
                                          project ? project : "", (long long)(DAY_US / cost_us(r)));
    problem_retry_in(problem, ahead - DAY_US);
    return problem;
}

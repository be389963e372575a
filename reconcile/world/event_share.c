#include "reconcile/world/event_share.h"

#include "model/command.h"
#include "reconcile/world/project.h"

/*
 * A project may add SHARE_MIN events a day, or a tenth of events.keep_count if that is more, all at once or
 * one by one. The count is one time: `events_paid_until` is when all events so far would be a day old, if
 * they had been added at an even rate.
 */
enum { PARTS = 10, SHARE_MIN = 10000 };
#define DAY_US (24 * 3600 * US_PER_S)

static int64_t cost_us(const struct reconcile *r)
{
    const int64_t part = r->o.config->events.keep_count / PARTS;
    return DAY_US / (part > SHARE_MIN ? part : SHARE_MIN);
}

void event_share_spend(struct reconcile *r, const char *project)
{
    struct project *p = project ? project_find(r, project) : NULL;
    const mono_us now = env_mono(r->env);
    if (!p)
        return;
    if (p->events_paid_until < now)
        p->events_paid_until = now;
    p->events_paid_until += cost_us(r);
}

static bool adds_events(const struct command *cmd)
{
    const struct command_write *w = command_write_of(cmd);
    return w && !w->dry_run && cmd->project && cmd->type != COMMAND_CLUSTER_DELETE;
}

struct problem *event_share_refusal(struct reconcile *r, const struct command *cmd)
{
    const struct project *p = adds_events(cmd) ? project_find(r, cmd->project) : NULL;
    const int64_t ahead = p ? p->events_paid_until - env_mono(r->env) : 0;
    if (ahead <= DAY_US)
        return NULL;
    struct problem *problem =
        problem_new(PROBLEM_TOO_MANY_REQUESTS,
                    "project %s has added more events than its share in the last 24 hours: %lld", p->name,
                    (long long)(DAY_US / cost_us(r)));
    problem_retry_in(problem, ahead - DAY_US);
    return problem;
}

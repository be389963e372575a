/* Decides when a cluster or a project is read next; poll.c reads it. Loop thread. */
#include "reconcile/world/schedule.h"

#include <assert.h>

#include "reconcile/world/entity.h"
#include "reconcile/world/project.h"
#include "reconcile/world/walk.h"

/* After a change, more changes may follow soon. Therefore the interval begins short, and doubles with every
 * unchanged answer, up to the idle interval. */
int64_t schedule_interval(const struct entity *e)
{
    const struct config *config = e->r->o.config;
    int64_t interval = config->polling.active_us;
    if (entity_is_active(e))
        return interval;
    for (unsigned i = 0; i < e->seen.unchanged_polls && interval < config->polling.idle_us; i++)
        interval *= 2;
    return interval < config->polling.idle_us ? interval : config->polling.idle_us;
}

bool schedule_fresh_is_wanted(const struct project *p)
{
    return !list_is_empty(&p->fresh.next);
}

void schedule_rearm(struct project *p)
{
    if (p->r->stopping || upstream_call_is_active(&p->poll.call) || walk_is_under_way(&p->poll.failure) ||
        project_is_at_rest(p))
        return;
    struct heap_item *first = heap_peek(&p->poll.due);
    mono_us at = p->poll.discovery_due;
    if (first && first->key < at)
        at = first->key;
    if (schedule_fresh_is_wanted(p))
        at = env_mono(p->r->env);
    loop_timer_set(p->r->o.loop, &p->poll.timer, at);
}

void schedule_list_soon(struct project *p)
{
    p->poll.discovery_due = env_mono(p->r->env);
    p->poll.list_again = upstream_call_is_active(&p->poll.call);
    schedule_rearm(p);
}

void schedule_soon(struct entity *e, int64_t in_us)
{
    assert(in_us >= 0 && e->project);
    heap_set(&e->project->poll.due, &e->due, env_mono(e->r->env) + in_us);
    schedule_rearm(e->project);
}

void schedule_forget(struct entity *e)
{
    heap_remove(&e->project->poll.due, &e->due);
}

/* A project from the configuration begins and ends. Loop thread. */
#include "reconcile/projects.h"

#include <stdlib.h>

#include "base/mem.h"
#include "reconcile/lookups/catalog.h"
#include "reconcile/observation/poll.h"
#include "reconcile/world/departed.h"
#include "reconcile/world/project.h"
#include "reconcile/world/world.h"

void project_init(struct project *p, struct reconcile *r, const struct config_project *config,
                  struct project_state *state)
{
    p->r = r;
    p->config = config;
    p->state = state;
    p->unremembered = !state;
    if (!state) {
        p->state = MEM_NEW(struct project_state);
        p->state->name = mem_strdup(config->name);
    }
    catalog_init(p);
    fresh_init(p);
    poll_init(p);
}

void project_done(struct project *p)
{
    loop_timer_clear(p->r->o.loop, &p->catalog_timer);
    loop_timer_clear(p->r->o.loop, &p->catalog_share);
    json_decref(p->catalog_shared);
    heap_done(&p->due);
    gone_forget_all(p);
    project_state_free(p->state);
    free(p->poll_name);
    free(p->last_error);
    free(p->shown);
    free(p);
}

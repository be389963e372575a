#include "upstream/fairness.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "base/attrs.h"
#include "base/mem.h"

enum { AVERAGE_OVER = 8 };

struct flow {
    UT_hash_handle hh;
    mono_us virtual_time; /* the virtual time at which its next call starts, if later than now */
    unsigned queued;
    char key[];
};

static struct flow *fairness_find_or_add(struct fairness *f, const char *region, const char *project_id,
                                         int priority)
{
    char *key CLEANUP_FREE =
        mem_printf("%d|%s|%s", priority, region ? region : "", project_id ? project_id : "");
    size_t len = strlen(key);
    struct flow *flow = NULL;
    HASH_FIND_STR(f->flows, key, flow);
    if (flow)
        return flow;
    flow = mem_calloc(1, sizeof(*flow) + len + 1);
    memcpy(flow->key, key, len + 1);
    HASH_ADD_STR(f->flows, key, flow);
    return flow;
}

mono_us fairness_join(struct fairness *f, struct fair_ticket *ticket, const char *region,
                      const char *project_id, int priority, int64_t cost_us, mono_us now)
{
    struct flow *flow = fairness_find_or_add(f, region, project_id, priority);
    mono_us start = flow->virtual_time > now ? flow->virtual_time : now;
    flow->virtual_time = start + cost_us;
    flow->queued++;
    *ticket = (struct fair_ticket){flow, cost_us};
    return start + (int64_t)priority * LANE_HANDICAP_S * US_PER_S;
}

void fairness_leave(struct fairness *f, struct fair_ticket *ticket, bool sent)
{
    struct flow *flow = ticket->flow;
    if (!flow)
        return;
    if (!sent)
        flow->virtual_time -= ticket->cost_us;
    *ticket = (struct fair_ticket){0};
    if (--flow->queued)
        return;
    HASH_DEL(f->flows, flow);
    free(flow);
}

void fairness_measure(struct fairness *f, int64_t duration_us)
{
    f->duration_us += (duration_us - f->duration_us) / AVERAGE_OVER;
}

int64_t fairness_cost(const struct fairness *f, int64_t spacing_us, int max_in_flight)
{
    int64_t cost = f->duration_us / (max_in_flight > 0 ? max_in_flight : 1);
    if (cost < spacing_us)
        cost = spacing_us;
    return cost < LANE_HANDICAP_S * US_PER_S ? cost : LANE_HANDICAP_S * US_PER_S;
}

/*
 * Shoots that were deleted, remembered for as long as a list may still show them
 * (CL-8): they are not discovered again. In memory only, a restart forgets them. Loop thread.
 */
#include "reconcile/world/gone.h"

#include <stdlib.h>

#include "base/mem.h"
#include "reconcile/world/entity.h"
#include "reconcile/world/project.h"

struct gone_shoot {
    UT_hash_handle hh;
    uuid_t uid;
    mono_us until;
};

static void forget_before(struct project *p, mono_us now)
{
    struct gone_shoot *g, *next;
    HASH_ITER (hh, p->gone, g, next) {
        if (g->until > now)
            continue;
        HASH_DEL(p->gone, g);
        free(g);
    }
}

static struct gone_shoot *find(struct project *p, const struct shoot *shoot)
{
    struct gone_shoot *g = NULL;
    forget_before(p, env_mono(p->r->env));
    if (shoot_has_uid(shoot))
        HASH_FIND(hh, p->gone, shoot->uid, sizeof(shoot->uid), g);
    return g;
}

void gone_remember(struct project *p, const struct shoot *shoot)
{
    struct gone_shoot *g = find(p, shoot);
    if (!shoot_has_uid(shoot))
        return;
    if (!g) {
        g = MEM_NEW(struct gone_shoot);
        uuid_copy(g->uid, shoot->uid);
        HASH_ADD(hh, p->gone, uid, sizeof(g->uid), g);
    }
    g->until = env_mono(p->r->env) + OBSERVE_LAG_S * US_PER_S;
}

bool gone_is_known(struct project *p, const struct shoot *shoot)
{
    return find(p, shoot) != NULL;
}

void gone_forget_all(struct project *p)
{
    forget_before(p, INT64_MAX);
}

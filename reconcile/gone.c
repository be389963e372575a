/*
 * Shoots that were deleted, remembered for as long as a list may still show them
 * (cleura-api.md 5.3): they are not discovered again. In memory only, a restart forgets them. Loop thread.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "reconcile/world_private.h"

struct gone_shoot {
    UT_hash_handle hh;
    char uid[64];
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

void gone_remember(struct project *p, const struct shoot *shoot)
{
    const char *uid = shoot_uid(shoot);
    const mono_us now = env_mono(p->r->env);
    struct gone_shoot *g;
    forget_before(p, now);
    if (!uid || strlen(uid) >= sizeof(g->uid))
        return;
    HASH_FIND_STR(p->gone, uid, g);
    if (!g) {
        g = MEM_NEW(struct gone_shoot);
        (void)snprintf(g->uid, sizeof(g->uid), "%s", uid);
        HASH_ADD_STR(p->gone, uid, g);
    }
    g->until = now + OBSERVE_LAG_S * US_PER_S;
}

bool gone_is_known(struct project *p, const struct shoot *shoot)
{
    const char *uid = shoot_uid(shoot);
    struct gone_shoot *g = NULL;
    forget_before(p, env_mono(p->r->env));
    if (uid)
        HASH_FIND_STR(p->gone, uid, g);
    return g != NULL;
}

void gone_forget_all(struct project *p)
{
    forget_before(p, INT64_MAX);
}

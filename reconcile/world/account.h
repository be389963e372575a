/* An account at Cleura as the reconciler knows it. Loop thread. */
#ifndef RECONCILE_WORLD_ACCOUNT_H
#define RECONCILE_WORLD_ACCOUNT_H

#include "base/list.h"
#include "reconcile/world/world.h"
#include "upstream/upstream.h"

struct account {
    const struct config_account *config;
    struct reconcile *r;
    struct upstream_account *lane;
    struct account_state *remembered; /* as last given to the store; has failed_told */
    struct list login_waiters;        /* struct waiting */
    struct list verify_waiters;
    struct walk resumption; /* what waited for a login is taken up */
    char *shown;            /* last published JSON, to publish only changes */
};

#endif

/*
 * What the API of an account can do. Each upstream driver states it as constant data (upstream/wire/). All
 * other folders ask for the ability that they need, and never which API it is. Therefore a new API changes
 * only upstream/, and config/, where a word chooses it. The struct is in model/, because the checks of specs
 * use it, and model/ knows no upstream.
 *
 * Two kinds of abilities are not here, because they are stated elsewhere: upstream_supports says which calls
 * the API has (quota, checks of upgrades, ...), and each answer shows what it contains (a uid in the answer
 * to a create, the time of the last operation).
 */
#ifndef MODEL_UPSTREAM_ABILITIES_H
#define MODEL_UPSTREAM_ABILITIES_H

#include <stdbool.h>
#include <stddef.h>

struct upstream_abilities {
    const char *api;               /* the name of the API in the configuration, in answers and in messages */
    size_t pool_name_max;          /* the largest length of a pool's name */
    const char *default_pool_name; /* the name of a pool for which a create has no name */
    bool sets_allowed_cidrs;
    bool sets_network_type;
    bool sets_load_balancer; /* load_balancer_provider */
    bool sets_cilium;
};

#endif

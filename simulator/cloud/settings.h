/* The settings that /_sim/settings can change while the simulator runs. */
#ifndef SIMULATOR_CLOUD_SETTINGS_H
#define SIMULATOR_CLOUD_SETTINGS_H

#include "simulator/cloud/lifecycle.h"
#include "simulator/cloud/options.h"

#include <jansson.h>
#include <stdbool.h>

struct settings {
    double stale_seconds;
    double care_seconds;
    double delete_linger_seconds;
    double kubeconfig_cap_seconds;
    double list_cache_seconds;       /* every other list of shoots is up to this old */
    double hibernated_lag_seconds;   /* the flag turns this long after the end of the run */
    double durations[RUN_KIND_MAX_]; /* seconds per kind of run */
    unsigned latency_ms;
    int action_status;
    int invalid_token_status;
    bool refuse_before_pickup; /* a write that comes before the pick-up of the one before is 409, not taken in
                                */
    bool v3_kubeconfig;
    bool auto_bootstrap;
    bool require_bootstrap;
    bool hibernation_blocked; /* the constraint HibernationPossible is False, hibernate is refused */
    bool escape_slashes;      /* in v2 answers too */
};

void settings_init(struct settings *settings, const struct options *options);
json_t *settings_render(const struct settings *settings);
/* Changes what the object names. Returns NULL, or the name of the first member that is wrong
 * (then nothing was changed). */
const char *settings_apply(struct settings *settings, const json_t *changes);

#endif

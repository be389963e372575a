/* The settings that /_sim/settings can change at run time. */
#ifndef SIMULATOR_CLOUD_SIM_SETTINGS_H
#define SIMULATOR_CLOUD_SIM_SETTINGS_H

#include "simulator/cloud/lifecycle.h"
#include "simulator/cloud/options.h"

#include <jansson.h>
#include <stdbool.h>

struct sim_settings {
    double stale_seconds;
    double care_seconds;
    double delete_linger_seconds;
    double kubeconfig_cap_seconds;
    double list_cache_seconds;       /* every second answer with a list of shoots is from a cache; this is the
                                      * maximum age of that list */
    double hibernated_lag_seconds;   /* the delay of the flag `hibernated` after the end of the run */
    double durations[RUN_KIND_MAX_]; /* the duration of each kind of run, in seconds */
    unsigned latency_ms;
    int action_status;
    int invalid_token_status;
    bool refuse_before_pickup; /* whether a write is answered with 409 when an earlier write has not started;
                                * otherwise both become one run */
    bool v3_kubeconfig;
    bool auto_bootstrap;
    bool require_bootstrap;
    bool hibernation_blocked; /* the constraint HibernationPossible is False, and the hibernate action is
                               * refused */
    bool escape_slashes;      /* slashes are escaped in answers of v2, too */
};

void settings_init(struct sim_settings *settings, const struct options *options);
json_t *settings_render(const struct sim_settings *settings);
/* Changes the members in the object. Returns NULL, or the name of the first invalid member; then nothing was
 * changed. */
const char *settings_apply(struct sim_settings *settings, const json_t *changes);

#endif

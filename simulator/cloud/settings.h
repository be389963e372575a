/* The settings that /_sim/settings can change at run time. */
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
    double list_cache_seconds;       /* limit for the age of every other list of shoots */
    double hibernated_lag_seconds;   /* delay of the flag after the end of the run */
    double durations[RUN_KIND_MAX_]; /* seconds per kind of run */
    unsigned latency_ms;
    int action_status;
    int invalid_token_status;
    bool refuse_before_pickup; /* a write before the start of the earlier one is answered with 409 instead of
                                  joining it */
    bool v3_kubeconfig;
    bool auto_bootstrap;
    bool require_bootstrap;
    bool hibernation_blocked; /* the constraint HibernationPossible is False, and hibernate is refused */
    bool escape_slashes;      /* also in v2 answers */
};

void settings_init(struct settings *settings, const struct options *options);
json_t *settings_render(const struct settings *settings);
/* Changes the members in the object. Returns NULL, or the name of the first invalid member; then nothing was
 * changed. */
const char *settings_apply(struct settings *settings, const json_t *changes);

#endif

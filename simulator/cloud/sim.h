/* The whole simulated cloud. `lock` protects all members except the options. No thread holds the lock while
 * the thread sleeps or sends to a client. */
#ifndef SIMULATOR_CLOUD_SIM_H
#define SIMULATOR_CLOUD_SIM_H

#include "base/list.h"
#include "simulator/cloud/clock.h"
#include "simulator/cloud/faults.h"
#include "simulator/cloud/options.h"
#include "simulator/cloud/random.h"
#include "simulator/cloud/request_log.h"
#include "simulator/cloud/sim_settings.h"
#include "simulator/cloud/sim_shoot.h"
#include "simulator/cloud/sim_tokens.h"

#include <jansson.h>
#include <pthread.h>
#include <stdbool.h>

struct kubeconfig_authority;

struct sim {
    const struct options *options;
    pthread_mutex_t lock;
    pthread_cond_t stop_signal;
    bool stopping;
    unsigned releases; /* an increase of this number ends all current sleeps */
    bool down;
    struct sim_clock clock;
    struct random_source random;
    struct sim_settings settings;
    struct auth auth;
    struct sim_shoot *shoots; /* a table, see sim_shoot.h */
    struct list unsettled;    /* shoots whose runs may change without a request; the first ones came first */
    json_t *bootstrapped;     /* an object with a member "region/project" for each bootstrapped project */
    json_t *catalog;          /* the v2 cloud profile */
    struct script *scripts;
    struct faults faults;
    json_t *replay;      /* an array of the recorded answers that were not used yet */
    json_t *list_caches; /* cached lists of shoots, see list_of_a_node in sim_clusters.c */
    struct request_log log;
    struct kubeconfig_authority *authority;
};

struct sim *sim_new(const struct options *options);
struct sim *sim_free(struct sim *sim);
/* Sleeps in real time. Called without the lock. sim_release ends the sleep early. Returns true when the
 * simulator stops. */
bool sim_sleep_ms(struct sim *sim, unsigned ms);
/* Ends every sleep. Called with the lock. */
void sim_release(struct sim *sim);
void sim_stop(struct sim *sim);

/* Returns the tag in the spelling of the configuration; NULL when the configuration does not name the tag. */
const char *sim_region(const struct sim *sim, const char *tag, bool any_case);
const char *sim_project(const struct sim *sim, const char *id);
bool sim_is_bootstrapped(const struct sim *sim, const char *region, const char *project);
void sim_bootstrap(struct sim *sim, const char *region, const char *project);

#endif

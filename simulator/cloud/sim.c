#include "simulator/cloud/sim.h"

#include "base/lock.h"
#include "base/mem.h"
#include "simulator/cloud/sim_catalog.h"
#include "simulator/cloud/certificate.h"
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

struct sim *sim_new(const struct options *options)
{
    struct sim *sim = mem_calloc(1, sizeof(*sim));
    assert(options->region_count <= OPTIONS_TAGS_MAX && options->project_count <= OPTIONS_TAGS_MAX);
    pthread_condattr_t attributes;
    sim->options = options;
    mutex_init(&sim->lock);
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&sim->stop_signal, &attributes);
    (void)pthread_condattr_destroy(&attributes);
    clock_init(&sim->clock, options->speed);
    random_init(&sim->random, options->seed);
    settings_init(&sim->settings, options);
    request_log_init(&sim->log);
    list_init(&sim->unsettled);
    sim->bootstrapped = json_object();
    sim->replay = json_array();
    sim->list_caches = json_object();
    sim->catalog = catalog_new(options, sim->clock.started_sim_us);
    sim->authority = kubeconfig_authority_new();
    return sim;
}

struct sim *sim_free(struct sim *sim)
{
    if (!sim)
        return NULL;
    assert(!sim->log.in_flight); /* the server was stopped before, so no request is in flight */
    shoot_remove_all(&sim->shoots);
    lifecycle_clear_scripts(sim);
    faults_clear(&sim->faults);
    tokens_done(&sim->auth);
    request_log_done(&sim->log);
    json_decref(sim->bootstrapped);
    json_decref(sim->replay);
    json_decref(sim->list_caches);
    json_decref(sim->catalog);
    kubeconfig_authority_free(sim->authority);
    cond_done(&sim->stop_signal);
    mutex_done(&sim->lock);
    free(sim);
    return NULL;
}

bool sim_sleep_ms(struct sim *sim, unsigned ms)
{
    int64_t until_us = clock_monotonic_us() + (int64_t)ms * 1000;
    struct timespec until = {.tv_sec = (time_t)(until_us / US_PER_SECOND),
                             .tv_nsec = (long)(until_us % US_PER_SECOND) * 1000};
    bool stopping;
    mutex_lock(&sim->lock);
    unsigned releases = sim->releases;
    while (!sim->stopping && sim->releases == releases && clock_monotonic_us() < until_us)
        (void)pthread_cond_timedwait(&sim->stop_signal, &sim->lock, &until);
    stopping = sim->stopping;
    mutex_unlock(&sim->lock);
    return stopping;
}

void sim_release(struct sim *sim)
{
    sim->releases++;
    cond_broadcast(&sim->stop_signal);
}

void sim_stop(struct sim *sim)
{
    mutex_lock(&sim->lock);
    sim->stopping = true;
    cond_broadcast(&sim->stop_signal);
    mutex_unlock(&sim->lock);
}

const char *sim_region(const struct sim *sim, const char *tag, bool any_case)
{
    for (size_t i = 0; i < sim->options->region_count; i++) {
        const char *known = sim->options->regions[i];
        if (any_case ? !strcasecmp(known, tag) : !strcmp(known, tag))
            return known;
    }
    return NULL;
}

const char *sim_project(const struct sim *sim, const char *id)
{
    for (size_t i = 0; i < sim->options->project_count; i++)
        if (!strcasecmp(sim->options->projects[i], id))
            return sim->options->projects[i];
    return NULL;
}

static void bootstrap_key(const char *region, const char *project, char *out, size_t size)
{
    (void)snprintf(out, size, "%s/%s", region, project);
}

bool sim_is_bootstrapped(const struct sim *sim, const char *region, const char *project)
{
    char key[256];
    if (sim->settings.auto_bootstrap || !sim->settings.require_bootstrap)
        return true;
    bootstrap_key(region, project, key, sizeof(key));
    return json_object_get(sim->bootstrapped, key);
}

void sim_bootstrap(struct sim *sim, const char *region, const char *project)
{
    char key[256];
    bootstrap_key(region, project, key, sizeof(key));
    (void)json_object_set_new(sim->bootstrapped, key, json_true());
}

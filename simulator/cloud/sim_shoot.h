/* One shoot: the requested state (spec) and the progress of the backend (runs). The lock of struct sim
 * protects it. */
#ifndef SIMULATOR_CLOUD_SIM_SHOOT_H
#define SIMULATOR_CLOUD_SIM_SHOOT_H

#include "base/list.h"
#include "simulator/cloud/lifecycle.h"
#include "simulator/cloud/random.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uthash.h>

#define SHOOT_NAME_MAX      63
#define GARDEN_PROJECT_SIZE 7
#define NODES_SHOWN_MAX     200

enum ca_stage {
    CA_NOT_INITIATED,
    CA_PREPARE,
    CA_PREPARING,
    CA_PREPARED,
    CA_COMPLETE,
    CA_COMPLETING,
    CA_COMPLETED,
    CA_STAGE_MAX_
};

/* `spec` has the simulator's own form of the spec. Its members are kubernetes_version, floating_pool_name,
 * load_balancer_provider, network_id, router_id, workers_cidr, allowed_cidrs, high_availability, schedules,
 * maintenance, networking_type, cilium, and workers (an array; each worker has the form of API v2). */
struct sim_shoot {
    UT_hash_handle hh;     /* by name; the iteration follows the order of creation */
    struct list unsettled; /* in sim->unsettled, while it may change without a request */
    char *name;
    char *region;
    char *project;
    char uid[UUID_TEXT_SIZE];
    char network_id[UUID_TEXT_SIZE];
    char router_id[UUID_TEXT_SIZE];
    char garden_project[GARDEN_PROJECT_SIZE];
    json_t *spec;
    struct run run;
    struct run queued;
    bool has_run;
    bool has_queued;
    bool ever_succeeded;
    bool hibernated;
    int64_t flag_turns_us; /* until this time, answers show the earlier value of `hibernated` */
    bool deleting;
    bool gone;
    enum ca_stage ca_stage;
    int ca_generation;
    int64_t created_us;
    int64_t care_until_us;
    json_t *held; /* NULL, or the conditions and constraints that a test has set, see conditions.h */
};

/* Makes a shoot, and takes over `spec`. */
struct sim_shoot *shoot_new(struct random_source *random, const char *name, const char *region,
                            const char *project, json_t *spec);
struct sim_shoot *shoot_free(struct sim_shoot *shoot);

/* A table of shoots is a pointer to the first one; NULL: there is none. A name is used only once, also in
 * several projects. shoot_find returns NULL if there is no such shoot; when `project` is NULL, the shoot may
 * be in any project. */
struct sim_shoot *shoot_find(struct sim_shoot *shoots, const char *region, const char *project,
                             const char *name);
void shoot_add(struct sim_shoot **shoots, struct sim_shoot *shoot);
/* Returns the shoot that follows in the order of creation; NULL after the last. */
struct sim_shoot *shoot_next(const struct sim_shoot *shoot);
void shoot_remove(struct sim_shoot **shoots, struct sim_shoot *shoot);
void shoot_remove_all(struct sim_shoot **shoots);

void shoot_garden_project(const char *project, char out[GARDEN_PROJECT_SIZE]);
const char *ca_stage_name(enum ca_stage stage);
enum ca_stage ca_stage_find(const char *name);

json_t *shoot_worker(const struct sim_shoot *shoot, const char *name);
size_t shoot_worker_index(const struct sim_shoot *shoot, const char *name);
/* Whether the OpenStack network exists, so that its ids may be shown. */
bool shoot_has_infrastructure(const struct sim_shoot *shoot, int64_t now_us);
/* Whether the API server has an address, so that kubeconfigs are possible. */
bool shoot_has_api_server(const struct sim_shoot *shoot, int64_t now_us);
/* Returns the flag `hibernated` that answers show. This flag may change later than the state. */
bool shoot_shows_hibernated(const struct sim_shoot *shoot, int64_t now_us);
/* Return the number of running nodes of a group, and the name of a node by its index. */
size_t shoot_node_count(const struct sim_shoot *shoot, const json_t *worker, int64_t now_us);
void shoot_node_name(const struct sim_shoot *shoot, const json_t *worker, size_t index, char *out,
                     size_t size);

#endif

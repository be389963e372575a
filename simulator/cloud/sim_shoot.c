#include "simulator/cloud/sim_shoot.h"

#include "base/mem.h"
#include "simulator/cloud/sim.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROGRESS_INFRASTRUCTURE 20
#define PROGRESS_API_SERVER     29
#define PROGRESS_NODES          88

static const char *const ca_stages[CA_STAGE_MAX_] = {
    [CA_NOT_INITIATED] = "NotInitiated", [CA_PREPARE] = "Prepare",   [CA_PREPARING] = "Preparing",
    [CA_PREPARED] = "Prepared",          [CA_COMPLETE] = "Complete", [CA_COMPLETING] = "Completing",
    [CA_COMPLETED] = "Completed",
};

const char *ca_stage_name(enum ca_stage stage)
{
    assert(stage < CA_STAGE_MAX_);
    return ca_stages[stage];
}

enum ca_stage ca_stage_find(const char *name)
{
    for (int i = 0; name && i < CA_STAGE_MAX_; i++)
        if (!strcmp(ca_stages[i], name))
            return (enum ca_stage)i;
    return CA_STAGE_MAX_;
}

void shoot_garden_project(const char *project, char out[GARDEN_PROJECT_SIZE])
{
    random_spell(random_hash(1, project), "abcdefghijklmnopqrstuvwxyz", out, GARDEN_PROJECT_SIZE);
}

struct sim_shoot *shoot_new(struct random_source *random, const char *name, const char *region,
                            const char *project, json_t *spec)
{
    struct sim_shoot *shoot = mem_calloc(1, sizeof(*shoot));
    shoot->name = mem_strdup(name);
    shoot->region = mem_strdup(region);
    shoot->project = mem_strdup(project);
    shoot->spec = spec;
    random_uuid(random, shoot->uid);
    random_uuid(random, shoot->network_id);
    random_uuid(random, shoot->router_id);
    shoot_garden_project(project, shoot->garden_project);
    return shoot;
}

struct sim_shoot *shoot_free(struct sim_shoot *shoot)
{
    if (!shoot)
        return NULL;
    list_remove(&shoot->unsettled);
    run_done(&shoot->run);
    run_done(&shoot->queued);
    json_decref(shoot->spec);
    json_decref(shoot->held);
    free(shoot->name);
    free(shoot->region);
    free(shoot->project);
    free(shoot);
    return NULL;
}

struct sim_shoot *shoot_find(struct sim_shoot *shoots, const char *region, const char *project,
                             const char *name)
{
    struct sim_shoot *shoot;
    HASH_FIND_STR(shoots, name, shoot);
    if (shoot && project && (strcmp(shoot->region, region) != 0 || strcmp(shoot->project, project) != 0))
        return NULL;
    return shoot;
}

void shoot_add(struct sim_shoot **shoots, struct sim_shoot *shoot)
{
    assert(!shoot_find(*shoots, NULL, NULL, shoot->name));
    HASH_ADD_KEYPTR(hh, *shoots, shoot->name, strlen(shoot->name), shoot);
}

struct sim_shoot *shoot_next(const struct sim_shoot *shoot)
{
    return shoot->hh.next;
}

void shoot_remove(struct sim_shoot **shoots, struct sim_shoot *shoot)
{
    HASH_DEL(*shoots, shoot);
    shoot_free(shoot);
}

void shoot_remove_all(struct sim_shoot **shoots)
{
    while (*shoots)
        shoot_remove(shoots, *shoots);
}

json_t *shoot_worker(const struct sim_shoot *shoot, const char *name)
{
    json_t *workers = json_object_get(shoot->spec, "workers");
    return json_array_get(workers, shoot_worker_index(shoot, name));
}

size_t shoot_worker_index(const struct sim_shoot *shoot, const char *name)
{
    json_t *workers = json_object_get(shoot->spec, "workers");
    json_t *worker;
    size_t i;
    json_array_foreach (workers, i, worker) {
        if (!strcmp(json_string_value(json_object_get(worker, "name")), name))
            return i;
    }
    return json_array_size(workers);
}

/* Returns the progress of the create; 100 when the shoot was ready before. */
static int created_to(const struct sim_shoot *shoot, int64_t now_us)
{
    if (shoot->ever_succeeded)
        return 100;
    return shoot->has_run && shoot->run.kind == RUN_CREATE ? lifecycle_progress(shoot, now_us) : 0;
}

bool shoot_has_infrastructure(const struct sim_shoot *shoot, int64_t now_us)
{
    return created_to(shoot, now_us) >= PROGRESS_INFRASTRUCTURE;
}

static bool is_torn_down(const struct sim_shoot *shoot, int64_t now_us, int progress)
{
    return shoot->has_run && shoot->run.kind == RUN_DELETE && lifecycle_progress(shoot, now_us) >= progress;
}

bool shoot_has_api_server(const struct sim_shoot *shoot, int64_t now_us)
{
    return created_to(shoot, now_us) >= PROGRESS_API_SERVER && !is_torn_down(shoot, now_us, 70);
}

bool shoot_shows_hibernated(const struct sim_shoot *shoot, int64_t now_us)
{
    return now_us < shoot->flag_turns_us ? !shoot->hibernated : shoot->hibernated;
}

size_t shoot_node_count(const struct sim_shoot *shoot, const json_t *worker, int64_t now_us)
{
    json_int_t count = json_integer_value(json_object_get(worker, "minimum"));
    if (shoot->hibernated || created_to(shoot, now_us) < PROGRESS_NODES || is_torn_down(shoot, now_us, 40))
        return 0;
    return count > NODES_SHOWN_MAX ? NODES_SHOWN_MAX : (size_t)count;
}

void shoot_node_name(const struct sim_shoot *shoot, const json_t *worker, size_t index, char *out,
                     size_t size)
{
    static const char hex[] = "0123456789abcdef";
    static const char other[] = "bcdfghjklmnpqrstvwxz2456789";
    const json_t *machine = json_object_get(worker, "machine");
    const json_t *version = json_object_get(json_object_get(machine, "image"), "version");
    const char *name = json_string_value(json_object_get(worker, "name"));
    size_t zones = json_array_size(json_object_get(worker, "zones"));
    uint64_t hash = random_hash(0, shoot->uid);
    char pool[6];
    char node[6];
    /* Nodes get new names when they are replaced. The hash therefore includes every value whose change
     * replaces nodes. */
    hash = random_hash(hash, name);
    hash = random_hash(hash, json_string_value(json_object_get(machine, "type")));
    hash = random_hash(hash, json_string_value(version));
    hash = random_hash(hash, json_string_value(json_object_get(shoot->spec, "kubernetes_version")));
    random_spell(hash, hex, pool, sizeof(pool));
    random_spell(hash + index + 1, other, node, sizeof(node));
    (void)snprintf(out, size, "shoot--%s--%s-%s-z%zu-%s-%s", shoot->garden_project, shoot->name, name,
                   zones > 0 ? index % zones + 1 : 1, pool, node);
}

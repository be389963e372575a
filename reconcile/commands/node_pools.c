/*
 * Node pools as separate resources. Each write of a pool becomes a change of the cluster's desired spec, so
 * it is checked, planned, queued and reported like any other change. When the spec has no pools yet, the
 * existing pools are added to it by name only. Their members stay unmanaged, because no caller has requested
 * values for them. Loop thread.
 */
#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "model/spec.h"
#include "reconcile/answers/reply.h"
#include "reconcile/commands/commands.h"
#include "reconcile/commands/decide.h"
#include "reconcile/operations/plan.h"
#include "reconcile/world/deciders.h"
#include "reconcile/world/entity.h"
#include "reconcile/world/world.h"

/* Returns a copy of the pools of the desired spec, each with its name. Before the first read of the cluster,
 * the existing pools are those that its create requests. */
static json_t *wanted_pools(const struct entity *e)
{
    const json_t *there = json_arr(plan_base(e), "node_pools");
    json_t *pools = json_deep_copy(json_arr(json_doc_tree(e->cluster->spec), "node_pools"));
    json_t *only = json_array_get(pools, 0);
    size_t i;
    json_t *pool;
    if (pools && !json_str(only, "name") && json_array_size(there) == 1)
        json_set_str(only, "name", json_str(json_array_get(there, 0), "name"));
    if (pools)
        return pools;
    pools = json_array();
    json_array_foreach (there, i, pool) {
        json_t *named = json_object();
        json_set_str(named, "name", json_str_or(pool, "name", ""));
        json_append_take(pools, named);
    }
    return pools;
}

/* Whether the list of pools would be made from the existing pools, although not all existing pools are known.
 * A change with such a list would remove the unknown pools. */
static bool pools_are_guesswork(const struct entity *e)
{
    const json_t *there = plan_base(e);
    return there && !json_arr(json_doc_tree(e->cluster->spec), "node_pools") &&
           !spec_pools_are_known(json_arr(there, "node_pools"));
}

/* Returns the index of the pool with this name, or the number of pools when no pool has the name. */
static size_t pool_index(const json_t *pools, const char *name)
{
    size_t i = 0;
    while (i < json_array_size(pools) && strcmp(json_str_or(json_array_get(pools, i), "name", ""), name) != 0)
        i++;
    return i;
}

static json_t *new_pool(const struct command *cmd, const char *name, json_t *old)
{
    json_t *pool = cmd->write.pool == POOL_MERGE ? json_deep_copy(old) : json_object();
    if (cmd->write.pool == POOL_MERGE)
        desired_merge(pool, cmd->body);
    else
        (void)json_object_update(pool, cmd->body);
    json_set_str(pool, "name", name);
    return pool;
}

/* Changes the list of pools as the command requests, or returns why that is not possible. */
static struct problem *edit_pools(json_t *pools, struct command *cmd)
{
    assert(cmd->write.pool == POOL_ADD || cmd->write.pool_name);
    const char *name =
        cmd->write.pool == POOL_ADD ? json_str_or(cmd->body, "name", "") : cmd->write.pool_name;
    size_t at = pool_index(pools, name);
    bool exists = at < json_array_size(pools);
    if (cmd->write.pool == POOL_ADD && exists)
        return problem_new(PROBLEM_NODE_POOL_EXISTS, "the node pool '%s' exists already", name);
    if ((cmd->write.pool == POOL_MERGE || cmd->write.pool == POOL_REMOVE) && !exists)
        return problem_new(PROBLEM_NODE_POOL_NOT_FOUND, "there is no node pool '%s'", name);
    cmd->write.pool_exists = exists;
    free(TAKE_PTR(cmd->write.fault_pointer)); /* the command may have been decided before, and then have
                                               * waited; that decision may have set this pointer */
    if (cmd->write.pool == POOL_REMOVE) {
        (void)json_array_remove(pools, at);
        return NULL;
    }
    cmd->write.fault_pointer = mem_printf("#/spec/node_pools/%zu", at);
    if (exists)
        (void)json_array_set_new(pools, at, new_pool(cmd, name, json_array_get(pools, at)));
    else
        json_append_take(pools, new_pool(cmd, name, NULL));
    return NULL;
}

struct problem *command_node_pool(struct reconcile *r, struct command *cmd)
{
    struct entity *e;
    struct problem *refusal = command_managed_cluster(r, cmd, &e);
    if (!e)
        return refusal;
    const char *name = json_str(cmd->body, "name");
    if (cmd->write.pool_name && name && strcmp(name, cmd->write.pool_name) != 0) {
        problem_add_fault(&refusal, PROBLEM_VALIDATION_FAILED, FAULT_AT_BODY, "#/name", "conflict",
                          json_pack("[s]", cmd->write.pool_name),
                          "is not the name in the path; pools are not renamed");
        return refusal;
    }
    struct problem *faults = cmd->body ? command_size_faults(cmd->body, SPEC_PART_POOL, NULL) : NULL;
    if (faults)
        return dry_run_faults(cmd, faults);
    if (pools_are_guesswork(e))
        return problem_passing(PROBLEM_CLUSTER_NOT_READY, 15,
                               "the names of the existing node pools cannot be read from Cleura's answer: "
                               "PUT a spec that lists all of them");
    json_t *pools CLEANUP_JSON = wanted_pools(e);
    refusal = edit_pools(pools, cmd);
    if (refusal)
        return refusal;
    json_t *body CLEANUP_JSON = desired_of(e->cluster);
    json_t *spec = json_obj(body, "spec");
    (void)json_object_set(spec, "node_pools", pools);
    return change_cluster(e, cmd, body);
}

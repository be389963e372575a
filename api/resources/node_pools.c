/* Node pools as a sub-resource: reads from the cluster in the view, writes as commands. */
#include "api/resources/handlers.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "api/api_private.h"
#include "api/commands.h"
#include "api/reads.h"
#include "api/routes.h"
#include "base/mem.h"
#include "model/spec.h"

static const json_t *pool_named(const json_t *pools, const char *name)
{
    size_t i;
    json_t *pool;
    json_array_foreach (pools, i, pool)
        if (!strcmp(json_str_or(pool, "name", ""), name))
            return pool;
    return NULL;
}

/* The pools of a cluster. A member is NULL when there are no such pools. */
struct pools {
    const json_t *wanted;
    const json_t *there;
    json_t *coming; /* before the first read of the cluster: the pools that its create makes. Owned */
};

/* Returns a copy of the pools that the open create of the cluster makes, only their names; or NULL. */
static json_t *coming_pools(struct request *r, const json_t *cluster)
{
    const char *id = json_str(json_obj(cluster, "operation"), "id");
    struct view_blob *blob = id ? read_blob(r, VIEW_OPERATIONS, id) : NULL;
    const struct operation *op = blob ? blob->subject : NULL;
    json_t *pools = op ? json_deep_copy(json_arr(op->body, "node_pools")) : NULL;
    view_blob_unref(blob);
    return pools;
}

static struct pools pools_of(struct request *r, const json_t *cluster)
{
    const json_t *observed = json_obj(cluster, "observed");
    return (struct pools){json_arr(json_obj(cluster, "spec"), "node_pools"), json_arr(observed, "node_pools"),
                          observed ? NULL : coming_pools(r, cluster)};
}

/* Returns the desired pool with this name. A single desired pool without a name means the only one that
 * exists, or will exist. */
static const json_t *wanted_pool(const struct pools *pools, const char *name)
{
    const json_t *only = json_array_get(pools->wanted, 0),
                 *there = pools->there ? pools->there : pools->coming;
    if (json_array_size(pools->wanted) == 1 && json_array_size(there) == 1 && !json_str(only, "name"))
        return pool_named(there, name) ? only : NULL;
    return pool_named(pools->wanted, name);
}

static json_t *render_pool(const struct pools *pools, const char *name)
{
    json_t *doc = json_object();
    json_set_str(doc, "name", name);
    json_set_take(doc, "spec", json_deep_copy(wanted_pool(pools, name)));
    json_set_take(doc, "observed", json_deep_copy(pool_named(pools->there, name)));
    return doc;
}

static void add_names(json_t *names, const json_t *pools)
{
    size_t i;
    json_t *pool;
    json_array_foreach (pools, i, pool)
        if (json_str(pool, "name")) /* a pool whose name cannot be read is shown only in the cluster */
            (void)json_object_set_new(names, json_str(pool, "name"), json_null());
}

/* Returns the names of all existing, coming and desired pools. */
static json_t *names_of(const struct pools *pools)
{
    json_t *names = json_object();
    add_names(names, pools->there);
    add_names(names, pools->coming);
    add_names(names, pools->wanted);
    return names;
}

static struct problem *answer_pools(struct request *r, json_t *doc, const struct view_blob *cluster)
{
    answer_json(&r->http.answer, MHD_HTTP_OK, doc);
    answer_header(&r->http.answer, "Cache-Control", "private, no-cache");
    answer_header(&r->http.answer, "ETag", "%s", cluster->etag);
    return http_apply_conditions(&r->http, cluster->etag);
}

struct problem *handle_node_pools(struct request *r)
{
    struct view_blob *blob;
    struct problem *p = read_cluster(r, &blob);
    if (p)
        return p;
    json_t *body CLEANUP_JSON = json_loadb(blob->body, blob->body_len, 0, NULL);
    assert(json_is_object(body)); /* shootd rendered it */
    const struct pools pools = pools_of(r, body);
    json_t *names CLEANUP_JSON = names_of(&pools);
    json_t *items = json_array();
    const char *name;
    json_t *ignored;
    json_object_foreach (names, name, ignored)
        json_append_take(items, render_pool(&pools, name));
    json_t *doc = json_object();
    json_set_take(doc, "items", items);
    json_set_str(doc, "next_cursor", NULL);
    p = answer_pools(r, doc, blob);
    json_decref(pools.coming);
    view_blob_unref(blob);
    return p;
}

struct problem *handle_node_pool(struct request *r)
{
    struct view_blob *blob;
    struct problem *p = read_cluster(r, &blob);
    if (p)
        return p;
    json_t *body CLEANUP_JSON = json_loadb(blob->body, blob->body_len, 0, NULL);
    assert(json_is_object(body)); /* shootd rendered it */
    const struct pools pools = pools_of(r, body);
    if (pool_named(pools.there, r->item) || pool_named(pools.coming, r->item) || wanted_pool(&pools, r->item))
        p = answer_pools(r, render_pool(&pools, r->item), blob);
    else
        p = problem_new(PROBLEM_NODE_POOL_NOT_FOUND, "The cluster has no node pool of this name.");
    json_decref(pools.coming);
    view_blob_unref(blob);
    return p;
}

struct problem *handle_node_pool_write(struct request *r)
{
    static const enum pool_write writes[METHOD_MAX_] = {[METHOD_POST] = POOL_ADD,
                                                        [METHOD_PUT] = POOL_REPLACE,
                                                        [METHOD_PATCH] = POOL_MERGE,
                                                        [METHOD_DELETE] = POOL_REMOVE};
    struct command *cmd = request_command(r, COMMAND_NODE_POOL);
    cmd->write.pool = writes[r->route->method];
    cmd->write.pool_name = mem_strdup(r->item);
    /* the path has the name of the pool, except for a new pool */
    assert((cmd->write.pool == POOL_ADD) == !r->item);
    return request_park(r, cmd);
}

/* Node pools as a sub-resource: reads from the cluster in the view, writes as commands. */
#include "api/resources/handlers.h"

#include <stdio.h>
#include <string.h>

#include "api/api_private.h"
#include "api/commands.h"
#include "api/reads.h"
#include "base/mem.h"
#include "model/spec.h"
#include "view/cluster_facts.h"

static const json_t *pool_named(const json_t *pools, const char *name)
{
    size_t i;
    json_t *pool;
    json_array_foreach (pools, i, pool)
        if (!strcmp(json_str_or(pool, "name", ""), name))
            return pool;
    return NULL;
}

/* The desired pool with this name; a single desired pool without a name matches the existing one. */
static const json_t *wanted_pool(const struct cluster *c, const json_t *there, const char *name)
{
    const json_t *wanted = json_arr(json_doc_tree(c->spec), "node_pools");
    const json_t *only = json_array_get(wanted, 0);
    if (json_array_size(wanted) == 1 && json_array_size(there) == 1 && !json_str(only, "name"))
        return only;
    return pool_named(wanted, name);
}

static json_t *render_pool(const struct cluster *c, const json_t *there, const char *name)
{
    json_t *doc = json_object();
    json_set_str(doc, "name", name);
    json_set_take(doc, "spec", json_deep_copy(wanted_pool(c, there, name)));
    json_set_take(doc, "observed", json_deep_copy(pool_named(there, name)));
    return doc;
}

/* The names of all existing and desired pools. */
static json_t *names_of(const struct cluster *c, const json_t *there)
{
    json_t *names = json_object();
    size_t i;
    json_t *pool;
    json_array_foreach (there, i, pool)
        if (json_str(pool, "name")) /* the name cannot be read: only the cluster shows such a pool */
            (void)json_object_set_new(names, json_str(pool, "name"), json_null());
    json_array_foreach (json_arr(json_doc_tree(c->spec), "node_pools"), i, pool)
        if (json_str(pool, "name"))
            (void)json_object_set_new(names, json_str(pool, "name"), json_null());
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
    struct cluster *c CLEANUP_CLUSTER = cluster_of_blob(blob);
    const json_t *there = json_arr(shoot_observed(c->shoot), "node_pools");
    json_t *names CLEANUP_JSON = names_of(c, there);
    json_t *items = json_array();
    const char *name;
    json_t *ignored;
    json_object_foreach (names, name, ignored)
        (void)json_array_append_new(items, render_pool(c, there, name));
    json_t *doc = json_object();
    json_set_take(doc, "items", items);
    json_set_str(doc, "next_cursor", NULL);
    p = answer_pools(r, doc, blob);
    view_blob_unref(blob);
    return p;
}

struct problem *handle_node_pool(struct request *r)
{
    struct view_blob *blob;
    struct problem *p = read_cluster(r, &blob);
    if (p)
        return p;
    struct cluster *c CLEANUP_CLUSTER = cluster_of_blob(blob);
    const json_t *there = json_arr(shoot_observed(c->shoot), "node_pools");
    if (pool_named(there, r->item) || wanted_pool(c, there, r->item))
        p = answer_pools(r, render_pool(c, there, r->item), blob);
    else
        p = problem_new(PROBLEM_NODE_POOL_NOT_FOUND, "The cluster has no node pool of this name.");
    view_blob_unref(blob);
    return p;
}

static struct problem *write_pool(struct request *r, enum pool_write how)
{
    struct command *cmd = write_command(r, COMMAND_NODE_POOL);
    cmd->write.pool = how;
    cmd->write.pool_name = mem_strdup(r->item);
    return write_park(r, cmd);
}

struct problem *handle_node_pool_create(struct request *r)
{
    return write_pool(r, POOL_ADD);
}

struct problem *handle_node_pool_put(struct request *r)
{
    return write_pool(r, POOL_REPLACE);
}

struct problem *handle_node_pool_patch(struct request *r)
{
    return write_pool(r, POOL_MERGE);
}

struct problem *handle_node_pool_delete(struct request *r)
{
    return write_pool(r, POOL_REMOVE);
}

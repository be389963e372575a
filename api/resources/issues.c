/* GET .../issues: what is wrong with a cluster and what to do, concluded from the view when somebody asks. */
#include <stdio.h>

#include "api/api_private.h"
#include "api/resources/handlers.h"
#include "api/reads.h"
#include "base/mem.h"
#include "model/issues.h"
#include "view/cluster_facts.h"

static struct view_blob *take(const struct view_snapshot *s, enum view_section section, const char *key)
{
    struct view_blob *blob = view_find(s, section, key);
    return blob ? view_blob_ref(blob) : NULL;
}

static const void *subject_of(const struct view_blob *blob)
{
    return blob ? blob->subject : NULL;
}

static json_t *render_issues(const struct view_blob *blob, const struct view_blob *operation,
                             const struct view_blob *catalog, wall_us now)
{
    struct cluster *cluster CLEANUP_CLUSTER = cluster_of_blob(blob);
    json_t *doc = json_object();
    json_set_take(doc, "items", issues_of(cluster, subject_of(operation), subject_of(catalog), now));
    json_set_str(doc, "next_cursor", NULL);
    return doc;
}

struct problem *handle_issues(struct request *r)
{
    char key[VIEW_CLUSTER_KEY_BYTES];
    bool fits = view_cluster_key(key, r->project, r->name);
    /* One snapshot: the operation is the one that the cluster names. */
    const struct view_snapshot *s = view_enter(r->api->options.view);
    struct view_blob *cluster = fits ? take(s, VIEW_CLUSTERS, key) : NULL;
    struct view_blob *operation =
        cluster ? take(s, VIEW_OPERATIONS, cluster_facts_of(cluster)->operation_id) : NULL;
    struct view_blob *catalog = take(s, VIEW_CATALOGS, r->project);
    view_leave(r->api->options.view);
    struct problem *p =
        cluster ? answer_with_document(
                      r, render_issues(cluster, operation, catalog, env_wall(r->api->options.env)))
                : problem_new(PROBLEM_CLUSTER_NOT_FOUND, "There is no cluster of this name in the project.");
    view_blob_unref(cluster);
    view_blob_unref(operation);
    view_blob_unref(catalog);
    return p;
}

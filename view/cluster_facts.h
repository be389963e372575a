/*
 * The facts of a cluster that filters, sort orders and counts use, in one block of memory. With these facts,
 * a list of ten thousand clusters needs no JSON. Code that needs other data of a cluster parses its body.
 * Immutable; any thread.
 */
#ifndef VIEW_CLUSTER_FACTS_H
#define VIEW_CLUSTER_FACTS_H

#include "base/timefmt.h"
#include "model/cluster.h"
#include "model/issues.h"
#include "view/view.h"

/* A byte that UTF-8 never contains. */
#define FACTS_SEPARATOR "\xff"

struct cluster_facts {
    enum phase phase;
    enum health health;
    bool managed, stale, settling, is_drifted, upstream_exists;
    bool is_unread; /* Cleura answers, but the cluster could not be read (struct issue_world) */
    bool operation_failed; /* the last operation, which nobody has followed up */
    bool updates_kubernetes, updates_images; /* Cleura upgrades the version in the maintenance window */
    int64_t version_number; /* the version of Kubernetes as one number, for sorting; 0: not known, sorts
                             * first */
    wall_us created_at, updated_at;
    wall_us expires_at; /* when the first version in use expires; 0: not known */
    struct trouble trouble; /* what is wrong with the cluster, in short */
    json_t *labels;     /* the labels; NULL: the cluster has no labels */
    const char *project, *name;
    const char *version;      /* the version of Kubernetes; "" when it is not known */
    const char *version_line; /* the minor version such as "1.33", or "unknown" */
    const char *search;       /* all texts that `q` searches, in lower case */
    const char *images;       /* the image of each pool: its name and its version, each followed by
                               * FACTS_SEPARATOR */
    const char *issues;       /* the result of issues_prepare (model/issues.h) as text; NULL: issues_prepare
                               * returned NULL */
    char texts[];
};

/* `prepared` and `trouble` are results of issues_prepare (model/issues.h). */
struct cluster_facts *cluster_facts_new(const struct cluster *c, const json_t *prepared,
                                        const struct trouble *trouble, bool is_unread);
void cluster_facts_free(struct cluster_facts *f);

/* Returns the facts of a blob of VIEW_CLUSTERS; they are valid as long as the blob exists. */
static inline const struct cluster_facts *cluster_facts_of(const struct view_blob *blob)
{
    return blob->subject;
}

/* Returns the issues of the cluster of this blob (model/issues.h), which the caller owns. `catalog` is the
 * catalog of the project, or NULL. */
json_t *cluster_issues(const struct view_blob *blob, const json_t *catalog, wall_us now);

#endif

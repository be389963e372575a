/*
 * The facts that filters, orders and counts need of a cluster in the view, in one piece of memory, so that a
 * list of ten thousand reads no JSON. A reader that needs more of one cluster parses its body. Immutable; any
 * thread.
 */
#ifndef VIEW_CLUSTER_FACTS_H
#define VIEW_CLUSTER_FACTS_H

#include "base/timefmt.h"
#include "model/cluster.h"
#include "view/view.h"

/* A byte that no UTF-8 has. */
#define FACTS_SEPARATOR "\xff"

struct cluster_facts {
    enum phase phase;
    enum health health;
    bool managed, stale, settling, is_drifted, upstream_exists;
    bool may_have_issues;   /* issues_are_possible */
    int64_t version_number; /* of Kubernetes: 1.33.7 as one number; 0: not known, before all others */
    wall_us created_at, updated_at;
    wall_us expires_at; /* of the first version in use to run out, 0: none known */
    json_t *labels;     /* NULL: none */
    const char *project, *name;
    const char *version;      /* of Kubernetes, "" while it is not known */
    const char *version_line; /* "1.33", "unknown" */
    const char *search;       /* all texts that `q` looks into, in lower case */
    const char *images;       /* name, version, ... of the pools, each with FACTS_SEPARATOR behind it */
    const char *last_errors;  /* what Cleura reported, as JSON; NULL: nothing */
    char texts[];
};

/* `op`: its open or last operation, or NULL. */
struct cluster_facts *cluster_facts_new(const struct cluster *c, const struct operation *op);
void cluster_facts_free(struct cluster_facts *f);

/* The facts of a blob of VIEW_CLUSTERS. Live as long as the blob. */
static inline const struct cluster_facts *cluster_facts_of(const struct view_blob *blob)
{
    return blob->subject;
}

/*
 * The cluster as its body shows it, as far as issues and node pools ask: what was asked for, what was
 * observed, phase, drift. The caller frees it.
 */
struct cluster *cluster_of_blob(const struct view_blob *blob);
/* The same, with its open or last operation as far as issues ask; NULL: none. The caller frees both. */
struct cluster *cluster_with_operation(const struct view_blob *blob, struct operation **ret_operation);

#endif

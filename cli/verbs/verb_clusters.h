/* Rows of clusters, and functions that read one cluster for several verbs. One thread. */
#ifndef CLI_VERBS_VERB_CLUSTERS_H
#define CLI_VERBS_VERB_CLUSTERS_H

#include "base/attrs.h"
#include "base/json.h"
#include "cli/shootctl.h"

struct table;

/* Returns the table of `list`. A row is made from a whole cluster or from its short form. */
struct table *clusters_table(bool is_wide);
void clusters_add(const struct cli *cli, struct table *table, bool is_wide, const json_t *cluster);

/* Whether an operation is open. */
bool cluster_is_busy(const json_t *cluster);

/* Returns the colour in which a phase is printed. */
enum style phase_style(const char *phase);
/* Returns labels as "a=b,c=d"; the caller frees the text. */
char *labels_text(const json_t *labels);
/* Reads a cluster; reports a failure. The caller owns *ret_cluster. */
int cluster_read(struct cli *cli, const char *project, const char *name, json_t **ret_cluster);

/* A cluster as the user saw it, and its ETag. A write that sends the ETag is refused when the cluster is not
 * in this state any more. */
struct seen_cluster {
    json_t *cluster; /* the cluster; NULL: it does not exist */
    char *etag;      /* its ETag; NULL: the answer had no ETag */
};
/* Reads a cluster and its ETag; reports a failure. With `may_be_absent` a missing cluster is not a failure.
 * The caller frees `ret` with seen_cluster_done in any case. */
int seen_cluster_read(struct cli *cli, const char *project, const char *name, bool may_be_absent,
                      struct seen_cluster *ret);
void seen_cluster_done(struct seen_cluster *seen);
#define CLEANUP_SEEN CLEANUP(seen_cluster_done)

#endif

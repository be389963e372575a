/* Rows of clusters, and what several verbs need to show or read one. One thread. */
#ifndef CLI_VERBS_CLUSTERS_H
#define CLI_VERBS_CLUSTERS_H

#include "base/attrs.h"
#include "base/json.h"
#include "cli/shootctl.h"

struct table;

/* The table of `list`; rows are clusters in full or in short. */
struct table *clusters_table(bool is_wide);
void clusters_add(const struct cli *cli, struct table *table, bool is_wide, const json_t *cluster);

/* The members of a summary, also of a whole cluster, which has them elsewhere. The caller owns it. */
json_t *cluster_summary(const json_t *cluster);
/* Whether an operation is under way. */
bool cluster_is_busy(const json_t *summary);

/* The colour that goes with a phase, beside its word. */
enum style phase_style(const char *phase);
/* "a=b,c=d"; the caller frees it. */
char *labels_text(const json_t *labels);
/* Reads one; a failure is said. The caller owns *ret_cluster. */
int cluster_read(struct cli *cli, const char *project, const char *name, json_t **ret_cluster);

/* A cluster as it was shown, and its tag: a write that sends it is about this one and no other. */
struct seen_cluster {
    json_t *cluster; /* NULL: there is none */
    char *etag;      /* NULL: it has none */
};
/* The same; with `may_be_absent` it is no failure that there is none. Freed with seen_cluster_done either
 * way.
 */
int cluster_look(struct cli *cli, const char *project, const char *name, bool may_be_absent,
                 struct seen_cluster *ret);
void seen_cluster_done(struct seen_cluster *seen);
#define CLEANUP_SEEN CLEANUP(seen_cluster_done)

#endif

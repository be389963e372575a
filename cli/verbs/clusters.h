/* Rows of clusters, and what several verbs need to show or read one. One thread. */
#ifndef CLI_VERBS_CLUSTERS_H
#define CLI_VERBS_CLUSTERS_H

#include "base/json.h"
#include "cli/shootctl.h"

struct table;

/* The table of `list`; rows are clusters in full or in short. */
struct table *clusters_table(bool is_wide);
void clusters_add(const struct cli *cli, struct table *table, bool is_wide, const json_t *cluster);

/* The colour that goes with a phase, beside its word. */
enum style phase_style(const char *phase);
/* "a=b,c=d"; the caller frees it. */
char *labels_text(const json_t *labels);
/* Reads one; a failure is said. The caller owns *ret_cluster. */
int cluster_read(struct cli *cli, const char *project, const char *name, json_t **ret_cluster);

#endif

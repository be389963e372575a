/*
 * The numbers of clusters in each state, for one chunk of the view. GET /v1/summary and /metrics add up the
 * numbers of all chunks and read no cluster. The numbers are made once for each chunk; snapshots that share
 * the chunk share its numbers. Immutable; any thread.
 */
#ifndef VIEW_CLUSTER_COUNTS_H
#define VIEW_CLUSTER_COUNTS_H

#include <stdint.h>

#include "model/issues.h"
#include "view/view.h"

/* Clusters of one project with the same version line and the same expiry date. */
struct cluster_group {
    const char *project, *version_line; /* from struct cluster_facts; valid as long as the chunk exists */
    wall_us expires_at;
    uint16_t total, managed, stale, drifted, settling, failed_operations;
    uint16_t by_phase[PHASE_MAX_];
    uint16_t by_health[HEALTH_MAX_];
    uint32_t issues[ISSUE_SEVERITY_MAX_]; /* a cluster may have many */
};

struct cluster_counts {
    size_t count;
    struct cluster_group groups[];
};

/* Counts the clusters of `entries`, which belong to VIEW_CLUSTERS. The caller frees the result. */
struct cluster_counts *cluster_counts_new(const struct view_entry *entries, size_t count);

#endif

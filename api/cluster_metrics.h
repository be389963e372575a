/*
 * The metrics about clusters: /metrics adds up the counts of the view's chunks (view/cluster_counts.h), so a
 * scrape reads no cluster. Each configured project has every series, zeros too: 17 for each project, 17,000
 * for 1,000 projects, whatever the number of clusters is.
 */
#ifndef API_CLUSTER_METRICS_H
#define API_CLUSTER_METRICS_H

#include "base/buffer.h"
#include "view/view.h"

/* Appends the families. Any thread. */
void cluster_metrics_write(struct view *view, struct buffer *out);

#endif

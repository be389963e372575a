/* The cluster that the view shows, made from its body and its facts. */
#ifndef TESTS_SUPPORT_SHOWN_H
#define TESTS_SUPPORT_SHOWN_H

#include "model/cluster.h"
#include "view/view.h"

/* Returns the cluster, which the caller frees. */
struct cluster *shown_cluster(const struct view_blob *blob);

#endif

/* The clusters that the view shows. */
#ifndef TESTS_SUPPORT_SHOWN_H
#define TESTS_SUPPORT_SHOWN_H

#include "model/cluster.h"
#include "view/view.h"

/* Returns the cluster, made from its body and its facts; the caller frees it. */
struct cluster *shown_cluster(const struct view_blob *blob);
/* `key`: such as "p00/web"; `text`: the phase and ownership of this cluster, such as "ready managed", or
 * "none" when there is no such cluster. */
void expect_cluster(struct view *view, const char *key, const char *text);

#endif

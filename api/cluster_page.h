/* Pages of clusters in another order than the view's. The worker of the request. */
#ifndef API_CLUSTER_PAGE_H
#define API_CLUSTER_PAGE_H

#include "api/list.h"

/* As list_reply, ordered by the request's sort. One pass over the view; memory for one page. */
void cluster_page_reply(struct request *r, const struct list_query *query);

#endif

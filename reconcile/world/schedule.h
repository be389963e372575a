/* The times of the next reads. Loop thread. */
#ifndef RECONCILE_WORLD_SCHEDULE_H
#define RECONCILE_WORLD_SCHEDULE_H

#include "reconcile/world/entity.h"
#include "reconcile/world/project.h"

/* Returns the time until the cluster is read again, when nothing requests an earlier read. */
int64_t schedule_interval(const struct entity *e);
/* Makes the cluster due within this many microseconds. */
void schedule_soon(struct entity *e, int64_t in_us);
void schedule_forget(struct entity *e);
/* Reads a list of the project soon, also when a list that began earlier is running. */
void schedule_list_soon(struct project *p);
/* Sets the project's timer to the first due item. */
void schedule_rearm(struct project *p);
/* Whether readers wait for a read that has not begun. */
bool schedule_fresh_is_wanted(const struct project *p);

#endif

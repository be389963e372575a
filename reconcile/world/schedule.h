/* When what is read next. Loop thread. */
#ifndef RECONCILE_WORLD_SCHEDULE_H
#define RECONCILE_WORLD_SCHEDULE_H

#include "reconcile/world/entity.h"
#include "reconcile/world/project.h"

/* How long until the cluster is read again, when nothing else asks for it. */
int64_t schedule_interval(const struct entity *e);
/* Within so many microseconds from now. */
void schedule_soon(struct entity *e, int64_t in_us);
void schedule_forget(struct entity *e);
/* Lists the project, also when a list is under way that began before. */
void schedule_list_soon(struct project *p);
/* Sets the project's timer to what is due first. */
void schedule_rearm(struct project *p);
/* Readers wait for a read that has not begun. */
bool schedule_fresh_is_wanted(const struct project *p);

#endif

/*
 * The share of a project in the event log. All projects share the log, which loses its oldest events first,
 * and its numbers have no gaps. Therefore no project may add so many events that it pushes out the events of
 * the others: when its share is used up, its callers wait. Loop thread.
 */
#ifndef RECONCILE_WORLD_EVENT_SHARE_H
#define RECONCILE_WORLD_EVENT_SHARE_H

#include "model/command.h"
#include "reconcile/world/world.h"

/* Counts one event of the project. NULL: the event has no project; such events have one share together. The
 * name of an unknown project counts nothing. */
void event_share_spend(struct reconcile *r, const char *project);
/*
 * Returns the problem when the command changes clusters or webhooks, and the share of its project is used up.
 * A change of a webhook belongs to the first project of the caller, and counts as an event. A delete is never
 * refused: it ends a cluster or webhook, and with it the events.
 */
struct problem *event_share_refusal(struct reconcile *r, const struct command *cmd);

#endif

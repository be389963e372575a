/* Reads of clusters and projects, and the readers that wait for fresh data. Loop thread. */
#ifndef RECONCILE_OBSERVATION_POLL_H
#define RECONCILE_OBSERVATION_POLL_H

#include "model/command.h"
#include "reconcile/world/project.h"

void poll_init(struct project *p);
void poll_stop(struct project *p);

/* ---- fresh.c: one read for all waiting readers of a project ---- */

void fresh_init(struct project *p);
/* The read that starts now serves all waiting readers. Returns the one shoot that all of them want, or
 * NULL. */
const char *fresh_take_up(struct project *p);
/* That read has ended: answers the readers. */
void fresh_answer(struct project *p, bool ok);
void command_fresh(struct reconcile *r, struct command *cmd);

#endif

/* Readers that wait for a new look at Cleura, one read for all of a project. Loop thread. */
#ifndef RECONCILE_OBSERVATION_FRESH_H
#define RECONCILE_OBSERVATION_FRESH_H

#include "model/command.h"
#include "reconcile/world/project.h"

void command_fresh(struct reconcile *r, struct command *cmd);
/* The read that starts now serves everybody who waits. Returns the one shoot that all ask for, or NULL. */
const char *fresh_take_up(struct project *p);
void fresh_answer(struct project *p, bool ok);
void fresh_init(struct project *p);

#endif

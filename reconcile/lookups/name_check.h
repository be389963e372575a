/* Whether the name of a cluster to be made is free. Loop thread. */
#ifndef RECONCILE_LOOKUPS_NAME_CHECK_H
#define RECONCILE_LOOKUPS_NAME_CHECK_H

#include "model/command.h"
#include "reconcile/world/project.h"

/*
 * Asks Cleura whether the name of a cluster to be made is free, for a moment at most, then
 * decides the command anew. False (and nothing done) when that was done, or cannot be.
 */
bool name_check_wait(struct project *p, struct command *cmd, const char *name);
void name_checks_stop(struct reconcile *r);

#endif

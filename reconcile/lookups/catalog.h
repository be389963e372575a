/* The catalog of Cleura's offers in a region, read once an hour, and the expiry of versions in use. Loop
 * thread. */
#ifndef RECONCILE_LOOKUPS_CATALOG_H
#define RECONCILE_LOOKUPS_CATALOG_H

#include "model/command.h"
#include "reconcile/world/project.h"

void catalog_init(struct project *p);
/* Called before the project is removed from r->projects: after this call, the project does not read or share
 * a catalog. */
void catalog_stop(struct project *p);
/* Shows the known catalog, with the defaults of the configuration. */
void catalog_show(struct project *p);
/* Reads the catalog, unless a read is running. */
void catalog_fetch(struct project *p);
/* Keeps the command until a catalog exists, and then decides it again. When a catalog exists already, returns
 * false and does nothing. */
bool catalog_wait(struct project *p, struct command *cmd);
/* Emits the due events about the versions that the project's clusters use. */
void expiry_check(struct project *p);

#endif

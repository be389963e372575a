/* Where at Cleura a project is. Loop thread. */
#ifndef RECONCILE_COMMANDS_LOCATION_H
#define RECONCILE_COMMANDS_LOCATION_H

#include "reconcile/world/project.h"

/* Notices at the start that the project is at another place than before. */
void location_check(struct project *p);

#endif

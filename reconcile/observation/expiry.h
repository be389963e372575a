/* Versions in use that run out. Loop thread. */
#ifndef RECONCILE_OBSERVATION_EXPIRY_H
#define RECONCILE_OBSERVATION_EXPIRY_H

#include "reconcile/world/project.h"

void expiry_init(struct project *p);
/* Emits what is due for the clusters of the project. */
void expiry_look(struct project *p);

#endif

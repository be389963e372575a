/* Reads of clusters and projects. Loop thread. */
#ifndef RECONCILE_OBSERVATION_POLL_H
#define RECONCILE_OBSERVATION_POLL_H

#include "reconcile/world/project.h"

void poll_init(struct project *p);
void poll_stop(struct project *p);

#endif

/* A project from the configuration begins and ends. Loop thread. */
#ifndef RECONCILE_PROJECTS_H
#define RECONCILE_PROJECTS_H

#include "reconcile/world/project.h"

void project_init(struct project *p, struct reconcile *r, const struct config_project *config,
                  struct project_state *state);
void project_done(struct project *p);

#endif

/* Shoots that were deleted. For OBSERVE_LAG_S a list may still show them (CL-8). Loop thread. */
#ifndef RECONCILE_WORLD_GONE_H
#define RECONCILE_WORLD_GONE_H

#include "reconcile/world/project.h"

/* `shoot` may be NULL. */
void gone_remember(struct project *p, const struct shoot *shoot);
bool gone_is_known(struct project *p, const struct shoot *shoot);
void gone_forget_all(struct project *p);

#endif

/* Derives phase, health and drift from the known state, and emits the events of a change. Loop thread. */
#ifndef RECONCILE_WORLD_ASSESS_H
#define RECONCILE_WORLD_ASSESS_H

#include "reconcile/world/save.h"

/* Copies the decision into the cluster; returns true when the cluster has changed. */
bool assess_apply(struct cluster *c, const struct decision *d, wall_us now);
/* Decides again from the same observation, after an operation began or ended. */
void assess_again(struct entity *e);
/* Compares a managed cluster with its spec, if no operation is changing it; returns true when the drift has
 * changed. */
bool assess_drift(struct entity *e, struct save *save);
/* Calls assess_again and assess_drift, and emits the events. */
void assess_settle(struct entity *e, struct save *save);

/* Emits the events for the change from the phase `*before` to the current phase. Sets `*before` to the
 * current phase, so the next call does not emit them again. */
void phase_emit_change(struct entity *e, struct save *save, enum phase *before);

#endif

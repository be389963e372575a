/* The phase, health and drift that follow from the known state, and the events of a change. Loop thread. */
#ifndef RECONCILE_WORLD_ASSESS_H
#define RECONCILE_WORLD_ASSESS_H

#include "reconcile/world/save.h"

/* Brings the decision into the cluster; true when that changed something. */
bool assess_apply(struct cluster *c, const struct decision *d);
/* From the same observation, after an operation began or ended. */
void assess_again(struct entity *e);
/* Compares a managed cluster with its spec, while nothing is under way that changes it; true when the drift
 * changed. */
bool assess_drift(struct entity *e, struct save *save);
/* All of it, with the events that follow. */
void assess_settle(struct entity *e, struct save *save);

/* The events that a change of phase since `*before` means, once: `*before` becomes the phase of now. */
void phase_emit_change(struct entity *e, struct save *save, enum phase *before);

#endif

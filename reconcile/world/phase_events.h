/* The events that a change of phase means. Loop thread. */
#ifndef RECONCILE_WORLD_PHASE_EVENTS_H
#define RECONCILE_WORLD_PHASE_EVENTS_H

#include "reconcile/world/save.h"

/* Those of a change of phase since `*before`, once: `*before` becomes the phase of now. */
void phase_emit_change(struct entity *e, struct save *save, enum phase *before);

#endif

/* Kubeconfigs, fetched on demand and never stored. Loop thread. */
#ifndef RECONCILE_LOOKUPS_KUBECONFIG_H
#define RECONCILE_LOOKUPS_KUBECONFIG_H

#include "model/command.h"
#include "reconcile/world/entity.h"

/* What was given out before is void: fetched anew when asked for. Who waits is answered. */
void kubeconfigs_drop(struct entity *e);
void command_kubeconfig(struct reconcile *r, struct command *cmd);

#endif

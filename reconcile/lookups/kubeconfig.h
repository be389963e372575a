/* Kubeconfigs, fetched on demand and never stored. Loop thread. */
#ifndef RECONCILE_LOOKUPS_KUBECONFIG_H
#define RECONCILE_LOOKUPS_KUBECONFIG_H

#include "model/command.h"
#include "reconcile/world/world.h"

struct kubeconfigs *kubeconfigs_new(struct reconcile *r);
void kubeconfigs_free(struct kubeconfigs *k);
void kubeconfigs_forget(struct kubeconfigs *k, const char *entity_key);
/* What was given out before is void: fetched anew when asked for. Who waits is answered. */
void kubeconfigs_drop(struct kubeconfigs *k, const char *entity_key);
void command_kubeconfig(struct reconcile *r, struct command *cmd);
void kubeconfigs_stop(struct kubeconfigs *k);

#endif

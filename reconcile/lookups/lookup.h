/* Documents that are read from Cleura when a command needs them (fetch.h). Loop thread. */
#ifndef RECONCILE_LOOKUPS_LOOKUP_H
#define RECONCILE_LOOKUPS_LOOKUP_H

#include "model/command.h"
#include "reconcile/world/entity.h"
#include "reconcile/world/project.h"

/* ---- lookup.c: sub-resources that only Cleura provides ---- */

/* Begins to read the document for the decision of a command; true: the command waits (need.h). */
bool lookup_stage(struct project *p, struct entity *e, struct command *cmd);
bool lookup_quota(struct project *p, struct entity *e, struct command *cmd);

/* ---- lookup_kubeconfig.c: read on request and never stored ---- */

/* The limits of the kubeconfigs in memory: of one caller and cluster, and of all, in number and in bytes.
 * Beyond the limit of a caller, the one that expires first is dropped; beyond those of all, the oldest ones.
 */
enum { KUBECONFIGS_PER_CALLER = 8, KUBECONFIGS_MAX = 16384, KUBECONFIGS_BYTES_MAX = 64 * 1024 * 1024 };

/* Discards the cluster's kubeconfigs, because they are invalid: the next request reads a new kubeconfig.
 * Answers waiting commands. */
void kubeconfigs_drop(struct entity *e);

/* ---- name_check.c ---- */

/* Asks Cleura whether the name of the new cluster is free, within a short time limit; true: the command waits
 * (need.h). */
bool name_check(struct project *p, struct entity *e, struct command *cmd);

#endif

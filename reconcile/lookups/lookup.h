/* Documents that are read from Cleura when a command needs them (fetch.h). Loop thread. */
#ifndef RECONCILE_LOOKUPS_LOOKUP_H
#define RECONCILE_LOOKUPS_LOOKUP_H

#include "model/command.h"
#include "reconcile/world/entity.h"
#include "reconcile/world/project.h"

/* ---- lookup.c: sub-resources that only Cleura provides ---- */

/* Reads the stage of the CA rotation, then calls `known` with it. `known` decides the command: it returns the
 * problem with which the command is answered, or takes the command over and returns NULL. */
typedef struct problem *stage_known(struct entity *e, struct command *cmd, const char *stage);
void lookup_stage(struct entity *e, struct command *cmd, stage_known *known);
/*
 * Reads the quota of the project for the decision of a command, then calls `known` with its limits
 * (borrowed), perhaps at once. Limits of NULL: Cleura did not return the limits until `until`, or the
 * account's API has no such call. Like a stage_known, `known` decides the command; when lookup_quota calls
 * `known` at once, lookup_quota returns the problem of `known`.
 */
typedef struct problem *quota_known(struct project *p, struct command *cmd, const json_t *limits);
struct problem *lookup_quota(struct project *p, struct command *cmd, mono_us until, quota_known *known);

/* ---- kubeconfig.c: read on request and never stored ---- */

/* The limits of the kubeconfigs in memory: of one caller and cluster, and of all, in number and in bytes.
 * Beyond the limit of a caller, the one that expires first is dropped; beyond those of all, the oldest ones.
 */
enum { KUBECONFIGS_PER_CALLER = 8, KUBECONFIGS_MAX = 16384, KUBECONFIGS_BYTES_MAX = 64 * 1024 * 1024 };

/* Discards the cluster's kubeconfigs, because they are invalid: the next request reads a new kubeconfig.
 * Answers waiting commands. */
void kubeconfigs_drop(struct entity *e);

/* ---- name_check.c: whether the name of a new cluster is free ---- */

/*
 * Asks Cleura whether the name is free, within a short time limit, and then decides the command again. When
 * the name was checked already, or cannot be checked, returns false and does nothing.
 */
bool name_check_wait(struct project *p, struct command *cmd, const char *name);
void name_checks_stop(struct reconcile *r);
/* Decides the waiting commands without the check, because the project stops. */
void name_checks_forget_project(struct project *p);

#endif

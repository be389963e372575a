/* Documents that Cleura is asked for when a command needs them (fetch.h). Loop thread. */
#ifndef RECONCILE_LOOKUPS_LOOKUP_H
#define RECONCILE_LOOKUPS_LOOKUP_H

#include "model/command.h"
#include "reconcile/world/entity.h"
#include "reconcile/world/project.h"

/* ---- lookup.c: sub-resources that only Cleura knows ---- */

/* Reads the stage of the CA rotation, then calls `known` with it. */
typedef void stage_known(struct entity *e, struct command *cmd, const char *stage);
void lookup_stage(struct entity *e, struct command *cmd, stage_known *known);
void command_lookup(struct reconcile *r, struct command *cmd);

/* ---- kubeconfig.c: fetched on demand and never stored ---- */

/* Kubeconfigs that were given out before are void: the next request fetches anew. Commands that wait are
 * answered. */
void kubeconfigs_drop(struct entity *e);
void command_kubeconfig(struct reconcile *r, struct command *cmd);

/* ---- name_check.c: whether the name of a cluster to be made is free ---- */

/*
 * Asks Cleura for a moment at most, then decides the command anew. False (and nothing done) when that was
 * done, or cannot be.
 */
bool name_check_wait(struct project *p, struct command *cmd, const char *name);
void name_checks_stop(struct reconcile *r);
/* The project is put to rest: the commands are decided anew, without. */
void name_checks_forget_project(struct project *p);

#endif

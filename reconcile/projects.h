/*
 * Adds and removes projects, at the start and at a reload of the configuration. A project that the
 * configuration no longer names is retired. Its clusters and open operations stay in store and memory, but
 * nothing is read, sent or shown for it. When the configuration names the project again, the project is in
 * use again with all its data. Loop thread, and before it runs.
 */
#ifndef RECONCILE_PROJECTS_H
#define RECONCILE_PROJECTS_H

#include "reconcile/world/project.h"

/* ---- at the start ---- */

/* Called for each project of the configuration, before the store is read. */
struct project *project_add(struct reconcile *r, const struct config_project *config);
/* Returns the project of a row of the store. When the configuration does not name the project, it is made as
 * a retired project. */
struct project *project_of_row(struct reconcile *r, const char *name);
/* Called after all rows were read: sets the account of the project. Nothing is read from Cleura yet. */
void project_start(struct project *p);
/* Starts the work on a cluster: it is shown and read soon, and its open operation continues. */
void project_take_up_cluster(struct entity *e);
/* Starts the reads of the project. */
void project_begin_reading(struct project *p);
void projects_free(struct reconcile *r);

/* ---- when the configuration is read again ---- */

/* Takes the new configuration of a project whose location at Cleura is the same. Returns true when the
 * defaults have changed, and therefore the catalog was shown again. */
bool project_rebind(struct project *p, const struct config_project *config);
/*
 * Stops the work on a project because its account or its location at Cleura changes. Commands that wait for
 * Cleura get a problem that asks to try again. Calls are cancelled. When a call was sent already, the shoot
 * is read later to find the effect of the call; the same is done after a restart. New commands are refused
 * until project_resume. The project's clusters stay visible. `done` runs when all work has stopped, possibly
 * at once.
 */
void project_pause(struct project *p, void (*done)(struct project *p));
/* Does the same as project_pause, for a project that the configuration no longer names. Its clusters are
 * hidden. */
void project_retire(struct project *p, void (*done)(struct project *p));
/* Starts the work on a stopped project that the configuration names, perhaps again after a removal. `done`
 * runs when all clusters are started, possibly at once. */
void project_resume(struct project *p, const struct config_project *config, void (*done)(struct project *p));
/*
 * Distributes the reads of an account's projects over time, in the order of the configuration. Called after a
 * change of the accounts' projects, when each account has all its projects, and before their next reads.
 */
void projects_spread(struct reconcile *r);

#endif

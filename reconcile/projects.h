/*
 * How projects come and go: at the start, and when the configuration is read again. One that it does not name
 * any more is retired: its clusters stay in store and memory with their open operations, nothing is read or
 * sent for it, nothing is shown, and it returns whole when it is named again. Loop thread, and before it
 * runs.
 */
#ifndef RECONCILE_PROJECTS_H
#define RECONCILE_PROJECTS_H

#include "reconcile/world/project.h"

/* ---- at the start ---- */

/* For each project that the configuration names, before the store is read. */
struct project *project_add(struct reconcile *r, const struct config_project *config);
/* The project of a row of the store; one that the configuration does not name is made, retired. */
struct project *project_of_row(struct reconcile *r, const char *name);
/* When all rows are there: its account is at hand, nothing is read yet. */
void project_start(struct project *p);
/* Takes the cluster up: shown, read soon, its open operation goes on. */
void project_take_up_cluster(struct entity *e);
/* Reads of the project begin. */
void project_begin_reading(struct project *p);
void projects_free(struct reconcile *r);

/* ---- when the configuration is read again ---- */

/* The configuration says the same of its place at Cleura, perhaps not of its defaults: whether they differ,
 * and the catalog was shown with them. */
bool project_rebind(struct project *p, const struct config_project *config);
/*
 * Its account, or its place at Cleura, changes: commands that wait for Cleura's answer are answered with a
 * problem that asks to try again, calls are given up (one that was sent is settled by reading back, as after
 * a restart), commands are refused until project_resume. Its clusters stay as they are shown. `done` runs
 * when all are at rest, perhaps at once.
 */
void project_pause(struct project *p, void (*done)(struct project *p));
/* The same for one that the configuration does not name any more; its clusters are hidden. */
void project_retire(struct project *p, void (*done)(struct project *p));
/* One that rests is named, perhaps again. `done` runs when all clusters are taken up, perhaps at once. */
void project_resume(struct project *p, const struct config_project *config, void (*done)(struct project *p));
/*
 * The projects of an account are read in turn, in the order of the configuration. When all its accounts are
 * there, before any project is read that came, or whose account or number of neighbours is another.
 */
void projects_spread(struct reconcile *r);

#endif

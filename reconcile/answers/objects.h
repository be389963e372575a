/* The objects that commands name, and why nothing can be done with them. The caller owns each problem. Loop
 * thread. */
#ifndef RECONCILE_ANSWERS_OBJECTS_H
#define RECONCILE_ANSWERS_OBJECTS_H

#include "model/command.h"
#include "reconcile/world/entity.h"
#include "reconcile/world/project.h"

/* Find the object. Return the problem when the object does not exist, or is set aside; *ret is then NULL. */
struct problem *command_project(struct reconcile *r, const struct command *cmd, struct project **ret);
struct problem *command_cluster(struct reconcile *r, const struct command *cmd, struct entity **ret);
/* Returns why nothing can be requested from Cleura: the project is stopped or set aside. NULL: the project is
 * in use. */
struct problem *location_refusal(const struct project *p);
/* Makes the problem for a command when its project is stopped (reconcile/projects.h), or shootd is stopping.
 */
struct problem *problem_at_rest(const struct project *p);
/* 409: not possible in the present phase of the cluster, but perhaps later. Names the open operation, for
 * which the caller can wait. */
struct problem *problem_not_ready(const struct entity *e);
/* 409: the cluster was found at Cleura, and shootd does not manage its spec. */
struct problem *problem_not_managed(const struct cluster *c);

#endif

/* Whether the caller still has the right to its request (AU-5). Loop thread. */
#ifndef RECONCILE_ANSWERS_PERMISSION_H
#define RECONCILE_ANSWERS_PERMISSION_H

#include "model/command.h"

struct problem;
struct reconcile;

/*
 * Returns NULL when the caller still has the right to its request; the command then gets the current rights
 * of the API token. Otherwise returns the problem that the first check of the request would give now; the
 * calling function owns it.
 */
struct problem *permission_fault(struct reconcile *r, struct command *cmd);
/* Does the same as permission_fault, but returns a bool. */
bool permission_is_lost(struct reconcile *r, struct command *cmd);

#endif

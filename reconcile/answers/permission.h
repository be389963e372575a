/* Whether the caller still has the right to its request (AU-5). Loop thread. */
#ifndef RECONCILE_ANSWERS_PERMISSION_H
#define RECONCILE_ANSWERS_PERMISSION_H

#include "model/command.h"

struct problem;
struct reconcile;

/*
 * Returns NULL when the caller has the right now; the command then gets the token's current rights. Otherwise
 * returns the problem that the first check of the request would give now; the caller owns it.
 */
struct problem *permission_fault(struct reconcile *r, struct command *cmd);
/* Does the same as permission_fault, but returns a bool. */
bool permission_is_lost(struct reconcile *r, struct command *cmd);

#endif

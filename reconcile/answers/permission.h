/* Whether who asked may still (AU-5). Loop thread. */
#ifndef RECONCILE_ANSWERS_PERMISSION_H
#define RECONCILE_ANSWERS_PERMISSION_H

#include "model/command.h"

struct problem;
struct reconcile;

/*
 * NULL: the caller may, by what is so now, and the command says from now on what its token may now. Else the
 * problem that the first check of the request would give now; the caller owns it.
 */
struct problem *permission_fault(struct reconcile *r, struct command *cmd);
/* The same in short. */
bool permission_is_lost(struct reconcile *r, struct command *cmd);

#endif

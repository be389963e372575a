/*
 * The deciders, one for each type of command (model/commands.def); dispatch.c calls them. A decider returns
 * the problem with which the command is refused. NULL: the decider took the command over, and the command is
 * answered, is being stored, or waits. Loop thread.
 */
#ifndef RECONCILE_WORLD_DECIDERS_H
#define RECONCILE_WORLD_DECIDERS_H

struct command;
struct problem;
struct reconcile;

typedef struct problem *command_decider(struct reconcile *r, struct command *cmd);

#define COMMAND(name, decider, ...) command_decider command_##decider;
#include "model/commands.def"
#undef COMMAND

#endif

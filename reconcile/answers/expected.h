/* How long operations of a project usually take. Loop thread. */
#ifndef RECONCILE_ANSWERS_EXPECTED_H
#define RECONCILE_ANSWERS_EXPECTED_H

struct command;
struct reconcile;

/* Decides COMMAND_DURATIONS. */
struct problem *command_durations(struct reconcile *r, struct command *cmd);

#endif

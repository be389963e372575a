/*
 * Requests become commands to the deciding side, and its answers become theirs. The worker of the request.
 */
#ifndef API_COMMANDS_H
#define API_COMMANDS_H

#include <stdbool.h>

#include "model/command.h"

struct problem;
struct request;

/* A command with who asks filled in; the deadline is the default one. */
struct command *request_command(struct request *r, enum command_type type);
/*
 * Suspends the request and posts `cmd`, which it takes. The request is answered with the command's answer, or
 * some time after its deadline without: when the store does not answer, or the loop is held up. The command
 * goes on then; what becomes of it can be read.
 */
struct problem *request_park(struct request *r, struct command *cmd);
/* Posts a command whose answer nobody waits for. It is left out while the server stops. */
void request_notify(struct request *r, struct command *cmd);
/* The request goes on: turns the command's answer into its own; takes `cmd`, NULL when it came not in time.
 */
struct problem *request_resume(struct request *r, struct command *cmd);
/* Over the caps nobody else may wait long: the current state is answered at once (AO-16). */
bool request_may_wait(struct request *r);

/* ---- writes: dry runs, and how long the answer may wait for the end of the operation (AO-10 to AO-12) ----
 */

/* A command with dry_run and wait as the request says. */
struct command *write_command(struct request *r, enum command_type type);
/* As request_park; the answer says which preferences were followed. */
struct problem *write_park(struct request *r, struct command *cmd);

/* ---- Idempotency-Key ---- */

/* Syntax of Idempotency-Key, where it has a meaning. */
struct problem *check_idempotency_key(struct request *r);
/* Once the whole body is here: what a repetition has to be equal in (HT-47). Nothing without a key. */
void idempotency_take_fingerprint(struct request *r);

#endif

/* Makes commands for the decider (the reconciler, model/command.h) from requests, and answers with their
 * results. Runs on the worker of the request. */
#ifndef API_COMMANDS_H
#define API_COMMANDS_H

#include <stdbool.h>

#include "model/command.h"

struct problem;
struct request;

/* Makes a command with the caller filled in, and with the deadline of its type. A write of a cluster gets
 * dry_run and wait as requested (AO-10 to AO-12). */
struct command *request_command(struct request *r, enum command_type type);
/* The handler of routes that only pass their command to the decider: makes the command of the route, and
 * parks the request. */
struct problem *request_forward(struct request *r);
/*
 * Suspends the request and posts `cmd`, which it takes over. The request is answered with the command's
 * result. When the store does not answer or the loop is blocked, the request is answered some time after the
 * deadline, without a result. The command then continues, and its outcome can be read later. The answer of a
 * write of a cluster also names the preferences that were applied.
 */
struct problem *request_park(struct request *r, struct command *cmd);
/* Posts a command; no request waits for its result. Does nothing while the server stops. */
void request_notify(struct request *r, struct command *cmd);
/* Answers with a result that is not a problem. Takes the text of the result out of `cmd`. */
struct problem *answer_with_reply(struct request *r, struct command *cmd);
/* Returns the answer of a request that can wait no longer, because the server stops. */
struct problem *request_stopping(void);
/* Returns the answer of a request whose result did not come in time. */
struct problem *request_overdue(const struct request *r);
/* Whether the request may wait. False above the limits: the current state is then answered at once
 * (AO-16). */
bool request_may_wait(struct request *r);

/* ---- Idempotency-Key ---- */

/* Checks the syntax of Idempotency-Key, if the field has a meaning for the request. */
struct problem *check_idempotency_key(struct request *r);
/* Called when the body is complete: makes a digest of the request; a retry of the request has the same digest
 * (HT-47). Does nothing without a key. */
void idempotency_take_fingerprint(struct request *r);

#endif

/* Answers commands, and finds the objects that they name. Loop thread. */
#ifndef RECONCILE_ANSWERS_REPLY_H
#define RECONCILE_ANSWERS_REPLY_H

#include "model/command.h"
#include "reconcile/world/entity.h"
#include "reconcile/world/project.h"
#include "reconcile/world/save.h"

/* Answers a caller that has no right to the command, or has lost the right, and takes over the command.
 * False: the command may be decided. */
bool reply_if_denied(struct reconcile *r, struct command *cmd);
/* Each of these functions answers the command and gives it back. Problem and body are taken over. */
void reply_problem(struct command *cmd, struct problem *problem);
/* Answers 503: shootd is stopping. */
void reply_stopping(struct command *cmd);
/* Does the same as reply_stopping for all commands in a list of struct waiting. */
void reply_stopping_all(struct list *waiters);
/* Answers 404: the named project is not in the configuration. */
void reply_no_project(struct command *cmd);
/* Answers 404: the named cluster is not known. */
void reply_no_cluster(struct command *cmd);
/* Answers 409: not possible in the present phase of the cluster, but perhaps later. */
void reply_not_ready(struct command *cmd, const struct cluster *c);
/* Answers 409: the cluster was found at Cleura, and shootd does not manage its spec. */
void reply_not_managed(struct command *cmd);
/* Adds the id of the operation that the problem concerns. */
void reply_name_operation(struct problem *problem, const struct operation *op);
/* Changes the pointers of faults so that they match the caller's body. */
void reply_fit_faults(const struct command *cmd, struct problem *problem);
void reply_json(struct command *cmd, int status, json_t *body);
/* Prepares the answer, which is sent later, when the change is durable. Takes over the body. */
void reply_prepare(struct command *cmd, int status, json_t *body);
void reply_prepare_cluster(struct command *cmd, int status, const struct entity *e,
                           const struct operation *op);
void reply_prepare_operation(struct command *cmd, int status, const struct operation *op);
/* Sends the prepared answer. When the caller asked to wait, the answer waits for the end of the accepted
 * operation. */
void reply_prepared(struct reconcile *r, struct command *cmd);
/* Called last, by the function that decided the command. The command is given back at the end of the turn,
 * after the view was published. The answer of a command that only reads is sent only when the caller still
 * has the right. */
void reply_give_back(struct command *cmd);
/* Gives back the commands that were answered in this turn. */
void replies_give_back(struct reconcile *r);
/* Sends the prepared answer of a request that changed nothing. If the request has an Idempotency-Key, the
 * answer is first stored under the key (HT-48). */
void reply_unchanged(struct reconcile *r, struct command *cmd);
/* Does the same as reply_unchanged, with the cluster as the body. `op` is the operation that the body shows;
 * NULL: the entity's own operation. */
void reply_cluster(struct command *cmd, int status, const struct entity *e, const struct operation *op);
void reply_operation(struct command *cmd, const struct operation *op);
/* Called for an accepted request: stores its prepared answer for repeated requests, and adds an audit
 * entry. */
void command_keep(struct save *save, struct command *cmd);

/* ---- the object of a command ---- */

/* These return NULL when they have answered the command, because the object does not exist or its project is
 * set aside. */
struct project *command_project(struct reconcile *r, struct command *cmd);
struct entity *command_cluster(struct reconcile *r, struct command *cmd);
/* Explains why nothing is done for a stopped project (reconcile/projects.h); the caller owns the problem. */
struct problem *problem_at_rest(const struct project *p);
/* Answers a command that needs Cleura while the project is stopped or set aside. False: the project is in
 * use. */
bool location_refuses(const struct project *p, struct command *cmd);

#endif

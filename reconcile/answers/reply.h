/* Answers commands. Loop thread. */
#ifndef RECONCILE_ANSWERS_REPLY_H
#define RECONCILE_ANSWERS_REPLY_H

#include "model/command.h"
#include "reconcile/world/entity.h"
#include "reconcile/world/project.h"
#include "reconcile/world/save.h"

/* Returns the problem when the sender of the command has no right to it, or has lost the right; the caller of
 * this function answers with the problem. NULL: the command may be decided. */
struct problem *reply_denial(struct reconcile *r, struct command *cmd);
/* Gives the command back with this problem as its answer; takes over the problem. Deciders do not call this
 * function: they return their problem. */
void reply_problem(struct command *cmd, struct problem *problem);
/* 503: shootd is stopping; the caller owns the problem. */
struct problem *problem_stopping(void);
/* Answers all commands in a list of struct waiting with copies of the problem. */
void reply_problem_all(struct list *waiters, const struct problem *problem);
/* Answers all commands in a list of struct waiting with problem_stopping. */
void reply_stopping(struct list *waiters);
/* Adds the id of the operation that the problem concerns. */
void reply_name_operation(struct problem *problem, const struct operation *op);
/* Changes the JSON pointers of faults so that they begin at the caller's body, which may be only a part of
 * the checked body. */
void reply_fit_faults(const struct command *cmd, struct problem *problem);
/* Gives the command back with this answer; takes over the body. */
void reply_json(struct command *cmd, int status, json_t *body);
/* Prepares the answer, which is sent later, when the change is durable. Takes over the body. */
void reply_prepare(struct command *cmd, int status, json_t *body);
/* Does the same with the JSON text of the body, which it takes over. */
void reply_prepare_text(struct command *cmd, int status, char *text);
void reply_prepare_cluster(struct command *cmd, int status, const struct entity *e,
                           const struct operation *op);
void reply_prepare_operation(struct command *cmd, int status, const struct operation *op);
/* Sends the prepared answer. When the caller asked to wait, the answer waits for the end of the accepted
 * operation. */
void reply_prepared(struct reconcile *r, struct command *cmd);
/* For a save of a command's change: sends the prepared answer, or 503 with `failure` when the change was not
 * stored. */
void reply_saved(struct save *save, const char *failure);
/* The decider calls this function last: the command is given back at the end of the turn, after the view was
 * published. The answer to a command that only reads is sent only when the caller still has the right to it.
 */
void reply_give_back(struct command *cmd);
/* Gives back the commands that were answered in this turn. */
void replies_give_back(struct reconcile *r);
/* Sends the prepared answer of a request that changed nothing. If the request has an Idempotency-Key, the
 * answer is first stored under the key (HT-48). */
void reply_unchanged(struct reconcile *r, struct command *cmd);
/* Does the same for a request whose effect is outside the store. The answer is sent also when it cannot be
 * stored, because the effect has happened. */
void reply_done(struct reconcile *r, struct command *cmd);
/* Does the same as reply_unchanged, with the cluster as the body. `op` is the operation that the body shows;
 * NULL: the entity's own operation. */
void reply_cluster(struct command *cmd, int status, const struct entity *e, const struct operation *op);
void reply_operation(struct command *cmd, const struct operation *op);
/* Called for an accepted request: stores its prepared answer for repeated requests, and adds an audit
 * entry. */
void command_keep(struct save *save, struct command *cmd);

#endif

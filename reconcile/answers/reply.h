/* How commands are answered, and whom they are about. Loop thread. */
#ifndef RECONCILE_ANSWERS_REPLY_H
#define RECONCILE_ANSWERS_REPLY_H

#include "model/command.h"
#include "reconcile/world/entity.h"
#include "reconcile/world/project.h"
#include "reconcile/world/save.h"

/* Answers who may not ask for it, or not any more, and takes it; false: it may be decided. */
bool reply_if_denied(struct reconcile *r, struct command *cmd);
/* Each answers and gives the command back. Problem and body are taken. */
void reply_problem(struct command *cmd, struct problem *problem);
/* 503: shootd is stopping. */
void reply_stopping(struct command *cmd);
/* The same for everybody in a list of struct waiting. */
void reply_stopping_all(struct list *waiters);
/* 404: the command names no cluster that is known. */
void reply_no_cluster(struct command *cmd);
/* 409: the cluster is in a phase in which this is not possible; it may be later. */
void reply_not_ready(struct command *cmd, const struct cluster *c);
/* 409: the cluster was found at Cleura, and its spec is not ours. */
void reply_not_managed(struct command *cmd);
/* Adds the id of the operation that a problem is about. */
void reply_name_operation(struct problem *problem, const struct operation *op);
/* Makes the pointers of faults fit what the caller sent. */
void reply_fit_faults(const struct command *cmd, struct problem *problem);
void reply_json(struct command *cmd, int status, json_t *body);
/* Fills in the answer without giving it: what is promised now is answered when it is durable. Body is taken.
 */
void reply_prepare(struct command *cmd, int status, json_t *body);
void reply_prepare_cluster(struct command *cmd, int status, const struct entity *e,
                           const struct operation *op);
void reply_prepare_operation(struct command *cmd, int status, const struct operation *op);
/* Gives what was prepared; an accepted operation is waited for first when the caller asked for that. */
void reply_prepared(struct reconcile *r, struct command *cmd);
/* The last thing that the deciding side does with a command. An answer that only reports something is given
 * only to a caller that may still ask for it. */
void reply_give_back(struct command *cmd);
/* Gives what was prepared for a request that changed nothing: with a key, it is bound to this answer first
 * (HT-48). */
void reply_unchanged(struct reconcile *r, struct command *cmd);
/* The same with a cluster as the answer. `op` is the operation that answers this caller; NULL: the entity's
 * own. */
void reply_cluster(struct command *cmd, int status, const struct entity *e, const struct operation *op);
void reply_operation(struct command *cmd, const struct operation *op);
/* For an accepted request: its prepared answer is kept for repetitions, and an audit entry is added. */
void command_keep(struct save *save, struct command *cmd);

/* ---- whom a command is about ---- */

/* NULL when the command was answered: there is none, or it is set aside. */
struct project *command_project(struct reconcile *r, struct command *cmd);
struct entity *command_cluster(struct reconcile *r, struct command *cmd);
/* Why nothing is done for a project that rests (reconcile/projects.h); the caller owns it. */
struct problem *problem_at_rest(const struct project *p);
/* Answers what would need Cleura while the project rests or is set aside; false: it does not. */
bool location_refuses(const struct project *p, struct command *cmd);

#endif

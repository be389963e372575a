/* Declarations that the files that decide commands about clusters share. Loop thread. */
#ifndef RECONCILE_COMMANDS_COMMANDS_H
#define RECONCILE_COMMANDS_COMMANDS_H

#include "model/spec.h"
#include "model/spec_limits.h"
#include "reconcile/world/entity.h"
#include "reconcile/world/project.h"
#include "reconcile/world/save.h"

/* ---- commands.c ---- */

struct operation *command_operation(struct entity *e, const struct command *cmd, enum operation_type type);
bool command_wait_until_settled(struct entity *e, struct command *cmd);
/* The cluster of the command, managed and settled; NULL when the command was answered or waits. */
struct entity *command_managed_cluster(struct reconcile *r, struct command *cmd);
void command_reply_busy(struct command *cmd, const struct entity *e, const char *why);
/* Queues or begins `op` (taken); the caller is answered with it when all is durable. */
void command_accept(struct entity *e, struct command *cmd, struct operation *op);
/* The entity of a caller's change that came back from the store; NULL when it is gone. */
struct entity *command_settled(struct save *save);
void command_reply_not_stored(struct command *cmd);
/* A save's on_saved: the command in its ctx gets its prepared answer, or a problem: nothing was stored. */
void command_reply_saved(struct save *save);
/* The same, then the open operation goes on. */
void command_saved_go_on(struct save *save);

/* Takes labels, description and deletion protection from a body. PUT replaces, so members that the body
 * leaves out go back to their defaults. */
void desired_take_metadata(struct cluster *c, const json_t *body);
/* A body that names another cluster is equal to none. */
bool desired_metadata_is_equal(const struct cluster *c, const json_t *body);
/* The spec of a body as a copy (the body goes back to its HTTP thread); {} when it has none. */
json_t *desired_spec(const json_t *body);

/*
 * False when the command was answered with 412. Looked at last, when nothing else stands
 * against the request (HT-18). e: the cluster of the command, or NULL when it does not exist.
 */
bool command_precondition(struct command *cmd, const struct entity *e);

/* ---- change.c ---- */

/* False when there is more in the body than there may be, and the command was answered. c: what is stored, or
 * NULL. */
bool command_fits(struct command *cmd, const json_t *body, enum spec_part part, const struct cluster *c);
/* RFC 7396: null removes, objects merge, everything else replaces. Changes `target`. */
void desired_merge(json_t *target, const json_t *patch);
/* The stored spec and its metadata, in the form of a PUT body. The caller owns it. */
json_t *desired_of(const struct cluster *c);
/* Makes `body` what is desired, when that is possible; takes the command. */
void change_cluster(struct entity *e, struct command *cmd, const json_t *body);

/* ---- create.c ---- */

/* A record of a cluster that was never made: it gives way to a new create. */
bool create_is_leftover(const struct entity *e);
/* Checks and accepts a create; takes the command. */
void create_or_wait(struct reconcile *r, struct project *p, struct command *cmd, const char *name,
                    enum spec_use use);

/* ---- dry_run.c: each answers with what would happen. Nothing is taken but the command. ---- */

/* True when the command is a dry run: answered as not valid, the problem taken. */
bool dry_run_faults(struct command *cmd, struct problem *faults);
/* Asks Cleura for the project's quota first, for a moment at most. */
void dry_run_create(struct project *p, struct command *cmd);
/* body: all that is desired; goal: its spec, as far as it can be brought about. */
void dry_run_change(const struct entity *e, struct command *cmd, const json_t *body, const json_t *goal,
                    const json_t *present, const json_t *plan);
/* op: its steps, or NULL when nothing is left to do. */
void dry_run_action(struct command *cmd, const struct operation *op);
void dry_run_delete(struct command *cmd, const struct entity *e);

#endif

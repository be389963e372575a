/* Declarations shared by the files that decide commands about clusters. Loop thread. */
#ifndef RECONCILE_COMMANDS_COMMANDS_H
#define RECONCILE_COMMANDS_COMMANDS_H

#include "model/spec.h"
#include "model/spec_limits.h"
#include "reconcile/world/entity.h"
#include "reconcile/world/project.h"
#include "reconcile/world/save.h"

/* ---- commands.c ---- */

struct operation *command_operation(struct entity *e, const struct command *cmd, enum operation_type type);
/* When the cluster has an unfinished save, parks the command until that save is stored, and then decides the
 * command again. Returns false when no save is unfinished. */
bool command_wait_until_settled(struct entity *e, struct command *cmd);
/* Finds the command's cluster. While the cluster has an unfinished save, the command waits. Returns a problem
 * when the cluster does not exist or is not managed. *ret is NULL when the command is refused or waits. */
struct problem *command_managed_cluster(struct reconcile *r, struct command *cmd, struct entity **ret);
/* 409, with the operation for which the caller may wait. */
struct problem *command_busy(const struct entity *e, const char *why);
/* 409 while an operation of a restored backup is open: it changes nothing any more (operations/steps.c), so
 * no request joins it, and it ends when Cleura has been read. NULL: there is none. */
struct problem *command_restored(const struct entity *e);
/* Called when a caller's change of the desired state is stored: a cluster that was found at Cleura is managed
 * from now on. Does nothing for a cluster that is managed already. */
void command_adopt(struct save *save, struct entity *e, const struct command *cmd);
/* Queues or begins `op` (taken over). The caller gets the operation as the answer when everything is
 * durable. */
void command_accept(struct entity *e, struct command *cmd, struct operation *op);
/* Called once when a caller's change has returned from the store: the change is not counted as unfinished any
 * more. Returns its entity, or NULL when the entity no longer exists. */
struct entity *command_settled(struct save *save);
/* A save's on_saved: the command in its ctx gets its prepared answer, or a problem when nothing was
 * stored. */
void command_reply_saved(struct save *save);
/* Does the same as command_reply_saved; then continues the cluster's open operation. */
void command_saved_go_on(struct save *save);

/* Takes labels, description and deletion protection from a body. PUT replaces, so absent members get their
 * defaults. */
void desired_take_metadata(struct cluster *c, const json_t *body);
/* Whether the body has the metadata of the cluster. False for a body that names another cluster. */
bool desired_metadata_is_equal(const struct cluster *c, const json_t *body);
/* Copies the spec of a body, because the body returns to its HTTP thread; {} when the body has no spec. */
json_t *desired_spec(const json_t *body);

/*
 * Returns a problem when a precondition of the command does not hold. Preconditions are checked last, after
 * all other checks have passed (HT-18). e: the cluster of the command, or NULL when it does not exist.
 */
struct problem *command_precondition(const struct command *cmd, const struct entity *e);
/* Does the same for any resource. tagged: the word in the problem for that whose entity tag is compared;
 * what: the word for that to which "*" refers. */
struct problem *precondition_of(const struct command *cmd, const char *tagged, const char *what,
                                const struct etag_current *current);

/* ---- change.c ---- */

/* Returns the faults of a body that exceeds the limits, or NULL. c: the stored cluster, or NULL. */
struct problem *command_size_faults(const json_t *body, enum spec_part part, const struct cluster *c);
/* Merges by RFC 7396: null removes, objects merge, other values replace. Changes `target`. */
void desired_merge(json_t *target, const json_t *patch);
/* Returns the stored spec and the cluster's metadata, in the form of a PUT body. The caller owns it. */
json_t *desired_of(const struct cluster *c);
/* Makes `body` the desired state, when that is possible; decides the command (decide.h). */
struct problem *change_cluster(struct entity *e, struct command *cmd, const json_t *body);

/* ---- create.c ---- */

/* Whether the entity is the record of a cluster that was never created; a new create replaces it. */
bool create_is_leftover(const struct entity *e);
/* Checks and accepts a create; decides the command (decide.h). */
struct problem *create_or_wait(struct reconcile *r, struct project *p, struct command *cmd, const char *name,
                               enum spec_use use);

/* ---- dry_run.c: each function answers with the effects of a write, and takes over only the command. ---- */

/* Returns the faults, with which the command is refused. A dry run is not refused: its answer has `valid`
 * false and the faults, and this function returns NULL. */
struct problem *dry_run_faults(struct command *cmd, struct problem *faults);
/* Waits for the quota of the project, or answers. */
void dry_run_create(struct project *p, struct command *cmd);
/* body: the whole desired state; goal: the part of its spec that can be carried out. */
void dry_run_change(const struct entity *e, struct command *cmd, const json_t *body, const json_t *goal,
                    const json_t *present, const json_t *plan);
/* is_needed: false when the action's result exists, or an accepted operation will produce it. */
void dry_run_action(struct command *cmd, bool is_needed);
void dry_run_delete(struct command *cmd, const struct entity *e);

#endif

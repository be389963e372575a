/* Deletes clusters. A delete may be repeated, and ends all other operations of the cluster (ends.c). Loop
 * thread. */
#include <assert.h>

#include "base/mem.h"
#include "reconcile/answers/objects.h"
#include "reconcile/answers/reply.h"
#include "reconcile/commands/commands.h"
#include "reconcile/commands/decide.h"
#include "reconcile/operations/plan.h"
#include "reconcile/world/deciders.h"
#include "reconcile/world/entity.h"
#include "reconcile/world/world.h"

struct problem *command_cluster_delete(struct reconcile *r, struct command *cmd)
{
    struct entity *e;
    struct problem *refusal = command_cluster(r, cmd, &e);
    if (refusal || command_wait_until_settled(e, cmd))
        return refusal;
    if ((refusal = command_restored(e)))
        return refusal;
    /* A repeated delete is not a fault: the answer is the same operation, also when the precondition names
     * the version from before the first delete (RFC 9110 13.1.1). */
    if (entity_is_leaving(e) && !cmd->write.dry_run) {
        const struct operation *waiting = entity_queue_find(e, OPERATION_DELETE);
        reply_cluster(cmd, 202, e, waiting ? waiting : e->op);
        return NULL;
    }
    if (!e->cluster->managed)
        return problem_not_managed(e->cluster);
    if (e->cluster->deletion_protection)
        return problem_new(PROBLEM_DELETION_PROTECTED, "deletion_protection of '%s' is true", cmd->name);
    refusal = command_precondition(cmd, e);
    if (refusal)
        return refusal;
    if (cmd->write.dry_run) {
        dry_run_delete(cmd, e);
        return NULL;
    }
    assert(!entity_is_leaving(e));
    struct cluster *c = e->cluster;
    struct operation *op = command_operation(e, cmd, OPERATION_DELETE);
    plan_delete(e, op);
    c->phase = PHASE_DELETING;
    c->health = HEALTH_PROGRESSING;
    c->settling = false;
    mem_set_str(&c->message, "Deletion accepted");
    command_accept(e, cmd, op);
    return NULL;
}

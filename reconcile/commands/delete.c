/* Deletions. They may be repeated, and end all other operations (ends.c). Loop thread. */
#include <assert.h>

#include "base/mem.h"
#include "reconcile/answers/reply.h"
#include "reconcile/commands/commands.h"
#include "reconcile/commands/decide.h"
#include "reconcile/operations/plan.h"
#include "reconcile/world/entity.h"
#include "reconcile/world/world.h"

void command_cluster_delete(struct reconcile *r, struct command *cmd)
{
    struct entity *e = command_cluster(r, cmd);
    if (!e || command_wait_until_settled(e, cmd))
        return;
    /* A repeated delete is no fault. It is answered with the same operation, also when its If-Match has the
     * version from before the first delete (RFC 9110 13.1.1). */
    if (entity_is_leaving(e) && !cmd->write.dry_run) {
        const struct operation *waiting = entity_queue_find(e, OPERATION_DELETE);
        reply_cluster(cmd, 202, e, waiting ? waiting : e->op);
        return;
    }
    if (!e->cluster->managed) {
        reply_not_managed(cmd);
        return;
    }
    if (e->cluster->deletion_protection) {
        reply_problem(
            cmd, problem_new(PROBLEM_DELETION_PROTECTED, "deletion_protection of '%s' is true", cmd->name));
        return;
    }
    if (!command_precondition(cmd, e))
        return;
    if (cmd->write.dry_run) {
        dry_run_delete(cmd, e);
        return;
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
}

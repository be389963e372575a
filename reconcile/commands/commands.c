/*
 * Code shared by all commands about clusters, and the acceptance of operations. Decisions use the state in
 * memory. Accepted writes are answered when the change is durable. Loop thread.
 */
#include "reconcile/commands/commands.h"

#include <assert.h>
#include <string.h>

#include "base/ids.h"
#include "base/log.h"
#include "base/mem.h"
#include "reconcile/answers/objects.h"
#include "reconcile/answers/reply.h"
#include "reconcile/operations/queue.h"
#include "reconcile/world/assess.h"
#include "reconcile/world/entity.h"
#include "reconcile/world/events.h"
#include "reconcile/world/save.h"
#include "reconcile/world/waiting.h"
#include "view/render.h"

struct operation *command_operation(struct entity *e, const struct command *cmd, enum operation_type type)
{
    assert(type < OPERATION_TYPE_MAX_ && command_write_of(cmd));
    struct operation *op = operation_new();
    (void)id_new(e->r->env, ID_OPERATION, op->id);
    op->type = type;
    op->project = mem_strdup(e->cluster->project);
    op->cluster = mem_strdup(e->cluster->name);
    memcpy(op->cluster_id, e->cluster->id, sizeof(op->cluster_id));
    op->requested_by = mem_strdup(cmd->caller.token_name);
    op->request_id = mem_strdup(cmd->request_id);
    op->trace = cmd->trace;
    op->message = mem_strdup("Accepted");
    op->created_at = env_wall(e->r->env);
    return op;
}

struct problem *command_busy(const struct entity *e, const char *why)
{
    struct problem *p = problem_new(PROBLEM_CLUSTER_BUSY, "%s", why);
    const struct operation *op = e->queued ? e->queue[e->queued - 1] : e->op;
    p->retry_after_s = 10;
    if (op)
        reply_name_operation(p, op);
    return p;
}

struct problem *command_restored(const struct entity *e)
{
    bool is_restored = entity_has_open_operation(e) && e->op->restored;
    for (size_t i = 0; i < e->queued; i++)
        is_restored |= e->queue[i]->restored;
    return is_restored ? command_busy(e, "the store was restored: an operation of the backup has not been "
                                         "compared with Cleura yet")
                       : NULL;
}

void command_reply_saved(struct save *save)
{
    reply_saved(save, "the change could not be stored");
}

struct entity *command_settled(struct save *save)
{
    struct entity *e = entity_by_key(save->r, save->key);
    if (e) {
        assert(e->saves.asked_for > 0);
        e->saves.asked_for--;
    }
    return e;
}

static void on_barrier_passed(struct save *save)
{
    command_is_ready(save->ctx);
}

/*
 * Whether another caller's change of this cluster is still being stored. The store may still refuse that
 * change, and the answer to this command must not show a refused change. Therefore the command waits, and is
 * decided again when that change is durable (the store writes changes in their order).
 */
bool command_wait_until_settled(struct entity *e, struct command *cmd)
{
    if (!e || !e->saves.asked_for)
        return false;
    cmd->facts.known &= ~(unsigned)NEEDS_OF_STATE;
    save_submit(save_answer(e->r, on_barrier_passed, cmd), false);
    return true;
}

struct problem *command_managed_cluster(struct reconcile *r, struct command *cmd, struct entity **ret)
{
    struct entity *e;
    struct problem *refusal = command_cluster(r, cmd, &e);
    bool waits = command_wait_until_settled(e, cmd);
    if (e && !waits && !e->cluster->managed)
        refusal = problem_not_managed(e->cluster);
    *ret = refusal || waits ? NULL : e;
    return refusal;
}

void desired_take_metadata(struct cluster *c, const json_t *body)
{
    json_decref(c->labels);
    c->labels = json_obj(body, "labels") ? json_deep_copy(json_obj(body, "labels")) : json_object();
    mem_set_str(&c->description, json_str(body, "description"));
    c->deletion_protection = json_bool(body, "deletion_protection", false);
}

bool desired_metadata_is_equal(const struct cluster *c, const json_t *body)
{
    json_t *empty CLEANUP_JSON = json_object();
    json_t *labels = json_obj(body, "labels");
    const char *description = json_str(body, "description");
    bool same_name = !strcmp(json_str_or(body, "name", c->name), c->name);
    bool same_description =
        description ? c->description && !strcmp(description, c->description) : !c->description;
    return same_name && json_equal(c->labels, labels ? labels : empty) && same_description &&
           c->deletion_protection == json_bool(body, "deletion_protection", false);
}

json_t *desired_spec(const json_t *body)
{
    json_t *spec = json_obj(body, "spec");
    return spec ? json_deep_copy(spec) : json_object();
}

/* ---- accepting ---- */

void command_adopt(struct save *save, struct entity *e, const struct command *cmd)
{
    struct cluster *c = e->cluster;
    if (c->managed)
        return;
    c->managed = true;
    log_info("cluster adopted", "project", c->project, "cluster", c->name, "by", cmd->caller.token_name);
    emit_adopted(save, e, cmd->caller.token_name);
}

void command_saved_go_on(struct save *save)
{
    struct entity *e = command_settled(save);
    command_reply_saved(save);
    if (save->status == STORE_OK && e)
        entity_touch(e);
}

void command_accept(struct entity *e, struct command *cmd, struct operation *op)
{
    struct cluster *c = e->cluster;
    assert(command_write_of(cmd) && !cmd->write.dry_run && !e->saves.asked_for);
    assert(op->status == OPERATION_PENDING && !strcmp(op->cluster_id, c->id));
    struct save *save = save_answer(e->r, command_saved_go_on, cmd);
    command_adopt(save, e, cmd);
    log_info("operation accepted", "type", operation_type_name(op->type), "project", c->project, "cluster",
             c->name, "operation", op->id, "request_id", cmd->request_id, "by", cmd->caller.token_name);
    e->saves.asked_for++;
    c->generation++;
    queue_supersede(e, save, op);
    if (entity_has_open_operation(e) || e->queued) {
        entity_queue_push(e, op);
        save_operation(save, op);
    } else {
        entity_set_operation(e, op);
        if (op->type != OPERATION_DELETE && c->shoot)
            assess_settle(e, save);
    }
    save_entity(save, e);
    reply_prepare_cluster(cmd, 202, e, op);
    command_keep(save, cmd);
    save_submit(save, false);
}

/*
 * ---- preconditions (HT-17, HT-18) ----
 *
 * An entity tag stands for the state of a resource that a caller has seen. Only its version is compared, so a
 * poll after the caller's read is not a conflict (view/render.h). In requests about a node pool, "*" refers
 * to the pool, but an entity tag is always the entity tag of the cluster.
 */

struct problem *precondition_of(const struct command *cmd, const char *tagged, const char *what,
                                const struct etag_current *current)
{
    switch (preconditions_check(cmd->preconditions, current)) {
    case PRECONDITION_HOLDS:
        break;
    case PRECONDITION_OTHER:
        return problem_new(PROBLEM_PRECONDITION_FAILED,
                           "If-Match does not name the current version of the %s", tagged);
    case PRECONDITION_ABSENT:
        return problem_new(PROBLEM_PRECONDITION_FAILED, "If-Match was sent, but there is no such %s", what);
    case PRECONDITION_EXISTS:
        return problem_new(PROBLEM_PRECONDITION_FAILED,
                           "If-None-Match: * was sent, but there is already such a %s", what);
    case PRECONDITION_CURRENT:
        return problem_new(PROBLEM_PRECONDITION_FAILED, "If-None-Match names the current version of the %s",
                           tagged);
    }
    return NULL;
}

struct problem *command_precondition(const struct command *cmd, const struct entity *e)
{
    char version[ETAG_BYTES] = "";
    if (e)
        render_cluster_version(e->cluster, version);
    if (cmd->type != COMMAND_NODE_POOL)
        return precondition_of(cmd, "cluster", "cluster",
                               &(struct etag_current){.exists = e, .tag = version});
    assert(e);
    /* A request that adds a pool gets 409 when the pool exists. */
    const struct etag_current pool = {
        .exists = cmd->write.pool_exists, .any_holds = cmd->write.pool == POOL_ADD, .tag = version};
    return precondition_of(cmd, "cluster", "node pool", &pool);
}

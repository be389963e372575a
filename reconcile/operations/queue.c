/*
 * The operations of a cluster that wait for their turn. A delete interrupts other operations at the next safe
 * point. A change replaces a waiting change, because its own spec is complete. Hibernate and wake replace
 * each other.
 *
 * Why operations of a cluster wait here and not at Cleura: Cleura refuses a change while it is busy, and does
 * not say which of two changes it took. A waiting operation is planned only when its turn comes, because the
 * operation before it, or somebody else, may have changed what there is to do. Loop thread.
 */
#include "reconcile/operations/queue.h"

#include <assert.h>

#include "model/spec.h"
#include "reconcile/operations/action_kinds.h"
#include "reconcile/operations/ends.h"
#include "reconcile/operations/plan.h"
#include "reconcile/world/assess.h"
#include "reconcile/world/entity.h"
#include "reconcile/world/project.h"
#include "reconcile/world/save.h"

/* Ends the first waiting operation. */
static void fail_first(struct entity *e, struct save *save, const char *why)
{
    struct operation *op = entity_queue_take(e, 0);
    operation_finish(e, save, op, OPERATION_FAILED, problem_new(PROBLEM_CLUSTER_FAILED, "%s", why));
    save_operation(save, op);
    operation_free(op);
}

void queue_fail(struct entity *e, struct save *save, const char *why)
{
    while (e->queued)
        fail_first(e, save, why);
}

bool queue_is_due(const struct entity *e)
{
    return e->queued && (e->queue[0]->type == OPERATION_DELETE || !entity_has_open_operation(e));
}

static bool is_power_action(enum operation_type type)
{
    return action_kind(type) && action_kind(type)->is_power;
}

static bool makes_void(enum operation_type later, enum operation_type earlier)
{
    return later == OPERATION_DELETE || later == earlier ||
           (is_power_action(later) && is_power_action(earlier));
}

static void supersede(struct entity *e, struct save *save, struct operation *op, const struct operation *by)
{
    struct problem *p = problem_new(PROBLEM_SUPERSEDED, "replaced by operation %s", by->id);
    p->extra = json_object();
    json_set_str(p->extra, "operation_id", by->id);
    operation_finish(e, save, op, OPERATION_CANCELLED, p);
    save_operation(save, op);
}

void queue_supersede(struct entity *e, struct save *save, const struct operation *by)
{
    assert(!operation_status_is_final(by->status));
    for (size_t i = e->queued; i-- > 0;) {
        if (!makes_void(by->type, e->queue[i]->type))
            continue;
        struct operation *op = entity_queue_take(e, i);
        supersede(e, save, op, by);
        operation_free(op);
    }
}

/* Checks an operation when its turn comes, because earlier operations may have made this operation
 * impossible. */
static struct problem *why_impossible(const struct entity *e, const struct operation *op)
{
    struct problem *faults = NULL;
    struct spec_context context;
    if (op->type == OPERATION_DELETE)
        return NULL;
    assert(e->cluster->upstream_exists);
    if (entity_is_deleted_at_cleura(e) && op->type != OPERATION_RETRY)
        return problem_new(PROBLEM_CLUSTER_BUSY, "the cluster is being deleted at Cleura");
    if (op->type != OPERATION_UPDATE || !e->cluster->shoot)
        return NULL;
    json_t *present CLEANUP_JSON = plan_present(e, op);
    project_spec_context(e->project, &context);
    context.observed = present;
    json_t *body CLEANUP_JSON = json_pack("{sO}", "spec", json_obj(op->body, "spec"));
    context.known = body; /* the limits were checked at the acceptance */
    spec_check_body(body, SPEC_PUT, &context, &faults);
    spec_check_change(json_obj(op->body, "spec"), present, &context, &faults);
    return faults;
}

/* Ends the first waiting operation, because there is no cluster that it could change. */
static void fail_never_created(struct entity *e)
{
    static const char why[] = "the cluster was never created";
    if (!e->op) { /* the row of the create could not be read */
        entity_set_operation(e, entity_queue_take(e, 0));
        entity_fail_operation(e, problem_new(PROBLEM_CLUSTER_FAILED, "%s", why));
        return;
    }
    /* The create stays the operation of the cluster: its body still shows later whether a shoot with this
     * name is shootd's own. */
    struct save *save = save_new(e->r, NULL, NULL);
    fail_first(e, save, why);
    save_entity(save, e);
    save_submit(save, false);
}

void queue_promote(struct entity *e)
{
    assert(queue_is_due(e));
    if (!e->cluster->upstream_exists && e->queue[0]->type != OPERATION_DELETE) {
        fail_never_created(e);
        return;
    }
    struct save *save = save_new(e->r, NULL, NULL);
    struct operation *op = entity_queue_take(e, 0);
    /* The deletion was planned while another operation was open. Now the result of that operation is
     * known. */
    if (op->type == OPERATION_DELETE)
        plan_delete_after_create(e, op);
    if (entity_has_open_operation(e)) {
        supersede(e, save, e->op, op);
        e->saves.operation_ended = true;
    }
    if (op->type == OPERATION_UPDATE && entity_change_was_in_vain(e))
        plan_after_vain_change(op, e->op);
    entity_set_operation(e, op);
    if (op->type == OPERATION_UPDATE && op->status == OPERATION_PENDING && e->cluster->shoot)
        plan_update(e, op);
    struct problem *impossible = why_impossible(e, op);
    if (impossible)
        operation_finish(e, save, op, OPERATION_FAILED, impossible);
    else if (!op->step_count)
        operation_finish(e, save, op, OPERATION_SUCCEEDED, NULL); /* no step is left */
    if (e->cluster->shoot && op->type != OPERATION_DELETE)
        assess_settle(e, save);
    save_entity(save, e);
    save_submit(save, false);
}

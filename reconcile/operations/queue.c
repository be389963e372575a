/*
 * Operations that wait their turn. A delete cuts everything short at the next safe point; a change replaces
 * the waiting change before it (its spec is complete, so the latest wins); hibernate and wake replace
 * each other. Each operation ends with its own truth. Loop thread.
 */
#include "reconcile/operations/queue.h"

#include "model/spec.h"
#include "reconcile/operations/ends.h"
#include "reconcile/operations/plan.h"
#include "reconcile/world/assess.h"
#include "reconcile/world/entity.h"
#include "reconcile/world/project.h"
#include "reconcile/world/save.h"

bool queue_is_due(const struct entity *e)
{
    return e->queued && (e->queue[0]->type == OPERATION_DELETE || !entity_has_open_operation(e));
}

static bool makes_void(enum operation_type later, enum operation_type earlier)
{
    bool power = earlier == OPERATION_HIBERNATE || earlier == OPERATION_WAKE;
    if (later == OPERATION_DELETE || later == earlier)
        return true;
    return power && (later == OPERATION_HIBERNATE || later == OPERATION_WAKE);
}

void queue_supersede(struct entity *e, struct save *save, const struct operation *by)
{
    for (size_t i = e->queued; i-- > 0;) {
        if (!makes_void(by->type, e->queue[i]->type))
            continue;
        struct operation *op = entity_queue_take(e, i);
        operation_supersede(e, save, op, by);
        operation_free(op);
    }
}

/* What was accepted in advance may turn out to be impossible when its turn comes. */
static struct problem *why_impossible(const struct entity *e, const struct operation *op)
{
    struct problem *faults = NULL;
    struct spec_context context;
    if (op->type == OPERATION_DELETE)
        return NULL;
    if (!e->cluster->upstream_exists)
        return problem_new(PROBLEM_CLUSTER_FAILED, "the cluster was never made");
    if (entity_is_deleted_at_cleura(e) && op->type != OPERATION_RETRY)
        return problem_new(PROBLEM_CLUSTER_BUSY, "the cluster is being deleted at Cleura");
    if (op->type != OPERATION_UPDATE || !e->cluster->shoot)
        return NULL;
    project_spec_context(e->project, &context);
    context.observed = e->cluster->shoot->observed;
    json_t *body CLEANUP_JSON = json_pack("{sO}", "spec", json_obj(op->body, "spec"));
    context.known = body; /* its size was judged when it was accepted */
    spec_check_body(body, SPEC_PUT, &context, &faults);
    spec_check_change(json_obj(op->body, "spec"), e->cluster->shoot->observed, &context, &faults);
    return faults;
}

void queue_promote(struct entity *e)
{
    struct save *save = save_new(e->r, NULL, NULL);
    struct operation *op = entity_queue_take(e, 0);
    /* Planned while another one was open; now it is known what there is. */
    if (op->type == OPERATION_DELETE)
        plan_delete_after_create(e, op);
    if (entity_has_open_operation(e)) {
        operation_supersede(e, save, e->op, op);
        e->saves.operation_ended = true;
    }
    entity_set_operation(e, op);
    if (op->type == OPERATION_UPDATE && op->status == OPERATION_PENDING && e->cluster->shoot)
        plan_update(e, op);
    struct problem *impossible = why_impossible(e, op);
    if (impossible)
        operation_finish(e, save, op, OPERATION_FAILED, impossible);
    else if (!op->step_count)
        operation_finish(e, save, op, OPERATION_SUCCEEDED, NULL); /* what came before brought it about */
    if (e->cluster->shoot && op->type != OPERATION_DELETE)
        assess_settle(e, save);
    save_entity(save, e);
    save_submit(save, false);
}

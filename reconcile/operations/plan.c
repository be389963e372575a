/*
 * Plans the steps of an operation. Loop thread.
 *
 * Why a plan of wanted states and not of requests: a request that was made earlier may be wrong when it is
 * sent, and after a lost answer nobody can see whether a request arrived, but everybody can see whether a
 * state is there.
 */
#include "reconcile/operations/plan.h"

#include <assert.h>
#include <string.h>

#include "model/moves.h"
#include "model/spec.h"
#include "reconcile/operations/action_kinds.h"
#include "reconcile/operations/proof.h"
#include "reconcile/world/entity.h"
#include "reconcile/world/project.h"

void plan_create(struct entity *e, struct operation *op)
{
    if (!e->project->state->bootstrapped_at)
        (void)operation_add_step(op, STEP_BOOTSTRAP, "");
    (void)operation_add_step(op, STEP_CREATE_SHOOT, "");
    (void)operation_add_step(op, STEP_WAIT_READY, "");
}

void plan_delete(struct entity *e, struct operation *op)
{
    (void)operation_add_step(op, STEP_DELETE_SHOOT, "");
    (void)operation_add_step(op, STEP_WAIT_GONE, "");
    plan_delete_after_create(e, op);
}

/* Keeps the body of the create, which shows later whether a shoot with this name is shootd's own
 * (proof_is_ours). An earlier delete, which was cancelled or failed, has this body, too. */
void plan_delete_after_create(struct entity *e, struct operation *op)
{
    assert(op->type == OPERATION_DELETE);
    if (e->cluster->upstream_exists && shoot_has_uid(e->cluster->shoot))
        return;
    if (!proof_may_have_been_made(e)) {
        struct operation_step *call = operation_delete_call(op);
        if (call->status == STEP_PENDING)
            step_move(op, call, STEP_SKIPPED);
    } else if (e->op && (e->op->type == OPERATION_CREATE || e->op->type == OPERATION_DELETE)) {
        json_decref(op->body); /* the answer to the create may have added the uid since the delete was made */
        op->body = json_deep_copy(e->op->body);
    }
}

/* The state includes the open operations, because Cleura shows the spec that was requested last. */
const json_t *plan_base(const struct entity *e)
{
    if (e->cluster->shoot)
        return shoot_observed(e->cluster->shoot);
    return entity_open_type(e) == OPERATION_CREATE ? e->op->body : NULL;
}

json_t *plan_present(const struct entity *e, const struct operation *op)
{
    assert(op->type == OPERATION_UPDATE);
    return spec_presumed(plan_base(e), json_obj(op->body, "before"), json_obj(op->body, "spec"));
}

void plan_after_vain_change(struct operation *op, const struct operation *failed)
{
    assert(op->type == OPERATION_UPDATE && failed->type == OPERATION_UPDATE);
    json_t *before = json_obj(failed->body, "before");
    if (before)
        (void)json_object_set(op->body, "before", before);
    else
        (void)json_object_del(op->body, "before");
}

void plan_update(struct entity *e, struct operation *op)
{
    struct spec_context context;
    assert(op->type == OPERATION_UPDATE && op->status == OPERATION_PENDING);
    json_t *body = json_object();
    project_spec_context(e->project, &context);
    json_t *spec = json_obj(op->body, "spec");
    json_t *present CLEANUP_JSON = plan_present(e, op);
    json_t *steps = spec_plan(spec, present, &context);
    size_t i;
    json_t *step;
    operation_clear_steps(op);
    json_array_foreach (steps, i, step)
        (void)operation_add_step(op, (enum step_type)step_type_from_name(json_str(step, "type")),
                                 json_str(step, "target"));
    json_set_take(body, "spec", json_incref(spec));
    if (json_obj(op->body, "before"))
        json_set_take(body, "before", json_incref(json_obj(op->body, "before")));
    json_set_take(body, "steps", steps);
    json_decref(op->body);
    op->body = body;
}

void plan_action(struct operation *op)
{
    const struct action_kind *kind = action_kind(op->type);
    assert(kind);
    for (const struct action_step *step = kind->steps; step->target; step++)
        (void)operation_add_step(op, step->type, step->target);
}

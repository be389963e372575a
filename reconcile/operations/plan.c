/*
 * Plans the steps of an operation. Loop thread.
 *
 * Why a plan of wanted states and not of requests: a request that was made earlier may be wrong when it is
 * sent, and after a lost answer nobody can see whether a request arrived, but everybody can see whether a
 * state is there. Why the proof that a shoot is ours is needed: Cleura's calls take names, and names are used
 * again. To delete somebody else's cluster is the worst that shootd could do, so doubt means that nothing is
 * sent.
 */
#include "reconcile/operations/plan.h"

#include <assert.h>
#include <string.h>

#include "model/moves.h"
#include "model/spec.h"
#include "reconcile/operations/action_kinds.h"
#include "reconcile/world/entity.h"
#include "reconcile/world/project.h"

void plan_create(struct entity *e, struct operation *op)
{
    if (!e->project->state->bootstrapped_at)
        (void)operation_add_step(op, STEP_BOOTSTRAP, "");
    (void)operation_add_step(op, STEP_CREATE_SHOOT, "");
    (void)operation_add_step(op, STEP_WAIT_READY, "");
}

static const struct operation_step *create_step(const struct entity *e)
{
    const struct operation *op = e->op;
    for (unsigned i = 0; op && op->type == OPERATION_CREATE && i < op->step_count; i++)
        if (op->steps[i].type == STEP_CREATE_SHOOT)
            return &op->steps[i];
    return NULL;
}

/* Whether the create may have made a shoot. Returns false when Cleura has certainly refused the create: a
 * shoot with that name is then foreign, and must not be deleted. */
static bool plan_may_have_been_made(const struct entity *e)
{
    const struct operation_step *step = create_step(e);
    return !step || step->uncertain || step->status == STEP_SENDING || step->status == STEP_DONE;
}

/* Whether only the body of the create shows whether this shoot is the cluster's: no uid is known. A deletion
 * keeps that body (plan_delete_after_create). A shoot without a uid is compared only once, because later runs
 * change what is compared; without a uid nothing is deleted. */
static bool plan_lacks_uid(const struct entity *e, const struct shoot *shoot)
{
    const struct operation *op = e->op;
    if (!e->cluster->upstream_exists)
        return true;
    if (shoot_has_uid(e->cluster->shoot) || (e->cluster->shoot && !shoot_has_uid(shoot)))
        return false;
    return op && op->body && (op->type == OPERATION_CREATE || op->type == OPERATION_DELETE);
}

bool plan_is_foreign(const struct entity *e, const struct shoot *shoot)
{
    if (!plan_lacks_uid(e, shoot))
        return false;
    return !e->op || !plan_may_have_been_made(e) || !plan_may_be_ours(e, shoot);
}

/* Whether the two values are the same. An unreadable value counts as the same, except with `proven`. */
static bool is_same(const json_t *wanted, const json_t *there, bool proven)
{
    return json_is_null(there) ? !proven : json_equal(wanted, there);
}

static bool same_pools(const json_t *wanted, const json_t *there, bool proven)
{
    if (json_array_size(wanted) != json_array_size(there))
        return false;
    size_t i, j;
    json_t *pool, *other;
    json_array_foreach (wanted, i, pool) {
        bool found = false;
        json_array_foreach (there, j, other)
            found |= is_same(json_object_get(pool, "name"), json_object_get(other, "name"), proven) &&
                     is_same(json_object_get(pool, "machine_type"), json_object_get(other, "machine_type"),
                             proven);
        if (!found)
            return false;
    }
    return true;
}

/* Whether the shoot has the uid that Cleura's answer to the create named (API v1). */
static bool has_uid_of_create(const struct shoot *shoot, const char *uid)
{
    uuid_t created;
    return uuid_parse(uid, created) == 0 && uuid_compare(created, shoot->uid) == 0;
}

/*
 * The uid of the create's answer decides, when both are known. Otherwise: a foreign shoot with the same name
 * has an older history, or a different version, or different pools. A shoot is certainly shootd's own when
 * its history can be read, and its version or all its pools equal those that were requested. Only such a
 * shoot may be deleted.
 */
enum likeness plan_likeness(const struct entity *e, const struct shoot *shoot)
{
    assert(e->op && shoot);
    const json_t *wanted = e->op->body, *there = shoot_observed(shoot);
    const json_t *version = json_object_get(there, "kubernetes_version"),
                 *wanted_version = json_object_get(wanted, "kubernetes_version");
    const json_t *pools = json_arr(there, "node_pools"), *wanted_pools = json_arr(wanted, "node_pools");
    const char *type = shoot->operation_type, *uid = json_str(wanted, "uid");
    if (uid && shoot_has_uid(shoot))
        return has_uid_of_create(shoot, uid) ? LIKENESS_PROVEN : LIKENESS_NONE;
    const bool has_history = shoot->has_operation && type && strcmp(type, "Create") != 0;
    if (!wanted || has_history || !is_same(wanted_version, version ? version : json_null(), false) ||
        (pools && !same_pools(wanted_pools, pools, false)))
        return LIKENESS_NONE;
    const bool is_fresh = !shoot->has_operation || type;
    const bool is_alike = is_same(wanted_version, version, true) ||
                          (json_array_size(pools) && same_pools(wanted_pools, pools, true));
    return is_fresh && is_alike ? LIKENESS_PROVEN : LIKENESS_UNPROVEN;
}

bool plan_may_be_ours(const struct entity *e, const struct shoot *shoot)
{
    return plan_likeness(e, shoot) == LIKENESS_PROVEN;
}

bool plan_is_unclear(const struct entity *e, const struct shoot *shoot)
{
    return plan_lacks_uid(e, shoot) && e->op && plan_may_have_been_made(e) &&
           plan_likeness(e, shoot) == LIKENESS_UNPROVEN;
}

void plan_delete(struct entity *e, struct operation *op)
{
    (void)operation_add_step(op, STEP_DELETE_SHOOT, "");
    (void)operation_add_step(op, STEP_WAIT_GONE, "");
    plan_delete_after_create(e, op);
}

/* Keeps the body of the create, which shows later whether a shoot with this name is shootd's own
 * (plan_may_be_ours). An earlier delete, which was cancelled or failed, has this body, too. */
void plan_delete_after_create(struct entity *e, struct operation *op)
{
    assert(op->type == OPERATION_DELETE);
    if (e->cluster->upstream_exists && shoot_has_uid(e->cluster->shoot))
        return;
    if (!plan_may_have_been_made(e)) {
        if (op->steps[0].status == STEP_PENDING)
            step_move(op, &op->steps[0], STEP_SKIPPED);
    } else if (create_step(e) || (e->op && e->op->type == OPERATION_DELETE)) {
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

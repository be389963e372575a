/*
 * Ends operations, begins the next waiting operation, and ends clusters with their last change sets. A delete
 * interrupts other operations at the next safe point. A change replaces a waiting change, because its own
 * spec is complete. Hibernate and wake replace each other. Each operation ends with its own result.
 *
 * Why operations of a cluster wait here and not at Cleura: Cleura refuses a change while it is busy, and does
 * not say which of two changes it took. A waiting operation is planned only when its turn comes, because the
 * operation before it, or somebody else, may have changed what there is to do. Loop thread.
 */
#include "reconcile/operations/ends.h"

#include <assert.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "model/error_meanings.h"
#include "model/moves.h"
#include "model/spec.h"
#include "reconcile/operations/action_kinds.h"
#include "reconcile/operations/durations.h"
#include "reconcile/operations/plan.h"
#include "reconcile/operations/spans.h"
#include "reconcile/operations/steps.h"
#include "reconcile/world/assess.h"
#include "reconcile/world/departed.h"
#include "reconcile/world/entity.h"
#include "reconcile/world/events.h"
#include "reconcile/world/project.h"
#include "reconcile/world/save.h"
#include "reconcile/world/schedule.h"

/* A step that never began is skipped. A step in progress gets the result of the operation. */
static void end_steps(struct operation *op)
{
    for (unsigned i = op->step_index; i < op->step_count; i++) {
        struct operation_step *step = &op->steps[i];
        if (step_is_over(step))
            continue;
        bool begun = step->attempts > 0 || step->status == STEP_WAITING;
        step->finished_at = begun ? op->finished_at : 0;
        step_move(op, step,
                  !begun                              ? STEP_SKIPPED
                  : op->status == OPERATION_SUCCEEDED ? STEP_DONE
                                                      : STEP_FAILED);
    }
}

void operation_finish(struct entity *e, struct save *save, struct operation *op, enum operation_status status,
                      struct problem *problem)
{
    static const enum event_type events[OPERATION_STATUS_MAX_] = {
        [OPERATION_SUCCEEDED] = EVENT_OPERATION_SUCCEEDED,
        [OPERATION_FAILED] = EVENT_OPERATION_FAILED,
        [OPERATION_CANCELLED] = EVENT_OPERATION_FAILED,
    };
    assert(operation_status_is_final(status) && (status == OPERATION_SUCCEEDED) == !problem);
    operation_move(op, status);
    op->finished_at = env_wall(e->r->env);
    if (status == OPERATION_SUCCEEDED)
        op->progress = 100;
    end_steps(op);
    durations_note(op);
    if (problem) {
        op->error = problem_to_error_json(problem);
        operation_says(op, op->finished_at, problem->detail);
        problem_free(problem);
    } else {
        operation_says(op, op->finished_at,
                       op == e->op && e->step.unread
                           ? "Done: accepted by Cleura; its answers about the effect cannot be read"
                           : "Done");
    }
    log_info("operation ended", "operation", op->id, "type", operation_type_name(op->type), "status",
             operation_status_name(status), "project", op->project, "cluster", op->cluster, "reason",
             op->message);
    operation_spans(op);
    emit_operation(save, events[status], e, op);
}

struct problem *cluster_failed_problem(const struct entity *e)
{
    const struct shoot *s = e->cluster->shoot;
    struct problem *p = problem_new(
        PROBLEM_CLUSTER_FAILED, "%s",
        s && s->description ? s->description : "Cleura reports that the operation has failed permanently");
    json_t *errors = json_array();
    size_t i;
    json_t *error;
    json_array_foreach (s ? json_doc_tree(s->last_errors) : NULL, i, error)
        model_append_errors(errors, error);
    p->extra = json_object();
    json_set_take(p->extra, "upstream_errors", errors);
    return p;
}

static void end_badly(struct entity *e, enum operation_status status, struct problem *problem)
{
    assert(entity_has_open_operation(e) && !upstream_call_is_active(&e->step.call));
    struct cluster *c = e->cluster;
    struct save *save = save_new(e->r, NULL, NULL);
    operation_finish(e, save, e->op, status, problem);
    if (!c->upstream_exists) {
        /* The shoot was never seen. The record stays, so that it shows the reason, and a new create may
         * replace it. A shoot that appears later is taken over when it is certainly shootd's own
         * (plan_is_foreign). */
        enum phase before = c->phase;
        c->phase = PHASE_FAILED;
        c->health = HEALTH_UNHEALTHY;
        mem_set_str(&c->message, e->op->message);
        if (before != PHASE_FAILED)
            emit_cluster(save, EVENT_CLUSTER_FAILED, e, before, e->op->message);
    } else if (c->shoot) {
        assess_settle(e, save);
    }
    save_entity(save, e);
    save_submit(save, false);
    entity_touch(e);
}

void entity_fail_operation(struct entity *e, struct problem *problem)
{
    end_badly(e, OPERATION_FAILED, problem);
}

struct problem *operation_cancelled_problem(const struct operation *op)
{
    return problem_new(PROBLEM_OPERATION_CANCELLED, "cancelled by %s", op->cancelled_by);
}

void entity_cancel_operation(struct entity *e)
{
    assert(e->op->cancelled_by);
    end_badly(e, OPERATION_CANCELLED, operation_cancelled_problem(e->op));
}

/* ---- the next operation ---- */

#define NEVER_CREATED "the cluster was never created"

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
    if (!e->cluster->upstream_exists)
        return problem_new(PROBLEM_CLUSTER_FAILED, "%s", NEVER_CREATED);
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

void queue_promote(struct entity *e)
{
    assert(queue_is_due(e));
    struct save *save = save_new(e->r, NULL, NULL);
    if (e->op && !e->cluster->upstream_exists && e->queue[0]->type != OPERATION_DELETE) {
        /* The body of the create still shows later whether a shoot with this name is shootd's own. */
        fail_first(e, save, NEVER_CREATED);
        save_entity(save, e);
        save_submit(save, false);
        return;
    }
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

/* ---- the end of a cluster ---- */

static void on_gone_saved(struct save *save)
{
    struct entity *e = entity_by_key(save->r, save->key);
    if (!e)
        return;
    struct project *p = e->project;
    assert(e->saves.last && e->cluster->deleted);
    if (save->status != STORE_OK) {
        /* The end of the record was not stored. A later read will find the absence again. */
        e->cluster->deleted = false;
        e->cluster->departed_at = 0;
        e->saves.last = false;
        schedule_soon(e, LOOK_AGAIN_S * US_PER_S);
        return;
    }
    if (save->ctx)
        deleted_shoot_add(p, e->cluster->shoot);
    if (e->cluster->departed_at)
        departed_add(p, cluster_copy(e->cluster));
    bool replaced = e->seen.other_uid_reads > 0;
    entity_remove(e);
    if (replaced)
        schedule_list_soon(p); /* a new shoot may have the name of the removed cluster */
    project_show(p);
}

/* Whether the shoot must be read once more, because a create with a lost answer may still have an effect. */
static bool may_still_appear(struct entity *e)
{
    if (e->cluster->upstream_exists || entity_open_type(e) != OPERATION_DELETE ||
        e->op->steps[0].status == STEP_SKIPPED || ++e->absence.reads >= ABSENT_READS)
        return false;
    e->absence.read_alone = true;
    schedule_soon(e, LOOK_AGAIN_S * US_PER_S);
    return true;
}

/*
 * Removes the cluster's row; its operation and events stay. When Cleura did not show a deletion, the cluster
 * may return, because access to a project can be lost for a while.
 */
static void end_record(struct entity *e, bool deleting, const char *message)
{
    struct cluster *c = e->cluster;
    assert(!e->saves.last && !c->deleted);
    bool is_proven = deleting || shoot_is_being_deleted(c->shoot);
    struct save *save = save_new(e->r, on_gone_saved, is_proven ? e->project : NULL);
    enum phase before = c->phase;
    c->deleted = true;
    e->saves.last = true;
    schedule_forget(e);
    if (entity_has_open_operation(e))
        operation_finish(e, save, e->op, deleting ? OPERATION_SUCCEEDED : OPERATION_FAILED,
                         deleting ? NULL : problem_new(PROBLEM_CLUSTER_FAILED, "%s", message));
    queue_fail(e, save, message);
    emit_cluster(save, EVENT_CLUSTER_DELETED, e, before, message);
    save_entity(save, e);
    struct change *last = &save->set->changes[save->set->count - 1];
    if (is_proven || !shoot_has_uid(c->shoot)) {
        cluster_free(last->cluster);
        last->kind = CHANGE_CLUSTER_DELETE;
        memcpy(last->id, c->id, sizeof(last->id));
    } else {
        last->cluster->departed_at = c->departed_at = env_wall(e->r->env);
    }
    save_submit(save, false);
}

void entity_forget(struct entity *e)
{
    end_record(e, false, "The project is at another location at Cleura now");
}

void entity_disown(struct entity *e)
{
    end_record(e, false,
               "A cluster of this name exists, and nothing shows that it is ours: it was not deleted");
}

void entity_gone(struct entity *e)
{
    if (entity_is_committing(e) || e->cluster->deleted)
        return;
    /* A delete waits for another operation to end. It begins now, and the absence of the shoot ends it. */
    if (e->queued && e->queue[0]->type == OPERATION_DELETE)
        queue_promote(e);
    /* A retry of a failed deletion ends like the deletion. */
    bool retried = entity_open_type(e) == OPERATION_RETRY && entity_is_deleted_at_cleura(e);
    bool deleting = retried || entity_open_type(e) == OPERATION_DELETE;
    if (!may_still_appear(e))
        end_record(e, deleting, deleting ? "Deleted" : "Vanished at Cleura");
}

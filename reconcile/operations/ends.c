/* Ends operations: each ends with its own result. Loop thread. */
#include "reconcile/operations/ends.h"

#include <assert.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "model/error_meanings.h"
#include "model/moves.h"
#include "reconcile/operations/durations.h"
#include "reconcile/operations/spans.h"
#include "reconcile/world/assess.h"
#include "reconcile/world/entity.h"
#include "reconcile/world/events.h"
#include "reconcile/world/save.h"

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
    log_write(status == OPERATION_FAILED ? LOG_LEVEL_WARNING : LOG_LEVEL_INFO, "operation ended", "operation",
              op->id, "type", operation_type_name(op->type), "status", operation_status_name(status),
              "project", op->project, "cluster", op->cluster, "reason", op->message, "code",
              json_str(op->error, "code"), NULL);
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
        model_append_errors(errors, error, true);
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
         * (proof_is_foreign). */
        enum phase before = c->phase;
        c->phase = PHASE_FAILED;
        c->health = HEALTH_UNKNOWN;
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

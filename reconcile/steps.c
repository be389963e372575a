/*
 * Operations, step by step. A step that calls Cleura goes
 *
 *   pending --intent committed--> sending --answer--> done
 *      ^                            |  \-- refused --> failed
 *      |                            | lost answer, or found so after a restart
 *      +--- read back: no effect ---+--- read back: it had effect --> done
 *
 * so that whatever happens between "sent" and "stored" is settled by looking, never by blind repetition
 * (promise 1). A waiting step ends by an observation. Loop thread.
 */
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/log.h"
#include "base/mem.h"
#include "model/errors.h"
#include "reconcile/world_private.h"

enum {
    STEP_DEADLINE_S = 120, /* to be sent by the lane */
    STEP_MAX_ATTEMPTS = 6, /* answers lost or 5xx, over the budget of time, before the step is given up */
    STEP_BUDGET_S = 600,
    DELETE_AGAIN_S = 60, /* no deletion in sight so long after it was accepted: ask again */
    BACK_OFF_BASE_MS = 500,
    BACK_OFF_CAP_S = 30,
    BUSY_WAIT_S = 5,
};

enum finding { FOUND_EFFECT, FOUND_NO_EFFECT, FOUND_STRANGER };

struct step_kind {
    const char *type;
    enum upstream_op op;
    bool waits;      /* ends by an observation, sends nothing */
    bool idempotent; /* may be repeated without looking */
    /* A definite answer other than OK. */
    void (*refused)(struct entity *e, struct operation_step *step, const struct upstream_result *result);
    void (*accepted)(struct entity *e, const struct upstream_result *result, struct save *save);
    /* Read back: the shoot is there. What does that say about the step? */
    enum finding (*found)(const struct entity *e, const struct shoot *shoot);
    bool absent_means_done;
};

static const struct step_kind *kind_of(const struct operation_step *step);
static void fail_step(struct entity *e, struct problem *problem);
static void finish_step(struct entity *e, const struct upstream_result *result);
static bool may_have_been_made(const struct entity *e);

static struct operation_step *current_step(struct entity *e)
{
    return &e->op->steps[e->op->step_index];
}

static void set_message(struct operation *op, const char *message)
{
    char *copy = mem_strdup(message);
    free(op->message);
    op->message = copy;
}

/* ---- ends
 * ----------------------------------------------------------------------------------------------------- */

void operation_finish(struct entity *e, struct save *save, struct operation *op, enum operation_status status,
                      struct problem *problem)
{
    static const int events[OPERATION_STATUS_MAX_] = {
        [OPERATION_SUCCEEDED] = EVENT_OPERATION_SUCCEEDED + 1,
        [OPERATION_FAILED] = EVENT_OPERATION_FAILED + 1,
        [OPERATION_CANCELLED] = EVENT_OPERATION_FAILED + 1,
    };
    struct operation_step *step = op->step_count ? &op->steps[op->step_index] : NULL;
    op->status = status;
    op->finished_at = env_wall(e->r->env);
    if (status == OPERATION_SUCCEEDED)
        op->progress = 100;
    if (step && status != OPERATION_SUCCEEDED)
        step->status = STEP_FAILED;
    if (step)
        step->finished_at = op->finished_at;
    if (problem) {
        op->error = problem_to_error_json(problem);
        set_message(op, problem->detail);
        problem_free(problem);
    } else {
        set_message(op, "Done");
    }
    log_info("operation ended", "operation", op->id, "type", operation_type_name(op->type), "status",
             operation_status_name(status), "project", op->project, "cluster", op->cluster, "message",
             op->message);
    emit_operation(save, (enum event_type)(events[status] - 1), e, op);
}

static struct problem *cluster_failed_problem(const struct entity *e)
{
    const struct shoot *s = e->cluster->shoot;
    struct problem *p = problem_new(PROBLEM_CLUSTER_FAILED, "%s",
                                    s && s->description ? s->description : "Cleura gave up on the operation");
    json_t *errors = json_array();
    size_t i;
    json_t *error;
    json_array_foreach (s ? s->last_errors : NULL, i, error)
        model_append_errors(errors, error);
    p->extra = json_object();
    json_set_take(p->extra, "upstream_errors", errors);
    return p;
}

/* The operation ended without the shoot ever being made: the record stays, to tell why. */
static void mark_never_made(struct entity *e)
{
    struct cluster *c = e->cluster;
    if (c->upstream_exists || e->op->type != OPERATION_CREATE)
        return;
    c->phase = PHASE_FAILED;
    c->health = HEALTH_UNHEALTHY;
    free(c->message);
    c->message = mem_strdup(e->op->message);
}

static void fail_step(struct entity *e, struct problem *problem)
{
    struct save *save = save_new(e->r, NULL, NULL);
    enum phase before = e->cluster->phase;
    operation_finish(e, save, e->op, OPERATION_FAILED, problem);
    mark_never_made(e);
    if (e->cluster->phase != before)
        emit_cluster(save, EVENT_CLUSTER_FAILED, e, before, e->op->message);
    save_entity(save, e);
    save_submit(save, false);
    steps_advance(e);
}

/* The operation that waited takes over; an open one before it ends as superseded. */
static void promote_next(struct entity *e)
{
    struct save *save = save_new(e->r, NULL, NULL);
    /* Planned while the create was open; now it is known whether there can be anything of ours to delete. */
    if (e->next->type == OPERATION_DELETE && !e->cluster->upstream_exists && !may_have_been_made(e))
        e->next->steps[0].status = STEP_SKIPPED;
    if (entity_has_open_operation(e)) {
        struct problem *p = problem_new(PROBLEM_SUPERSEDED, "replaced by operation %s", e->next->id);
        p->extra = json_object();
        json_set_str(p->extra, "operation_id", e->next->id);
        operation_finish(e, save, e->op, OPERATION_CANCELLED, p);
        save_operation(save, e->op);
    }
    entity_set_operation(e, TAKE_PTR(e->next));
    e->retries = 0;
    e->reading_back = false;
    loop_timer_clear(e->r->o.loop, &e->retry);
    save_entity(save, e);
    save_submit(save, false);
}

static void on_gone_saved(struct save *save)
{
    struct entity *e;
    HASH_FIND_STR(save->r->entities, save->key, e);
    if (!e)
        return;
    struct project *p = e->project;
    if (save->status != STORE_OK) {
        /* Not recorded: it is found to be gone once more. */
        e->cluster->deleted = false;
        e->committing = false;
        poll_soon(e, LOOK_AGAIN_S * US_PER_S);
        return;
    }
    entity_remove(e);
    view_publish(save->r->o.view);
    project_show(p);
}

void steps_gone(struct entity *e)
{
    struct cluster *c = e->cluster;
    if (e->committing || c->deleted)
        return;
    if (e->next) /* a delete was accepted while something else was under way: that is what happened */
        promote_next(e);
    bool deleting = entity_wish(e) == OPERATION_DELETE;
    if (!c->upstream_exists && deleting && e->op->steps[0].status != STEP_SKIPPED &&
        ++e->absent_reads < ABSENT_READS) {
        /* A create whose answer was lost may still take effect: look once more. */
        e->confirm_absent = true;
        poll_soon(e, LOOK_AGAIN_S * US_PER_S);
        return;
    }
    struct save *save = save_new(e->r, on_gone_saved, NULL);
    enum phase before = c->phase;
    c->deleted = true;
    e->committing = true; /* nothing more happens to it */
    poll_forget(e);
    if (entity_has_open_operation(e)) {
        if (deleting)
            operation_finish(e, save, e->op, OPERATION_SUCCEEDED, NULL);
        else
            operation_finish(e, save, e->op, OPERATION_FAILED,
                             problem_new(PROBLEM_CLUSTER_FAILED, "the cluster vanished at Cleura"));
    }
    emit_cluster(save, EVENT_CLUSTER_DELETED, e, before, deleting ? "Deleted" : "Vanished at Cleura");
    save_entity(save, e);
    /* The row goes; its operation and events stay. */
    struct change *last = &save->set->changes[save->set->count - 1];
    cluster_free(last->cluster);
    last->kind = CHANGE_CLUSTER_DELETE;
    memcpy(last->id, c->id, sizeof(last->id));
    save_submit(save, false);
}

/* ---- calls
 * ---------------------------------------------------------------------------------------------------- */

static void try_again(struct entity *e, int64_t at_least_us)
{
    int64_t cap = BACK_OFF_CAP_S * US_PER_S;
    int64_t ceiling = BACK_OFF_BASE_MS * US_PER_MS << (e->retries < 8 ? e->retries : 8);
    int64_t wait = (int64_t)env_random_below(e->r->env, (uint64_t)(ceiling < cap ? ceiling : cap));
    e->retries++;
    loop_timer_set(e->r->o.loop, &e->retry, env_mono(e->r->env) + at_least_us + wait);
}

/* Nothing was sent: the step is pending again, and the operation says what it waits for. */
static void not_sent(struct entity *e, const struct upstream_result *result)
{
    struct operation_step *step = current_step(e);
    struct problem *problem CLEANUP_PROBLEM = upstream_problem(result);
    char *message CLEANUP_FREE = mem_printf("Waiting: %s", problem->detail);
    if (!e->reading_back) {
        step->status = STEP_PENDING;
        step->attempts--;
    }
    bool told = e->op->message && !strcmp(e->op->message, message);
    set_message(e->op, message);
    if (!told)
        entity_store(e);
    try_again(e, result->retry_after_s * US_PER_S);
}

static void lost(struct entity *e)
{
    struct operation_step *step = current_step(e);
    log_warning("answer lost, reading back", "operation", e->op->id, "step", step->type, "cluster",
                e->cluster->name, "attempt", LOG_INT(step->attempts));
    step->uncertain = true;
    e->absent_reads = 0;
    entity_store(e);
    try_again(e, 0);
}

static void send_again(struct entity *e)
{
    struct operation_step *step = current_step(e);
    bool long_enough = env_wall(e->r->env) - step->started_at > STEP_BUDGET_S * US_PER_S;
    if (e->refusal) {
        fail_step(e, TAKE_PTR(e->refusal));
        return;
    }
    if (step->attempts >= STEP_MAX_ATTEMPTS && long_enough) {
        fail_step(e, problem_new(PROBLEM_UPSTREAM_ERROR,
                                 "Cleura answered %d attempts of %s with errors and did nothing",
                                 step->attempts, step->type));
        return;
    }
    step->status = STEP_PENDING;
    step->uncertain = false;
    try_again(e, 0);
}

static void on_answer(struct upstream_call *call, const struct upstream_result *result)
{
    struct entity *e = CONTAINER_OF(call, struct entity, call);
    struct operation_step *step = current_step(e);
    const struct step_kind *kind = kind_of(step);
    switch (result->class) {
    case UPSTREAM_OK:
        finish_step(e, result);
        break;
    case UPSTREAM_UNCERTAIN:
    case UPSTREAM_GARBLED:
        if (kind->idempotent)
            send_again(e);
        else
            lost(e);
        break;
    case UPSTREAM_ABSENT:
    case UPSTREAM_CONFLICT:
    case UPSTREAM_REFUSED:
    case UPSTREAM_FORBIDDEN:
        kind->refused(e, step, result);
        break;
    case UPSTREAM_LOGIN_FAILED:
    case UPSTREAM_THROTTLED:
    case UPSTREAM_UNREACHABLE:
    case UPSTREAM_EXPIRED:
    case UPSTREAM_OVERLOADED:
    case UPSTREAM_CLASS_MAX_:
        not_sent(e, result);
        break;
    }
}

static void on_read_back(struct upstream_call *call, const struct upstream_result *result)
{
    struct entity *e = CONTAINER_OF(call, struct entity, call);
    const struct step_kind *kind = kind_of(current_step(e));
    if (result->class == UPSTREAM_OK) {
        e->reading_back = false;
        switch (kind->found(e, result->shoot)) {
        case FOUND_EFFECT:
            finish_step(e, result);
            break;
        case FOUND_NO_EFFECT:
            send_again(e);
            break;
        case FOUND_STRANGER:
            current_step(e)->uncertain = false;
            fail_step(
                e, problem_new(PROBLEM_NAME_TAKEN, "a cluster of this name exists already and is not ours"));
            break;
        }
    } else if (result->class == UPSTREAM_ABSENT && kind->absent_means_done) {
        e->reading_back = false;
        finish_step(e, result);
    } else if (result->class == UPSTREAM_ABSENT && ++e->absent_reads >= ABSENT_READS) {
        e->reading_back = false;
        send_again(e);
    } else if (result->class == UPSTREAM_ABSENT) {
        loop_timer_set(e->r->o.loop, &e->retry, env_mono(e->r->env) + LOOK_AGAIN_S * US_PER_S);
    } else {
        not_sent(e, result);
    }
}

static void submit(struct entity *e, enum upstream_op op,
                   void (*on_done)(struct upstream_call *call, const struct upstream_result *result))
{
    const struct project *p = e->project;
    e->call.op = op;
    e->call.region = p->config->region;
    e->call.project_id = p->config->project_id;
    e->call.name = e->cluster->name;
    e->call.body = e->op->body;
    e->call.priority = e->op->step_index == 0 ? LANE_USER_WRITE : LANE_OPERATION;
    e->call.deadline = env_mono(e->r->env) + STEP_DEADLINE_S * US_PER_S;
    e->call.on_done = on_done;
    upstream_submit(project_lane(p), &e->call);
}

static void on_intent_saved(struct save *save)
{
    struct entity *e;
    HASH_FIND_STR(save->r->entities, save->key, e);
    if (!e || e->cluster->deleted)
        return;
    e->committing = false;
    if (e->next || e->r->stopping || save->status != STORE_OK) {
        /* Replaced before it was sent, or not durable. */
        current_step(e)->status = STEP_PENDING;
        current_step(e)->attempts--;
        if (e->next || e->r->stopping)
            steps_advance(e);
        else
            try_again(e, 0);
        return;
    }
    submit(e, kind_of(current_step(e))->op, on_answer);
}

/* Makes "about to be sent" durable first. */
static void begin_call(struct entity *e)
{
    struct operation_step *step = current_step(e);
    struct save *save = save_new(e->r, on_intent_saved, NULL);
    step->status = STEP_SENDING;
    step->attempts++;
    if (!step->started_at)
        step->started_at = env_wall(e->r->env);
    e->committing = true;
    if (e->op->status == OPERATION_PENDING) {
        e->op->status = OPERATION_RUNNING;
        emit_operation(save, EVENT_OPERATION_STARTED, e, e->op);
    }
    save_entity(save, e);
    save_submit(save, false);
}

static void read_back(struct entity *e)
{
    e->reading_back = true;
    submit(e, UPSTREAM_GET, on_read_back);
}

static void finish_step(struct entity *e, const struct upstream_result *result)
{
    struct operation_step *step = current_step(e);
    const struct step_kind *kind = kind_of(step);
    struct save *save = save_new(e->r, NULL, NULL);
    step->status = STEP_DONE;
    step->uncertain = false;
    step->finished_at = env_wall(e->r->env);
    e->retries = 0;
    e->absent_reads = 0;
    problem_free(e->refusal);
    e->refusal = NULL;
    set_message(e->op, "Accepted by Cleura");
    kind->accepted(e, result, save);
    save_entity(save, e);
    save_submit(save, false);
    steps_advance(e);
}

/* ---- the kinds
 * ------------------------------------------------------------------------------------------------ */

static void fail_with_result(struct entity *e, const struct upstream_result *result)
{
    fail_step(e, upstream_problem(result));
}

static void bootstrap_refused(struct entity *e, struct operation_step *step,
                              const struct upstream_result *result)
{
    (void)step;
    fail_step(e, problem_new(PROBLEM_UPSTREAM_REFUSED, "Cleura cannot prepare the project: %s",
                             result->message ? result->message : upstream_class_name(result->class)));
}

static void bootstrap_accepted(struct entity *e, const struct upstream_result *result, struct save *save)
{
    (void)result;
    (void)save;
    e->project->state->bootstrapped_at = env_wall(e->r->env);
    project_store(e->project);
    project_show(e->project);
}

static void create_refused(struct entity *e, struct operation_step *step,
                           const struct upstream_result *result)
{
    const char *said = result->message ? result->message : upstream_class_name(result->class);
    struct problem *problem;
    if (result->class == UPSTREAM_CONFLICT)
        problem = problem_new(PROBLEM_NAME_TAKEN, "Cleura: %s", said);
    else if (result->class == UPSTREAM_ABSENT)
        problem = problem_new(PROBLEM_UPSTREAM_REFUSED, "Cleura: %s", said);
    else
        problem = upstream_problem(result);
    if (step->attempts == 1) {
        fail_step(e, problem);
        return;
    }
    /* An earlier attempt may be why: look before judging. */
    problem_free(e->refusal);
    e->refusal = problem;
    lost(e);
}

static void create_accepted(struct entity *e, const struct upstream_result *result, struct save *save)
{
    struct cluster *c = e->cluster;
    c->upstream_exists = true;
    if (result->shoot) {
        shoot_free(c->shoot);
        c->shoot = shoot_copy(result->shoot);
        c->observed_at = env_wall(e->r->env);
        c->stale = false;
    }
    emit_cluster(save, EVENT_CLUSTER_CREATED, e, c->phase, "Accepted by Cleura");
    poll_soon(e, poll_interval(e) / 2);
}

static bool same_pools(const json_t *wanted, const json_t *there)
{
    if (json_array_size(wanted) != json_array_size(there))
        return false;
    size_t i, j;
    json_t *pool, *other;
    json_array_foreach (wanted, i, pool) {
        bool found = false;
        json_array_foreach (there, j, other)
            found |=
                json_equal(json_object_get(pool, "name"), json_object_get(other, "name")) &&
                json_equal(json_object_get(pool, "machine_type"), json_object_get(other, "machine_type"));
        if (!found)
            return false;
    }
    return true;
}

/* Ours has just been made, as we asked; a stranger's of the same name has a history or another shape. */
static enum finding create_found(const struct entity *e, const struct shoot *shoot)
{
    const json_t *wanted = e->op->body;
    bool fresh = !shoot->has_operation || (shoot->operation_type && !strcmp(shoot->operation_type, "Create"));
    bool same = json_equal(json_object_get(wanted, "kubernetes_version"),
                           json_object_get(shoot->observed, "kubernetes_version")) &&
                same_pools(json_arr(wanted, "node_pools"), json_arr(shoot->observed, "node_pools"));
    return fresh && same ? FOUND_EFFECT : FOUND_STRANGER;
}

static void delete_refused(struct entity *e, struct operation_step *step,
                           const struct upstream_result *result)
{
    if (result->class == UPSTREAM_ABSENT) {
        finish_step(e, result);
    } else if (result->class == UPSTREAM_CONFLICT) {
        char *message CLEANUP_FREE =
            mem_printf("Cleura is busy: %s", result->message ? result->message : "conflict");
        step->status = STEP_PENDING;
        step->attempts--;
        set_message(e->op, message);
        entity_store(e);
        try_again(e, BUSY_WAIT_S * US_PER_S);
    } else {
        fail_with_result(e, result);
    }
}

static void delete_accepted(struct entity *e, const struct upstream_result *result, struct save *save)
{
    (void)save;
    struct cluster *c = e->cluster;
    bool absent = result->class == UPSTREAM_ABSENT;
    /* A deletion that failed earlier is still shown for a while: it is not the end of this one. */
    c->guard_since = env_wall(e->r->env);
    c->guard_seen_at = c->shoot ? c->shoot->operation_at : 0;
    /* Nothing was there to delete; should it appear after all, it is asked for again. */
    e->op->steps[0].uncertain = absent;
    e->confirm_absent = absent;
    poll_soon(e, absent ? 0 : poll_interval(e) / 2);
}

static enum finding delete_found(const struct entity *e, const struct shoot *shoot)
{
    const struct shoot *before = e->cluster->shoot;
    bool deleting = shoot->operation_type && !strcmp(shoot->operation_type, "Delete");
    bool old_failure = before && shoot->operation_state && !strcmp(shoot->operation_state, "Failed") &&
                       shoot->operation_at == before->operation_at;
    return deleting && !old_failure ? FOUND_EFFECT : FOUND_NO_EFFECT;
}

static const struct step_kind kinds[] = {
    {.type = "bootstrap",
     .op = UPSTREAM_BOOTSTRAP,
     .idempotent = true, /* cleura-api.md 10.2: repeating is harmless */
     .refused = bootstrap_refused,
     .accepted = bootstrap_accepted},
    {.type = "create_shoot",
     .op = UPSTREAM_CREATE,
     .refused = create_refused,
     .accepted = create_accepted,
     .found = create_found},
    {.type = "delete_shoot",
     .op = UPSTREAM_DELETE,
     .refused = delete_refused,
     .accepted = delete_accepted,
     .found = delete_found,
     .absent_means_done = true},
    {.type = "wait_ready", .waits = true},
    {.type = "wait_gone", .waits = true},
};

static const struct step_kind *kind_of(const struct operation_step *step)
{
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (!strcmp(kinds[i].type, step->type))
            return &kinds[i];
    abort(); /* steps are made in this file only */
}

void steps_plan_create(struct entity *e, struct operation *op)
{
    if (!e->project->state->bootstrapped_at)
        (void)operation_add_step(op, "bootstrap", "");
    (void)operation_add_step(op, "create_shoot", "");
    (void)operation_add_step(op, "wait_ready", "");
}

static const struct operation_step *create_step(const struct entity *e)
{
    const struct operation *op = e->op;
    for (unsigned i = 0; op && op->type == OPERATION_CREATE && i < op->step_count; i++)
        if (!strcmp(op->steps[i].type, "create_shoot"))
            return &op->steps[i];
    return NULL;
}

/*
 * Whether Cleura may have made the shoot although nobody saw it yet. After a definite refusal it did not: a
 * shoot of that name is then a stranger's, and must not be deleted.
 */
static bool may_have_been_made(const struct entity *e)
{
    const struct operation_step *step = create_step(e);
    return !step || step->uncertain || step->status == STEP_SENDING || step->status == STEP_DONE;
}

bool steps_is_stranger(const struct entity *e)
{
    const struct operation_step *step = create_step(e);
    return !e->cluster->upstream_exists && step && !may_have_been_made(e);
}

void steps_plan_delete(struct entity *e, struct operation *op)
{
    struct operation_step *step = operation_add_step(op, "delete_shoot", "");
    if (!e->cluster->upstream_exists && !may_have_been_made(e))
        step->status = STEP_SKIPPED;
    (void)operation_add_step(op, "wait_gone", "");
}

/* ---- driving
 * -------------------------------------------------------------------------------------------------- */

static void begin_waiting(struct entity *e, struct operation_step *step)
{
    bool nothing_upstream = e->op->type == OPERATION_DELETE && e->op->steps[0].status == STEP_SKIPPED;
    step->status = STEP_WAITING;
    step->started_at = env_wall(e->r->env);
    if (nothing_upstream) {
        steps_gone(e);
        return;
    }
    entity_store(e);
    if (!heap_contains(&e->due))
        poll_soon(e, poll_interval(e) / 2);
}

void steps_advance(struct entity *e)
{
    if (e->r->stopping || e->committing || e->call.active || !e->op)
        return;
    if (e->next)
        promote_next(e);
    if (operation_status_is_final(e->op->status) || loop_timer_is_set(&e->retry))
        return;
    struct operation *op = e->op;
    while (op->step_index < op->step_count && (op->steps[op->step_index].status == STEP_DONE ||
                                               op->steps[op->step_index].status == STEP_SKIPPED))
        op->step_index++;
    struct operation_step *step = current_step(e);
    const struct step_kind *kind = kind_of(step);
    if (step->status == STEP_PENDING && kind->waits)
        begin_waiting(e, step);
    else if (step->status == STEP_PENDING)
        begin_call(e);
    else if (step->status == STEP_SENDING && kind->idempotent)
        send_again(e);
    else if (step->status == STEP_SENDING)
        read_back(e);
}

/* The delete was accepted, or found nothing, and yet the shoot lives: a create took effect late, or it was
 * lost. */
static bool deletion_is_missing(const struct entity *e)
{
    const struct shoot *s = e->cluster->shoot;
    const struct operation_step *sent = &e->op->steps[0];
    bool deleting = s->operation_type && !strcmp(s->operation_type, "Delete");
    bool overdue = env_wall(e->r->env) - sent->finished_at > DELETE_AGAIN_S * US_PER_S;
    return !deleting && sent->status == STEP_DONE && (sent->uncertain || overdue);
}

void steps_observed(struct entity *e, struct save *save, const struct decision *d)
{
    if (!entity_has_open_operation(e) || e->next)
        return;
    struct operation_step *step = current_step(e);
    if (step->status != STEP_WAITING)
        return;
    if (!strcmp(step->type, "wait_gone") && deletion_is_missing(e)) {
        log_warning("the cluster is there and not being deleted: asking again", "cluster", e->cluster->name);
        step->status = STEP_PENDING;
        e->op->step_index = 0;
        e->op->steps[0].status = STEP_PENDING;
        e->op->steps[0].uncertain = false;
    } else if (!strcmp(step->type, "wait_ready") && d->operation_finished) {
        step->status = STEP_DONE;
        operation_finish(e, save, e->op, OPERATION_SUCCEEDED, NULL);
    } else if (d->operation_failed) {
        operation_finish(e, save, e->op, OPERATION_FAILED, cluster_failed_problem(e));
    }
}

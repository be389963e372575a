/* Changes of the desired state of a cluster. PUT replaces the desired spec, PATCH merges into it. Loop
 * thread. */
#include <assert.h>
#include <stdio.h>

#include "base/log.h"
#include "model/spec.h"
#include "reconcile/answers/objects.h"
#include "reconcile/answers/reply.h"
#include "reconcile/commands/commands.h"
#include "reconcile/commands/decide.h"
#include "reconcile/lookups/need.h"
#include "reconcile/operations/plan.h"
#include "reconcile/world/assess.h"
#include "reconcile/world/deciders.h"
#include "reconcile/world/entity.h"
#include "reconcile/world/project.h"
#include "reconcile/world/save.h"
#include "reconcile/world/world.h"

/* Returns the stored labels and spec in the form of a body. The body shares their data. */
static json_t *stored_body(const struct cluster *c)
{
    json_t *body = json_object();
    json_set_take(body, "labels", json_incref(c->labels));
    json_set_take(body, "spec", json_incref(json_doc_tree(c->spec)));
    return body;
}

static void on_put_saved(struct save *save)
{
    (void)command_settled(save);
    command_reply_saved(save);
}

/* Returns the newest accepted change (or the create) that has not ended. It carries out the stored spec. */
static const struct operation *change_under_way(const struct entity *e)
{
    const struct operation *waiting = entity_queue_find(e, OPERATION_UPDATE);
    if (waiting)
        return waiting;
    int open = entity_open_type(e);
    return open == OPERATION_CREATE || open == OPERATION_UPDATE ? e->op : NULL;
}

/* Returns the spec that shootd requested last from Cleura, by a change that has begun and did not fail. A
 * waiting change does not count, because the new change replaces it. NULL: there is no such spec. */
static const json_t *asked_before(const struct entity *e)
{
    const struct operation *waiting = entity_queue_find(e, OPERATION_UPDATE);
    if (waiting || entity_change_was_in_vain(e))
        return json_obj(waiting ? waiting->body : e->op->body, "before");
    return e->cluster->managed ? json_doc_tree(e->cluster->spec) : NULL;
}

/* Returns the present state in the form of a spec. A value that cannot be read in Cleura's answer is taken
 * from `spec`, if the spec requested before has the same value. The caller owns it. */
static json_t *present_state(const struct entity *e, const json_t *spec)
{
    return spec_presumed(plan_base(e), asked_before(e), spec);
}

/* Returns the spec that will be in effect when the running update has ended. */
static const json_t *goal_of_running(const struct entity *e)
{
    return entity_open_type(e) == OPERATION_UPDATE ? json_obj(e->op->body, "spec") : NULL;
}

static void take_desired(struct entity *e, const struct command *cmd, const json_t *body)
{
    struct cluster *c = e->cluster;
    assert(!cmd->write.dry_run && !e->saves.last);
    json_t *spec CLEANUP_JSON = desired_spec(body);
    json_doc_set(&c->spec, json_incref(spec));
    desired_take_metadata(c, body);
}

/* Decides a change that needs no call, because the requested state exists, or will exist after `change`. */
static void settle_desired(struct entity *e, struct command *cmd, const json_t *body,
                           const struct operation *change)
{
    struct cluster *c = e->cluster;
    json_t *spec CLEANUP_JSON = desired_spec(body);
    int status = change ? 202 : 200;
    if (c->managed && json_equal(json_doc_tree(c->spec), spec) && desired_metadata_is_equal(c, body)) {
        reply_cluster(cmd, status, e, change);
        return;
    }
    take_desired(e, cmd, body);
    c->generation++;
    e->saves.asked_for++;
    struct save *save = save_answer(e->r, on_put_saved, cmd);
    command_adopt(save, e, cmd);
    if (c->shoot)
        assess_settle(e, save);
    save_entity(save, e);
    reply_prepare_cluster(cmd, status, e, change);
    command_keep(save, cmd);
    save_submit(save, false);
}

struct problem *command_size_faults(const json_t *body, enum spec_part part, const struct cluster *c)
{
    struct problem *faults = NULL;
    json_t *known CLEANUP_JSON = c ? stored_body(c) : NULL;
    spec_check_limits(body, part, part == SPEC_PART_BODY ? known : NULL, &faults);
    return faults;
}

/* Returns a copy of the spec without the members that the faults name. Such a member is a member of the spec,
 * or a member of a pool. */
static json_t *without_faults(const json_t *spec, const struct problem *faults)
{
    json_t *rest = json_deep_copy(spec);
    size_t i;
    json_t *fault;
    json_array_foreach (faults->faults, i, fault) {
        char member[64] = "", inner[64] = "";
        unsigned long index;
        const char *pointer = json_str_or(fault, "pointer", "");
        if (sscanf(pointer, "#/spec/node_pools/%lu/%63[^/]", &index, inner) == 2)
            (void)json_object_del(json_array_get(json_arr(rest, "node_pools"), index), inner);
        else if (sscanf(pointer, "#/spec/%63[^/]", member) == 1)
            (void)json_object_del(rest, member);
    }
    return rest;
}

enum verdict {
    CHANGE_NONE, /* the change was refused; or it is a dry run that was answered with faults; or it waits for
                  * the catalog */
    CHANGE_SETTLED, /* no call is necessary, except the calls of an open change */
    CHANGE_PREVIEWED,
    CHANGE_ACCEPTED,
};

/* A change while it is decided. */
struct change_request {
    struct entity *e;
    struct command *cmd;
    const json_t *body;
    json_t *spec;                      /* the requested spec */
    const struct operation *under_way; /* the open change that carries out the stored spec; or NULL */
    bool is_same_spec;                 /* the requested spec equals the stored spec */
    json_t *present;                   /* the spec that is in effect at Cleura */
    json_t *goal;                      /* the part of `spec` that can be carried out */
    json_t *plan;
    enum verdict verdict;
};

static void change_done(struct change_request *q)
{
    json_decref(q->spec);
    json_decref(q->present);
    json_decref(q->goal);
    json_decref(q->plan);
}

/* Whether the request repeats the spec of the open change, which passed all checks when it was accepted. */
static bool repeats_open_change(const struct change_request *q)
{
    return q->is_same_spec && q->under_way && !q->cmd->write.dry_run;
}

/* Returns the faults of the body: all at once, including impossible changes. */
static struct problem *faults_of_body(const struct change_request *q)
{
    struct problem *faults = NULL;
    struct spec_context context;
    project_spec_context(q->e->project, &context);
    context.observed = q->present;
    context.name = q->e->cluster->name;
    json_t *known CLEANUP_JSON = stored_body(q->e->cluster);
    context.known = known;
    spec_check_body(q->body, SPEC_PUT, &context, &faults);
    if (faults && q->present && json_obj(q->body, "spec"))
        spec_check_change(json_obj(q->body, "spec"), q->present, &context, &faults);
    return faults;
}

/* Returns why no change is possible in the state of the cluster, or NULL. */
static struct problem *refusal_of_state(const struct change_request *q)
{
    if (entity_is_leaving(q->e) || entity_is_deleted_at_cleura(q->e))
        return command_busy(q->e, "the cluster is being deleted");
    return q->present ? NULL
                      : problem_new(PROBLEM_CLUSTER_NOT_READY,
                                    "the cluster was never created: create it again with PUT or POST");
}

/* Returns why the cluster cannot change to the spec. Checks the change from the present state. While an
 * update is running, also checks the change from the goal of that update, because the update ends first.
 * NULL: the change is possible. The caller owns the problem. */
static struct problem *faults_of_step(const struct change_request *q, const struct spec_context *context)
{
    struct problem *faults = NULL;
    const json_t *running = goal_of_running(q->e);
    spec_check_change(q->spec, q->present, context, &faults);
    if (!q->is_same_spec && !faults && running)
        spec_check_change(q->spec, running, context, &faults);
    return faults;
}

/* Decides a change that repeats the spec of the open change. */
static struct problem *join_open_change(struct change_request *q)
{
    struct problem *refusal = command_precondition(q->cmd, q->e);
    if (!refusal)
        q->verdict = CHANGE_SETTLED;
    return refusal;
}

/* Finds the part of the requested spec that can be carried out, and plans the steps for it. Decides the
 * change by the result. */
static struct problem *plan_change(struct change_request *q)
{
    struct spec_context context;
    project_spec_context(q->e->project, &context);
    struct problem *faults = faults_of_step(q, &context);
    if (faults && !q->is_same_spec)
        return dry_run_faults(q->cmd, faults);
    /* A spec equal to the stored spec is accepted although a part of it cannot be carried out: that part
     * stays as drift, and the other parts are corrected. */
    q->goal = faults ? without_faults(q->spec, faults) : json_incref(q->spec);
    problem_free(faults);
    struct problem *refusal = command_precondition(q->cmd, q->e);
    if (refusal)
        return refusal;
    q->plan = spec_plan(q->goal, q->present, &context);
    if (q->cmd->write.dry_run)
        q->verdict = CHANGE_PREVIEWED;
    else
        q->verdict = json_array_size(q->plan) || q->under_way ? CHANGE_ACCEPTED : CHANGE_SETTLED;
    return NULL;
}

static struct problem *decide_change(struct change_request *q)
{
    struct entity *e = q->e;
    struct problem *faults = command_size_faults(q->body, SPEC_PART_BODY, e->cluster);
    if (faults)
        return dry_run_faults(q->cmd, faults);
    struct problem *refusal = command_restored(e);
    if (refusal || command_needs(e->project, e, q->cmd, NEED_CATALOG))
        return refusal;
    q->spec = desired_spec(q->body); /* the size of the body was checked */
    q->under_way = change_under_way(e);
    q->is_same_spec = e->cluster->managed && json_equal(json_doc_tree(e->cluster->spec), q->spec);
    const bool is_as_before = desired_metadata_is_equal(e->cluster, q->body) && !entity_is_leaving(e);
    if (repeats_open_change(q) && is_as_before)
        return join_open_change(q);
    q->present = present_state(e, q->spec);
    faults = faults_of_body(q);
    if (faults)
        return dry_run_faults(q->cmd, faults);
    refusal = refusal_of_state(q);
    if (refusal)
        return refusal;
    return repeats_open_change(q) ? join_open_change(q) : plan_change(q);
}

static void accept_change(const struct change_request *q)
{
    struct operation *op = command_operation(q->e, q->cmd, OPERATION_UPDATE);
    op->body = json_pack("{sO sO*}", "spec", q->goal, "before", asked_before(q->e));
    plan_update(q->e, op);
    take_desired(q->e, q->cmd, q->body);
    command_accept(q->e, q->cmd, op);
}

struct problem *change_cluster(struct entity *e, struct command *cmd, const json_t *body)
{
    assert(command_write_of(cmd) && !e->saves.asked_for);
    struct change_request q = {.e = e, .cmd = cmd, .body = body};
    struct problem *refusal = decide_change(&q);
    assert(!refusal || q.verdict == CHANGE_NONE);
    switch (q.verdict) {
    case CHANGE_NONE:
        break;
    case CHANGE_SETTLED:
        settle_desired(e, cmd, body, q.under_way);
        break;
    case CHANGE_PREVIEWED:
        dry_run_change(e, cmd, body, q.goal, q.present, q.plan);
        break;
    case CHANGE_ACCEPTED:
        accept_change(&q);
        break;
    }
    change_done(&q);
    return refusal;
}

struct problem *command_cluster_put(struct reconcile *r, struct command *cmd)
{
    struct project *p;
    struct problem *refusal = command_project(r, cmd, &p);
    if (refusal)
        return refusal;
    struct entity *e = entity_find(r, cmd->project, cmd->name);
    if (command_wait_until_settled(e, cmd))
        return NULL;
    if (e && !create_is_leftover(e))
        return change_cluster(e, cmd, cmd->body);
    if (!spec_name_is_valid(cmd->name))
        return problem_new(PROBLEM_VALIDATION_FAILED,
                           "a cluster name has 1 to 15 characters a-z, 0-9 and '-', begins and ends with a "
                           "letter or digit, without '--'");
    return create_or_wait(r, p, cmd, cmd->name, SPEC_PUT);
}

/* ---- patch ---- */

void desired_merge(json_t *target, const json_t *patch)
{
    const char *key;
    json_t *value;
    json_object_foreach ((json_t *)(uintptr_t)patch, key, value) {
        if (json_is_null(value)) {
            (void)json_object_del(target, key);
        } else if (json_is_object(value)) {
            json_t *inner = json_obj(target, key);
            json_t *merged = inner ? json_deep_copy(inner) : json_object();
            desired_merge(merged, value);
            (void)json_object_set_new(target, key, merged);
        } else {
            (void)json_object_set_new(target, key, json_deep_copy(value));
        }
    }
}

json_t *desired_of(const struct cluster *c)
{
    json_t *body = json_object();
    json_set_take(body, "labels", json_deep_copy(c->labels));
    if (c->description)
        json_set_str(body, "description", c->description);
    json_set_bool(body, "deletion_protection", c->deletion_protection);
    json_set_take(body, "spec", json_deep_copy(json_doc_tree(c->spec)));
    return body;
}

struct problem *command_cluster_patch(struct reconcile *r, struct command *cmd)
{
    struct entity *e;
    struct problem *refusal = command_managed_cluster(r, cmd, &e);
    if (!e)
        return refusal;
    struct problem *faults = command_size_faults(cmd->body, SPEC_PART_BODY, e->cluster);
    if (faults)
        return dry_run_faults(cmd, faults);
    json_t *body CLEANUP_JSON = desired_of(e->cluster);
    desired_merge(body, cmd->body);
    return change_cluster(e, cmd, body);
}

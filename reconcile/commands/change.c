/* Changes of the desired state of a cluster. PUT replaces the desired spec, PATCH merges into it. Loop
 * thread. */
#include <assert.h>
#include <stdio.h>

#include "base/log.h"
#include "model/spec.h"
#include "reconcile/answers/reply.h"
#include "reconcile/commands/commands.h"
#include "reconcile/commands/decide.h"
#include "reconcile/lookups/catalog.h"
#include "reconcile/operations/plan.h"
#include "reconcile/world/assess.h"
#include "reconcile/world/entity.h"
#include "reconcile/world/project.h"
#include "reconcile/world/save.h"
#include "reconcile/world/world.h"

/* The stored labels and spec in the form of a body, which shares them. */
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

/* The open change that brings about the spec: the newest accepted one. */
static const struct operation *change_under_way(const struct entity *e)
{
    const struct operation *waiting = entity_queue_find(e, OPERATION_UPDATE);
    if (waiting)
        return waiting;
    int open = entity_open_type(e);
    return open == OPERATION_CREATE || open == OPERATION_UPDATE ? e->op : NULL;
}

/* The spec that was requested so far, by changes that have begun and did not fail; a waiting change is
 * replaced. NULL: none. */
static const json_t *asked_before(const struct entity *e)
{
    const struct operation *waiting = entity_queue_find(e, OPERATION_UPDATE);
    if (waiting || entity_change_was_in_vain(e))
        return json_obj(waiting ? waiting->body : e->op->body, "before");
    return e->cluster->managed ? json_doc_tree(e->cluster->spec) : NULL;
}

/* The present state in the form of a spec: as Cleura shows it, or as it was requested. A part that cannot be
 * read is taken from `spec` if it repeats the earlier request. The caller owns it. */
static json_t *present_state(const struct entity *e, const json_t *spec)
{
    const json_t *there = NULL;
    if (e->cluster->shoot)
        there = shoot_observed(e->cluster->shoot);
    else if (entity_open_type(e) == OPERATION_CREATE)
        there = e->op->body;
    return spec_presumed(there, asked_before(e), spec);
}

/* The spec that the running update brings about. */
static const json_t *goal_of_running(const struct entity *e)
{
    return entity_open_type(e) == OPERATION_UPDATE ? json_obj(e->op->body, "spec") : NULL;
}

static void take_desired(struct entity *e, const struct command *cmd, const json_t *body)
{
    struct cluster *c = e->cluster;
    assert(!cmd->write.dry_run && !e->saves.last);
    json_t *spec CLEANUP_JSON = desired_spec(body);
    if (!c->managed)
        log_info("cluster adopted", "project", c->project, "cluster", c->name, "by", cmd->caller.token_name);
    c->managed = true;
    json_doc_set(&c->spec, json_incref(spec));
    desired_take_metadata(c, body);
}

/* Nothing must be sent: the requested state exists, or will exist after `change`. */
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
    if (c->shoot)
        assess_settle(e, save);
    save_entity(save, e);
    reply_prepare_cluster(cmd, status, e, change);
    command_keep(save, cmd);
    save_submit(save, false);
}

bool command_fits(struct command *cmd, const json_t *body, enum spec_part part, const struct cluster *c)
{
    struct problem *faults = NULL;
    json_t *known CLEANUP_JSON = c ? stored_body(c) : NULL;
    spec_check_limits(body, part, part == SPEC_PART_BODY ? known : NULL, &faults);
    if (faults && !dry_run_faults(cmd, faults))
        reply_problem(cmd, faults);
    return !faults;
}

/* False when the change was refused and answered. */
static bool change_is_possible(struct entity *e, struct command *cmd, const json_t *body,
                               const json_t *present)
{
    struct problem *faults = NULL;
    struct spec_context context;
    project_spec_context(e->project, &context);
    context.observed = present;
    context.name = e->cluster->name;
    json_t *known CLEANUP_JSON = stored_body(e->cluster);
    context.known = known;
    spec_check_body(body, SPEC_PUT, &context, &faults);
    if (faults) {
        /* All faults at once, including impossible changes. */
        if (context.observed && json_obj(body, "spec"))
            spec_check_change(json_obj(body, "spec"), context.observed, &context, &faults);
        if (!dry_run_faults(cmd, faults))
            reply_problem(cmd, faults);
        return false;
    }
    if (entity_is_leaving(e) || entity_is_deleted_at_cleura(e)) {
        command_reply_busy(cmd, e, "the cluster is being deleted");
        return false;
    }
    if (!context.observed) {
        reply_problem(cmd, problem_new(PROBLEM_CLUSTER_NOT_READY,
                                       "the cluster was never created: create it again with PUT or POST"));
        return false;
    }
    return true;
}

/* A copy of the spec without the members that faults name: a whole member, or one member of a pool. */
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

void change_cluster(struct entity *e, struct command *cmd, const json_t *body)
{
    struct cluster *c = e->cluster;
    struct spec_context context;
    struct problem *faults = NULL;
    assert(command_write_of(cmd) && !e->saves.asked_for);
    if (!command_fits(cmd, body, SPEC_PART_BODY, c) || catalog_wait(e->project, cmd))
        return;
    json_t *spec CLEANUP_JSON = desired_spec(body);
    const struct operation *change = change_under_way(e);
    bool same = c->managed && json_equal(json_doc_tree(c->spec), spec);
    bool as_before = same && desired_metadata_is_equal(c, body) && !entity_is_leaving(e);
    if (as_before && change && !cmd->write.dry_run) { /* its acceptance included this check */
        if (command_precondition(cmd, e))
            settle_desired(e, cmd, body, change);
        return;
    }
    json_t *present CLEANUP_JSON = present_state(e, spec);
    if (!change_is_possible(e, cmd, body, present))
        return;
    project_spec_context(e->project, &context);
    if (same && change && !cmd->write.dry_run) {
        if (command_precondition(cmd, e))
            settle_desired(e, cmd, body, change);
        return;
    }
    spec_check_change(spec, present, &context, &faults);
    if (!same && !faults && goal_of_running(e)) /* the running update ends before this one begins */
        spec_check_change(spec, goal_of_running(e), &context, &faults);
    if (faults && !same) {
        if (!dry_run_faults(cmd, faults))
            reply_problem(cmd, faults);
        return;
    }
    if (!command_precondition(cmd, e)) {
        problem_free(faults);
        return;
    }
    /* An equal spec is accepted although a part of it cannot be brought about: that part stays as drift, the
     * other parts are corrected. */
    json_t *goal CLEANUP_JSON = faults ? without_faults(spec, faults) : json_incref(spec);
    problem_free(faults);
    json_t *plan CLEANUP_JSON = spec_plan(goal, present, &context);
    if (cmd->write.dry_run) {
        dry_run_change(e, cmd, body, goal, present, plan);
        return;
    }
    if (!json_array_size(plan) && !change) {
        settle_desired(e, cmd, body, NULL);
        return;
    }
    struct operation *op = command_operation(e, cmd, OPERATION_UPDATE);
    op->body = json_pack("{sO sO*}", "spec", goal, "before", asked_before(e));
    plan_update(e, op);
    take_desired(e, cmd, body);
    command_accept(e, cmd, op);
}

void command_cluster_put(struct reconcile *r, struct command *cmd)
{
    struct project *p = command_project(r, cmd);
    if (!p)
        return;
    struct entity *e = entity_find(r, cmd->project, cmd->name);
    if (command_wait_until_settled(e, cmd))
        return;
    if (e && !create_is_leftover(e)) {
        change_cluster(e, cmd, cmd->body);
        return;
    }
    if (!spec_name_is_valid(cmd->name)) {
        reply_problem(
            cmd, problem_new(PROBLEM_VALIDATION_FAILED,
                             "a cluster name has 1 to 15 characters a-z, 0-9 and '-', begins and ends with a "
                             "letter or digit, without '--'"));
        return;
    }
    create_or_wait(r, p, cmd, cmd->name, SPEC_PUT);
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

void command_cluster_patch(struct reconcile *r, struct command *cmd)
{
    struct entity *e = command_managed_cluster(r, cmd);
    if (!e)
        return;
    if (!command_fits(cmd, cmd->body, SPEC_PART_BODY, e->cluster))
        return;
    json_t *body CLEANUP_JSON = desired_of(e->cluster);
    desired_merge(body, cmd->body);
    change_cluster(e, cmd, body);
}

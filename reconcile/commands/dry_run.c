/* Dry runs: report the effect of a write without carrying it out. Nothing is stored or sent. Loop thread. */
#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "reconcile/answers/objects.h"
#include "reconcile/answers/reply.h"
#include "reconcile/commands/commands.h"
#include "reconcile/lookups/need.h"
#include "reconcile/operations/action_kinds.h"
#include "reconcile/operations/plan.h"
#include "reconcile/world/entity.h"
#include "reconcile/world/project.h"
#include "reconcile/world/walk.h"
#include "reconcile/world/world.h"

/* The parts of the answer to a dry run. All are taken over; NULL: the part is empty or null. */
struct forecast {
    json_t *changes;
    json_t *steps;
    bool destructive;
    json_t *quota;
    json_t *warnings;
    json_t *errors;
};

static void reply_forecast(struct command *cmd, bool valid, const struct forecast *f)
{
    assert(cmd->write.dry_run);
    json_t *doc = json_object();
    json_set_bool(doc, "valid", valid);
    json_set_take(doc, "changes", f->changes ? f->changes : json_array());
    json_set_take(doc, "steps", f->steps ? f->steps : json_array());
    json_set_bool(doc, "destructive", f->destructive);
    json_set_take(doc, "quota", f->quota);
    json_set_take(doc, "warnings", f->warnings ? f->warnings : json_array());
    json_set_take(doc, "errors", f->errors ? f->errors : json_array());
    reply_json(cmd, 200, doc);
}

/* Returns how much of the quota the pools use at most, before and after the change. Takes over `after`. */
static json_t *quota_effect(const struct project *p, const json_t *before, json_t *after)
{
    struct spec_context context;
    json_t *doc = json_object();
    project_spec_context(p, &context);
    json_set_take(doc, "before", spec_quota(before, &context));
    json_set_take(doc, "after", spec_quota(after, &context));
    json_decref(after);
    return doc;
}

struct problem *dry_run_faults(struct command *cmd, struct problem *faults)
{
    if (!cmd->write.dry_run)
        return faults;
    reply_fit_faults(cmd, faults);
    reply_forecast(cmd, false, &(struct forecast){.errors = json_incref(faults->faults)});
    problem_free(faults);
    return NULL;
}

static void preview_change(json_t *changes, const char *path, const json_t *old, const json_t *new)
{
    json_t *change = json_object();
    json_set_str(change, "path", path);
    json_set_take(change, "old", json_deep_copy(old));
    json_set_take(change, "new", json_deep_copy(new));
    json_append_take(changes, change);
}

/* Adds the changes of labels, description and deletion protection; c: NULL when there is no cluster yet. */
static void preview_metadata(json_t *changes, const struct cluster *c, const json_t *body)
{
    struct cluster *after = cluster_new();
    desired_take_metadata(after, body);
    json_t *empty CLEANUP_JSON = json_object();
    const json_t *labels = c && c->labels ? c->labels : empty;
    const char *description = c ? c->description : NULL;
    bool is_protected = c && c->deletion_protection;
    if (!json_equal(labels, after->labels))
        preview_change(changes, "labels", c ? labels : NULL, after->labels);
    if (strcmp(description ? description : "", after->description ? after->description : "") != 0) {
        json_t *old CLEANUP_JSON = description ? json_string(description) : json_null();
        json_t *new CLEANUP_JSON = after->description ? json_string(after->description) : json_null();
        preview_change(changes, "description", old, new);
    }
    if (is_protected != after->deletion_protection)
        preview_change(changes, "deletion_protection", c ? json_boolean(is_protected) : NULL,
                       json_boolean(after->deletion_protection));
    if (c && !c->managed)
        preview_change(changes, "managed", json_false(), json_true());
    cluster_free(after);
}

static void preview_step(json_t *steps, const char *type, const char *target, bool rolls, const char *reason)
{
    json_t *step = json_object();
    json_set_str(step, "type", type);
    json_set_str(step, "target", target && *target ? target : NULL);
    json_set_bool(step, "rolls_nodes", rolls);
    json_set_str(step, "reason", reason);
    json_append_take(steps, step);
}

/* The use of the quota when all pools of the project, and of the new cluster, are at their maximum. */
struct worst_case {
    struct walk walk;
    struct project *p;
    struct command *cmd;
    struct spec_quota_sum use;
};

static unsigned add_worst_case(struct walk *walk, struct entity *e)
{
    struct worst_case *w = CONTAINER_OF(walk, struct worst_case, walk);
    struct spec_context context;
    project_spec_context(w->p, &context);
    spec_quota_add(&w->use, json_arr(plan_base(e), "node_pools"), &context);
    return WALK_LOOKED_AT;
}

static void preview_create(struct walk *walk)
{
    struct worst_case *w = CONTAINER_OF(walk, struct worst_case, walk);
    const struct project *p = w->p;
    struct command *cmd = w->cmd;
    const char *name = command_new_name(cmd);
    struct spec_context context;
    json_t *spec CLEANUP_JSON = desired_spec(cmd->body);
    project_spec_context(p, &context);
    json_t *resolved CLEANUP_JSON = spec_resolve(name, spec, &context);
    json_t *changes = json_array(), *steps = json_array();
    const char *member;
    json_t *value;
    (void)json_object_del(resolved, "name");
    json_object_foreach (resolved, member, value)
        preview_change(changes, member, NULL, value);
    preview_metadata(changes, NULL, cmd->body);
    if (!p->state->bootstrapped_at)
        preview_step(steps, step_type_name(STEP_BOOTSTRAP), NULL, false, NULL);
    preview_step(steps, step_type_name(STEP_CREATE_SHOOT), NULL, false, NULL);
    json_t *pools = json_arr(resolved, "node_pools"), *warnings = json_array();
    spec_quota_add(&w->use, pools, &context);
    json_t *use CLEANUP_JSON = spec_quota_of(&w->use);
    json_t *quota = quota_effect(p, NULL, json_incref(pools));
    if (!cmd->facts.name_is_free)
        spec_warn(warnings, "#/name", "name_unchecked",
                  "Cleura did not report whether the name is free; names are unique in the whole cloud");
    spec_warnings(spec, NULL, pools, warnings);
    json_t *shares CLEANUP_JSON = spec_quota_shares(pools, &context);
    spec_warn_of_quota(warnings, use, cmd->facts.quota, json_arr(spec, "node_pools"), shares);
    reply_forecast(
        cmd, true,
        &(struct forecast){.changes = changes, .steps = steps, .quota = quota, .warnings = warnings});
    free(w);
}

static void on_preview_stopped(struct walk *walk)
{
    struct worst_case *w = CONTAINER_OF(walk, struct worst_case, walk);
    reply_problem(w->cmd, problem_at_rest(w->p));
    free(w);
}

void dry_run_create(struct project *p, struct command *cmd)
{
    assert(cmd->write.dry_run);
    if (command_needs(p, NULL, cmd, NEED_QUOTA))
        return;
    struct worst_case *w = MEM_NEW(struct worst_case);
    *w = (struct worst_case){.walk = {.name = "quota of a project",
                                      .visit = add_worst_case,
                                      .on_end = preview_create,
                                      .on_stop = on_preview_stopped},
                             .p = p,
                             .cmd = cmd,
                             .use = SPEC_QUOTA_NONE};
    walk_project(p, &w->walk);
}

void dry_run_change(const struct entity *e, struct command *cmd, const json_t *body, const json_t *goal,
                    const json_t *present, const json_t *plan)
{
    struct spec_context context;
    project_spec_context(e->project, &context);
    json_t *differences CLEANUP_JSON = json_array();
    json_t *changes = json_array(), *steps = json_array();
    bool destructive = false;
    size_t i;
    json_t *item;
    (void)spec_differences(goal, present, SPEC_UNKNOWN_DIFFERS, differences);
    json_array_foreach (differences, i, item)
        preview_change(changes, json_str(item, "path"), json_object_get(item, "found"),
                       json_object_get(item, "wanted"));
    preview_metadata(changes, e->cluster, body);
    json_array_foreach (plan, i, item) {
        const char *type = json_str(item, "type");
        preview_step(steps, type, json_str(item, "target"), json_bool(item, "rolls_nodes", false),
                     json_str(item, "reason"));
        destructive |= !strcmp(type, "delete_pool");
    }
    json_t *quota =
        quota_effect(e->project, json_arr(present, "node_pools"), spec_pools_after(goal, present, &context));
    json_t *warnings = json_array();
    json_t *pools CLEANUP_JSON = spec_pools_after(goal, present, &context);
    spec_warnings(goal, present, pools, warnings);
    reply_forecast(cmd, true, &(struct forecast){changes, steps, destructive, quota, warnings, NULL});
}

void dry_run_delete(struct command *cmd, const struct entity *e)
{
    json_t *changes = json_array(), *steps = json_array();
    preview_change(changes, "", shoot_observed(e->cluster->shoot), NULL);
    preview_step(steps, step_type_name(STEP_DELETE_SHOOT), NULL, false, NULL);
    const json_t *observed = shoot_observed(e->cluster->shoot);
    json_t *quota = quota_effect(e->project, json_arr(observed, "node_pools"), NULL);
    reply_forecast(cmd, true, &(struct forecast){changes, steps, true, quota, NULL, NULL});
}

void dry_run_action(struct command *cmd, bool is_needed)
{
    const struct action_kind *kind = action_kind(cmd->write.action);
    json_t *steps = json_array();
    assert(kind);
    for (const struct action_step *step = kind->steps; is_needed && step->target; step++)
        preview_step(steps, step_type_name(step->type), step->target, step->rolls_nodes, step->reason);
    reply_forecast(cmd, true, &(struct forecast){.steps = steps});
}

/* Dry runs: what a write would do, told instead of done. Nothing is stored, nothing is sent. Loop thread. */
#include <string.h>

#include "base/mem.h"
#include "reconcile/commands_private.h"

static void reply(struct command *cmd, bool valid, json_t *changes, json_t *steps, bool destructive,
                  json_t *errors)
{
    json_t *doc = json_object();
    json_set_bool(doc, "valid", valid);
    json_set_take(doc, "changes", changes);
    json_set_take(doc, "steps", steps);
    json_set_bool(doc, "destructive", destructive);
    json_set_take(doc, "errors", errors);
    reply_json(cmd, 200, doc);
}

bool dry_run_faults(struct command *cmd, struct problem *faults)
{
    if (!cmd->dry_run)
        return false;
    reply_fit_faults(cmd, faults);
    reply(cmd, false, json_array(), json_array(), false,
          faults->faults ? json_incref(faults->faults) : json_array());
    problem_free(faults);
    return true;
}

static void add_change(json_t *changes, const char *path, const json_t *old, const json_t *new)
{
    json_t *change = json_object();
    json_set_str(change, "path", path);
    json_set_take(change, "old", json_deep_copy(old));
    json_set_take(change, "new", json_deep_copy(new));
    (void)json_array_append_new(changes, change);
}

static void add_step(json_t *steps, const char *type, const char *target, bool rolls, const char *reason)
{
    json_t *step = json_object();
    json_set_str(step, "type", type);
    json_set_str(step, "target", target && *target ? target : NULL);
    json_set_bool(step, "rolls_nodes", rolls);
    json_set_str(step, "reason", reason);
    (void)json_array_append_new(steps, step);
}

void dry_run_create(const struct project *p, struct command *cmd, const char *name)
{
    struct spec_context context;
    json_t *spec CLEANUP_JSON = wish_spec(cmd->body);
    project_spec_context(p, &context);
    json_t *resolved CLEANUP_JSON = spec_resolve(name, spec, &context);
    json_t *changes = json_array(), *steps = json_array();
    const char *member;
    json_t *value;
    (void)json_object_del(resolved, "name");
    json_object_foreach (resolved, member, value)
        add_change(changes, member, NULL, value);
    if (!p->state->bootstrapped_at)
        add_step(steps, "bootstrap", NULL, false, NULL);
    add_step(steps, "create_shoot", NULL, false, NULL);
    reply(cmd, true, changes, steps, false, json_array());
}

void dry_run_change(struct command *cmd, const json_t *goal, const json_t *present, const json_t *plan)
{
    json_t *differences CLEANUP_JSON = json_array();
    json_t *changes = json_array(), *steps = json_array();
    bool destructive = false;
    size_t i;
    json_t *item;
    (void)spec_differences(goal, present, differences);
    json_array_foreach (differences, i, item)
        add_change(changes, json_str(item, "path"), json_object_get(item, "found"),
                   json_object_get(item, "wanted"));
    json_array_foreach (plan, i, item) {
        const char *type = json_str(item, "type");
        add_step(steps, type, json_str(item, "target"), json_bool(item, "rolls_nodes", false),
                 json_str(item, "reason"));
        destructive |= !strcmp(type, "delete_pool");
    }
    reply(cmd, true, changes, steps, destructive, json_array());
}

void dry_run_delete(struct command *cmd, const struct entity *e)
{
    json_t *changes = json_array(), *steps = json_array();
    add_change(changes, "", e->cluster->shoot ? e->cluster->shoot->observed : NULL, NULL);
    add_step(steps, "delete_shoot", NULL, false, NULL);
    reply(cmd, true, changes, steps, true, json_array());
}

void dry_run_action(struct command *cmd, const struct operation *op)
{
    json_t *steps = json_array();
    for (unsigned i = 0; op && i < op->step_count; i++)
        add_step(steps, op->steps[i].type, op->steps[i].target, false, NULL);
    reply(cmd, true, json_array(), steps, false, json_array());
}

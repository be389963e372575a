/* New clusters, by POST or by PUT. Loop thread. */

#include "base/ids.h"
#include "base/log.h"
#include "base/mem.h"
#include "model/spec.h"
#include "reconcile/answers/objects.h"
#include "reconcile/answers/reply.h"
#include "reconcile/commands/commands.h"
#include "reconcile/commands/decide.h"
#include "reconcile/lookups/fetch.h"
#include "reconcile/lookups/need.h"
#include "reconcile/operations/plan.h"
#include "reconcile/world/deciders.h"
#include "reconcile/world/entity.h"
#include "reconcile/world/project.h"
#include "reconcile/world/save.h"
#include "reconcile/world/world.h"

#include <assert.h>
#include <string.h>

static void on_create_saved(struct save *save)
{
    struct entity *e = command_settled(save);
    assert(e && e->saves.first); /* a cluster whose create is not stored yet is not removed */
    command_reply_saved(save);
    if (save->status != STORE_OK) {
        /* Memory returns to the state of the store: the create is undone in memory. */
        entity_remove(e);
        return;
    }
    e->saves.first = false;
    entity_touch(e);
}

/* `replaced` is the id of a record with the same name that this create replaces, or "". When there is such a
 * record, the store must not refuse the create: otherwise the old record would be lost, and there would be no
 * new record. */
static void accept_create(struct reconcile *r, struct project *p, struct command *cmd, const char *name,
                          const char *replaced)
{
    struct spec_context context;
    assert(command_write_of(cmd) && !cmd->write.dry_run && !entity_find(r, p->name, name));
    struct cluster *c = cluster_new();
    (void)id_new(r->env, ID_CLUSTER, c->id);
    c->project = mem_strdup(p->name);
    c->name = mem_strdup(name);
    c->created_at = env_wall(r->env);
    struct entity *e = entity_add(r, p, c);
    json_t *spec CLEANUP_JSON = desired_spec(cmd->body);
    project_spec_context(p, &context);
    c->managed = true;
    c->generation = 1;
    json_doc_set(&c->spec, json_incref(spec));
    desired_take_metadata(c, cmd->body);
    c->phase = PHASE_PENDING;
    c->health = HEALTH_PROGRESSING;
    mem_set_str(&c->message, "Accepted");
    struct operation *op = command_operation(e, cmd, OPERATION_CREATE);
    op->body = spec_resolve(name, spec, &context);
    entity_set_operation(e, op);
    plan_create(e, op);
    log_info("create accepted", "project", c->project, "cluster", c->name, "operation", op->id, "request_id",
             cmd->request_id, "by", cmd->caller.token_name);
    e->saves.first = true;
    e->saves.asked_for++;
    struct save *save = save_answer(r, on_create_saved, cmd);
    if (*replaced)
        change_delete_cluster(save->set, replaced);
    save_entity(save, e);
    reply_prepare_cluster(cmd, 202, e, op);
    command_keep(save, cmd);
    save_submit(save, !*replaced);
}

bool create_is_leftover(const struct entity *e)
{
    return !e->cluster->upstream_exists && !entity_has_open_operation(e) && !e->queued &&
           !entity_is_committing(e) && !upstream_call_is_active(&e->step.call) &&
           e->cluster->phase == PHASE_FAILED;
}

struct problem *create_or_wait(struct reconcile *r, struct project *p, struct command *cmd, const char *name,
                               enum spec_use use)
{
    struct spec_context context;
    struct problem *faults = command_size_faults(cmd->body, SPEC_PART_BODY, NULL);
    if (faults)
        return dry_run_faults(cmd, faults);
    if (command_needs(p, NULL, cmd, NEED_CATALOG))
        return NULL;
    project_spec_context(p, &context);
    context.name = use == SPEC_PUT ? name : NULL;
    spec_check_body(cmd->body, use, &context, &faults);
    if (faults)
        return dry_run_faults(cmd, faults);
    struct entity *e = entity_find(r, p->name, name);
    struct problem *refusal = use == SPEC_PUT ? command_precondition(cmd, e) : NULL;
    if (refusal || command_needs(p, NULL, cmd, NEED_NAME))
        return refusal;
    /* The owner of a name that is taken may be a cluster of this project that was not read yet. */
    if (cmd->facts.name_is_taken && command_needs(p, NULL, cmd, NEED_FRESH))
        return NULL;
    if (cmd->facts.name_is_taken && cmd->facts.was_read)
        return problem_new(PROBLEM_NAME_TAKEN,
                           "Cleura reports that the name '%s' is taken; no create was sent", name);
    if (cmd->write.dry_run) {
        dry_run_create(p, cmd);
        return NULL;
    }
    char replaced[sizeof(e->cluster->id)] = "";
    if (e) { /* the cluster was never created at Cleura: the new create replaces its failed record */
        assert(create_is_leftover(e) && !e->saves.asked_for);
        memcpy(replaced, e->cluster->id, sizeof(replaced));
        fetches_forget(r->fetches, e->key);
        entity_remove(e);
    }
    accept_create(r, p, cmd, name, replaced);
    return NULL;
}

struct problem *command_cluster_create(struct reconcile *r, struct command *cmd)
{
    struct project *p;
    struct problem *refusal = command_project(r, cmd, &p);
    if (refusal)
        return refusal;
    const char *name = json_str_or(cmd->body, "name", "");
    struct entity *e = entity_find(r, cmd->project, name);
    if (command_wait_until_settled(e, cmd))
        return NULL;
    if (!e || create_is_leftover(e))
        return create_or_wait(r, p, cmd, name, SPEC_CREATE);
    refusal = problem_new(PROBLEM_CLUSTER_EXISTS, "cluster '%s' exists and is %s", name,
                          phase_name(e->cluster->phase));
    if (e->op)
        reply_name_operation(refusal, e->op);
    return refusal;
}

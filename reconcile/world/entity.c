/* Clusters and their queues in memory: finds, adds, removes; makes no decisions. Loop thread. */
#include "reconcile/world/entity.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/mem.h"
#include "model/expiry.h"
#include "reconcile/world/project.h"
#include "reconcile/world/walk.h"
#include "reconcile/world/world.h"

struct entity *entity_find(struct reconcile *r, const char *project, const char *name)
{
    char key[ENTITY_KEY_BYTES];
    (void)view_cluster_key(key, project, name);
    return entity_by_key(r, key);
}

struct entity *entity_by_key(struct reconcile *r, const char *key)
{
    struct entity *e;
    HASH_FIND_STR(r->entities, key, e);
    return e;
}

void entity_touch(struct entity *e)
{
    const bool has_work = e->op || e->queued;
    if (has_work && list_is_detached(&e->touched))
        list_append(&e->r->turn.touched, &e->touched);
}

void entity_sight(struct entity *e, struct shoot *shoot)
{
    shoot_free(e->sighting);
    e->sighting = shoot;
    if (list_is_detached(&e->sighted))
        list_append(&e->r->turn.sighted, &e->sighted);
}

static void on_retry(struct loop_timer *timer)
{
    struct entity *e = CONTAINER_OF(timer, struct entity, step.retry);
    life_end_pause(e);
    entity_touch(e);
}

void entity_hide(struct entity *e)
{
    view_set(e->r->o.view, VIEW_CLUSTERS, e->key, NULL);
    view_blob_unref(e->shown);
    e->shown = NULL;
}

static void begin_afresh(struct entity *e)
{
    e->step = (struct step_run){.retry = {.fire = on_retry, .name = "step"}};
    e->seen = (struct sightings){0};
    e->absence = (struct absence){0};
    if (e->cluster->shoot)
        entity_note_newest(e, e->cluster->shoot);
}

/* Two facts are not reset: that an intent is being stored, and when the step began. */
void entity_forget_tries(struct entity *e)
{
    const enum step_life life = e->step.life;
    const mono_us begun_at = e->step.begun_at;
    assert(life == LIFE_STORING || life == LIFE_RESTING);
    json_decref(e->step.body);
    problem_free(e->step.refusal);
    begin_afresh(e);
    e->step.life = life;
    e->step.begun_at = begun_at;
}

void entity_note_begin(struct entity *e, struct operation_step *step)
{
    step->started_at = env_wall(e->r->env);
    e->step.begun_at = env_mono(e->r->env);
}

void entity_note_sent(struct entity *e, struct operation_step *step)
{
    const struct env *env = e->r->env;
    const mono_us sent_at = e->step.call.started_at;
    if (sent_at && !step->sent_at)
        step->sent_at = env_wall(env) - (env_mono(env) - sent_at);
}

int64_t entity_doubt_us(struct entity *e)
{
    const mono_us now = env_mono(e->r->env);
    if (!e->step.tries.lost_at)
        e->step.tries.lost_at = now;
    return now - e->step.tries.lost_at;
}

bool entity_is_at_step_for(const struct entity *e, int64_t seconds)
{
    const mono_us begun_at = e->step.begun_at ? e->step.begun_at : e->r->started_at;
    return env_mono(e->r->env) - begun_at > seconds * US_PER_S;
}

struct entity *entity_add(struct reconcile *r, struct project *p, struct cluster *c)
{
    loop_assert_owner(r->o.loop);
    assert(!c->deleted);
    struct entity *e = MEM_NEW(struct entity);
    (void)view_cluster_key(e->key, c->project, c->name);
    e->r = r;
    e->project = p;
    e->cluster = c;
    cluster_observed_before(c, r->env);
    begin_afresh(e);
    assert(!entity_find(r, c->project, c->name));
    HASH_ADD_STR(r->entities, key, e);
    list_append(&p->clusters, &e->in_project);
    p->cluster_count++;
    return e;
}

void entity_remove(struct entity *e)
{
    struct reconcile *r = e->r;
    loop_assert_owner(r->o.loop);
    assert(!upstream_call_is_active(&e->step.call));
    heap_remove(&e->project->poll.due, &e->due);
    walks_pass(e);
    loop_timer_clear(r->o.loop, &e->step.retry);
    entity_hide(e);
    HASH_DEL(r->entities, e);
    list_remove(&e->in_project);
    list_remove(&e->touched);
    list_remove(&e->sighted);
    shoot_free(e->sighting);
    assert(e->project->cluster_count);
    e->project->cluster_count--;
    problem_free(e->step.refusal);
    operation_free(e->op);
    for (size_t i = 0; i < e->queued; i++)
        operation_free(e->queue[i]);
    free(e->queue);
    json_decref(e->step.body);
    cluster_free(e->cluster);
    free(e);
}

void entity_set_operation(struct entity *e, struct operation *op)
{
    assert(!entity_has_open_operation(e) && !operation_status_is_final(op->status));
    operation_free(e->op);
    e->op = op;
    e->saves.operation_ended = false;
    /* Resets the state of the old operation's step. */
    e->step.tries = (struct step_tries){0};
    e->step.looked_at = 0;
    e->step.unread = false;
    e->step.vain_deletions = 0;
    problem_free(e->step.refusal);
    e->step.refusal = NULL;
    life_end_pause(e);
    if (e->step.life == LIFE_LOOKED)
        life_move(e, LIFE_RESTING);
    (void)snprintf(e->cluster->operation_id, sizeof(e->cluster->operation_id), "%s", op->id);
}

void entity_rest(struct entity *e)
{
    const struct cluster *c = e->cluster;
    cluster_rest(e->cluster);
    /* Readers of the operation get the notes from the stored copy (world/operation_table.h). */
    if (e->op && e->saves.operation_ended)
        operation_forget_notes(e->op);
    /* The body of a create is needed until the shoot's uid is known, because it can show whether a shoot is
     * shootd's own. The body of a failed change is needed, because it has the spec that was requested before
     * it (operations/plan.h). */
    if (e->op && e->saves.operation_ended && c->upstream_exists && shoot_has_uid(c->shoot) &&
        !entity_change_was_in_vain(e))
        operation_trim(e->op);
}

bool entity_forget_operation(struct entity *e, wall_us before)
{
    if (!e->op || !e->saves.operation_ended || e->saves.under_way || e->op->finished_at >= before ||
        !e->cluster->upstream_exists || !shoot_has_uid(e->cluster->shoot))
        return false;
    assert(operation_status_is_final(e->op->status));
    operation_free(e->op);
    e->op = NULL;
    return true;
}

wall_us entity_guard_now(struct entity *e)
{
    const wall_us since = e->cluster->guard_since;
    return since ? since + wall_mark_age_us(&e->guard_since, e->r->env, since) : env_wall(e->r->env);
}

bool entity_has_open_operation(const struct entity *e)
{
    return e->op && !operation_status_is_final(e->op->status);
}

bool entity_is_committing(const struct entity *e)
{
    return e->saves.first || e->saves.last || e->step.life == LIFE_STORING;
}

bool entity_row_was_refused(const struct entity *e)
{
    return e->seen.refused_in == e->project->poll.lists && e->seen.listed_in != e->project->poll.lists;
}

int entity_open_type(const struct entity *e)
{
    return entity_has_open_operation(e) ? (int)e->op->type : -1;
}

bool entity_change_was_in_vain(const struct entity *e)
{
    const struct operation *op = e->op;
    return op && op->type == OPERATION_UPDATE && operation_status_is_final(op->status) &&
           op->status != OPERATION_SUCCEEDED;
}

bool entity_is_active(const struct entity *e)
{
    static const bool moving[PHASE_MAX_] = {
        [PHASE_PENDING] = true, [PHASE_CREATING] = true, [PHASE_UPDATING] = true, [PHASE_HIBERNATING] = true,
        [PHASE_WAKING] = true,  [PHASE_RETRYING] = true, [PHASE_DELETING] = true,
    };
    const struct cluster *c = e->cluster;
    return entity_has_open_operation(e) || c->settling || c->guard_since ||
           (moving[c->phase] && c->upstream_exists);
}

bool entity_is_deleted_at_cleura(const struct entity *e)
{
    return shoot_is_deletion(e->cluster->shoot);
}

void entity_queue_push(struct entity *e, struct operation *op)
{
    assert(op && op != e->op && !operation_status_is_final(op->status));
    e->queue = mem_realloc_array(e->queue, e->queued + 1, sizeof(*e->queue));
    e->queue[e->queued++] = op;
}

struct operation *entity_queue_take(struct entity *e, size_t index)
{
    assert(index < e->queued);
    struct operation *op = e->queue[index];
    e->queued--;
    memmove(e->queue + index, e->queue + index + 1, (e->queued - index) * sizeof(*e->queue));
    return op;
}

struct operation *entity_queue_find(const struct entity *e, enum operation_type type)
{
    for (size_t i = 0; i < e->queued; i++)
        if (e->queue[i]->type == type)
            return e->queue[i];
    return NULL;
}

bool entity_is_leaving(const struct entity *e)
{
    return e->cluster->deleted || entity_open_type(e) == OPERATION_DELETE ||
           entity_queue_find(e, OPERATION_DELETE);
}

void entity_note_newest(struct entity *e, const struct shoot *shoot)
{
    if (!shoot->operation_at || shoot->operation_at < e->seen.newest_at)
        return;
    e->seen.newest_at = shoot->operation_at;
    e->seen.newest_since = env_mono(e->r->env);
}

void entity_note_expiry(struct entity *e)
{
    struct cluster *c = e->cluster;
    c->expires_at = versions_expire_at(c->shoot, e->project->state->catalog);
}

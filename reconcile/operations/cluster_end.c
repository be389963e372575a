/* Ends clusters with their last change sets. Loop thread. */
#include "reconcile/operations/cluster_end.h"

#include <assert.h>
#include <string.h>

#include "base/log.h"
#include "reconcile/operations/ends.h"
#include "reconcile/operations/queue.h"
#include "reconcile/world/departed.h"
#include "reconcile/world/entity.h"
#include "reconcile/world/events.h"
#include "reconcile/world/project.h"
#include "reconcile/world/save.h"
#include "reconcile/world/schedule.h"

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
        operation_delete_call(e->op)->status == STEP_SKIPPED || ++e->absence.reads >= ABSENT_READS)
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

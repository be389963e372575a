/*
 * Saves: change sets on their way to the store and back. A save is built on the loop thread, committed on the
 * writer thread, and returns as a task. Its content is shown, answered and passed to webhooks only after
 * that.
 *
 * Why memory changes first and is shown last: the next decision must see this one, also while it is on its
 * way to the disk, else two changes of a cluster could both be accepted. But a client, a receiver or Cleura
 * that learned of a change could not be told that a crash undid it. A save that may be refused is droppable,
 * and nothing is decided on its content before it is stored. Loop thread.
 */
#include "reconcile/world/save.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/assertion.h"
#include "base/attrs.h"
#include "base/ids.h"
#include "base/log.h"
#include "base/mem.h"
#include "reconcile/world/entity.h"
#include "reconcile/world/project.h"
#include "reconcile/world/operation_table.h"
#include "reconcile/world/token_registry.h"
#include "reconcile/world/trouble.h"
#include "reconcile/world/waiting.h"
#include "reconcile/world/world.h"
#include "view/cluster_facts.h"
#include "view/render.h"

void save_free(struct save *save)
{
    change_set_free(save->set);
    free(save);
}

static void save_drop(struct loop_task *task)
{
    save_free(CONTAINER_OF(task, struct save, task));
}

static void answer_drop(struct loop_task *task)
{
    struct save *save = CONTAINER_OF(task, struct save, task);
    command_drop(save->ctx);
    save_free(save);
}

static const struct event *event_in_set(const struct change_set *set, const char *id)
{
    for (size_t i = 0; i < set->count; i++)
        if (set->changes[i].kind == CHANGE_EVENT_APPEND && !strcmp(set->changes[i].event->id, id))
            return set->changes[i].event;
    return NULL;
}

/* Returns the stored form of the operation that the cluster names. When the operation is not in the table any
 * more, returns the entity's last operation. */
static const struct operation *operation_of(struct reconcile *r, const struct cluster *c)
{
    const struct operation_entry *entry = operation_entry(r, c->operation_id);
    const struct entity *e = entry ? NULL : entity_find(r, c->project, c->name);
    if (e && e->op && e->saves.operation_ended && !strcmp(e->op->id, c->operation_id))
        return e->op;
    return entry ? entry->op : NULL;
}

/* `c` is the entity's cluster, or its committed copy. */
static void show_cluster(struct entity *e, const struct cluster *c)
{
    if (!e->project->config)
        return; /* the project is retired */
    const struct operation *op = operation_of(e->r, c);
    const struct issue_world world = entity_issue_world(e, op);
    struct view_blob *blob = render_cluster_blob(c, op, &world);
    view_blob_unref(e->shown);
    e->shown = view_blob_ref(blob);
    view_set(e->r->o.view, VIEW_CLUSTERS, e->key, blob);
}

static void committed_cluster(struct reconcile *r, const struct change_set *set ATTR_UNUSED,
                              struct change *change)
{
    if (change->cluster->deleted)
        return;
    struct entity *e = entity_find(r, change->cluster->project, change->cluster->name);
    assert(e); /* the entity is removed only with its last change set */
    /* The operation that this copy names is not in memory any more. A later save of the cluster is running;
     * it shows the cluster with its next operation. */
    if (e->saves.under_way && *change->cluster->operation_id &&
        strcmp(e->cluster->operation_id, change->cluster->operation_id) != 0 &&
        !operation_entry(r, change->cluster->operation_id))
        return;
    /* These members are not stored, and may have changed during the save. */
    change->cluster->stale = e->cluster->stale;
    change->cluster->expires_at = e->cluster->expires_at;
    if (e->project->place.set_aside) /* nor is the message of a cluster that is set aside */
        mem_set_str(&change->cluster->message, e->cluster->message);
    show_cluster(e, change->cluster);
}

static void committed_operation(struct reconcile *r, const struct change_set *set ATTR_UNUSED,
                                struct change *change)
{
    struct operation *op = change->operation;
    operation_trim(op);
    /* the change now owns the previous state, which is NULL for a new operation: no client waits yet for the
     * end of a new operation */
    change->operation = operation_remember(r, op);
    view_set(r->o.view, VIEW_OPERATIONS, op->id, render_operation_blob(op));
}

/* Called after everything is shown and removed: clients that wait for the end must not find the old
 * cluster. */
static void answer_waiters(struct reconcile *r, const struct change_set *set)
{
    for (size_t i = 0; i < set->count; i++) {
        const struct change *change = &set->changes[i];
        bool is_operation = change->kind == CHANGE_OPERATION_PUT && change->operation;
        struct operation_entry *entry = is_operation ? operation_entry(r, change->operation->id) : NULL;
        if (entry && operation_status_is_final(entry->op->status))
            waiters_answer(&entry->waiters);
    }
}

static void committed_subscription(struct reconcile *r, const struct change_set *set ATTR_UNUSED,
                                   struct change *change)
{
    webhook_engine_set(r->webhooks, change->subscription);
}

static void committed_subscription_delete(struct reconcile *r, const struct change_set *set ATTR_UNUSED,
                                          struct change *change)
{
    view_set(r->o.view, VIEW_WEBHOOKS, change->id, NULL);
    webhook_engine_remove(r->webhooks, change->id);
}

static void committed_delivery(struct reconcile *r, const struct change_set *set, struct change *change)
{
    const struct event *event = event_in_set(set, change->delivery->event_id);
    if (change->delivery->status == DELIVERY_PENDING)
        webhook_engine_enqueue(r->webhooks, change->delivery, event ? event->body : NULL);
}

static void committed_token(struct reconcile *r, const struct change_set *set ATTR_UNUSED,
                            struct change *change)
{
    token_stored(r, change->token);
}

static void committed_token_delete(struct reconcile *r, const struct change_set *set ATTR_UNUSED,
                                   struct change *change)
{
    token_removed(r, change->id);
}

/* Functions that show a committed change to the other parts of the process. A kind of change without a
 * function here is not shown. */
static void (*const committed[CHANGE_KIND_MAX_])(struct reconcile *, const struct change_set *,
                                                 struct change *) = {
    [CHANGE_CLUSTER_PUT] = committed_cluster,
    [CHANGE_OPERATION_PUT] = committed_operation,
    [CHANGE_SUBSCRIPTION_PUT] = committed_subscription,
    [CHANGE_SUBSCRIPTION_DELETE] = committed_subscription_delete,
    [CHANGE_DELIVERY_PUT] = committed_delivery,
    [CHANGE_TOKEN_PUT] = committed_token,
    [CHANGE_TOKEN_DELETE] = committed_token_delete,
};

static void on_returned(struct loop_task *task)
{
    struct save *save = CONTAINER_OF(task, struct save, task);
    list_append(&save->r->turn.returned, &save->link);
}

void save_show(struct save *save)
{
    struct reconcile *r = save->r;
    loop_assert_owner(r->o.loop);
    assertion_about("change of", save->key);
    struct entity *e = entity_by_key(r, save->key);
    if (e && e->saves.under_way)
        e->saves.under_way--;
    if (save->status == STORE_OK) {
        /* Operations first, because a cluster is shown with its operation. */
        for (size_t i = 0; i < save->set->count; i++)
            if (save->set->changes[i].kind == CHANGE_OPERATION_PUT)
                committed_operation(r, save->set, &save->set->changes[i]);
        for (size_t i = 0; i < save->set->count; i++) {
            enum change_kind kind = save->set->changes[i].kind;
            assert(kind < CHANGE_KIND_MAX_);
            if (committed[kind] && kind != CHANGE_OPERATION_PUT)
                committed[kind](r, save->set, &save->set->changes[i]);
        }
    } else {
        if (e)
            e->seen.settled_version =
                0; /* the view has the old state, so the next observation must show the new state */
        log_error("change of {entity} not stored", "status", store_status_name(save->status), "entity",
                  save->key);
    }
}

void save_settle(struct save *save)
{
    struct reconcile *r = save->r;
    if (save->status == STORE_OK)
        answer_waiters(r, save->set);
    struct entity *e = entity_by_key(r, save->key); /* on_saved may have removed the entity */
    if (e)
        entity_rest(e);
    list_append(&r->turn.committed, &save->link);
    operations_leave_to_store(r);
}

void saves_publish_events(struct reconcile *r)
{
    for (struct list *item = list_pop(&r->turn.committed); item; item = list_pop(&r->turn.committed)) {
        struct save *save = CONTAINER_OF(item, struct save, link);
        for (size_t i = 0; save->status == STORE_OK && i < save->set->count; i++)
            if (save->set->changes[i].kind == CHANGE_EVENT_APPEND)
                feed_publish(r->o.feed, save->set->changes[i].event);
        save_free(save);
    }
}

static void on_written(struct change_set *set, enum store_status status)
{
    struct save *save = set->ctx;
    save->status = status;
    loop_post(save->r->o.loop, &save->task);
}

struct save *save_new(struct reconcile *r, void (*on_saved)(struct save *save), void *ctx)
{
    struct save *save = MEM_NEW(struct save);
    save->task = (struct loop_task){.run = on_returned, .drop = save_drop};
    save->r = r;
    save->set = change_set_new();
    save->on_saved = on_saved;
    save->ctx = ctx;
    return save;
}

struct save *save_answer(struct reconcile *r, void (*on_saved)(struct save *save), struct command *cmd)
{
    assert(on_saved && cmd);
    struct save *save = save_new(r, on_saved, cmd);
    save->task.drop = answer_drop;
    return save;
}

void save_operation(struct save *save, struct operation *op)
{
    op->version++;
    op->updated_at = env_wall(save->r->env);
    change_put_operation(save->set, operation_copy(op));
}

void save_entity(struct save *save, struct entity *e)
{
    struct cluster *c = e->cluster;
    assert(save->r == e->r && !*save->key); /* a save contains only one entity, once */
    entity_note_expiry(e);
    c->version++;
    c->updated_at = env_wall(save->r->env);
    cluster_note_trouble(c, c->updated_at);
    memcpy(save->key, e->key, sizeof(save->key));
    if (e->op && !e->saves.operation_ended) {
        save_operation(save, e->op);
        e->saves.operation_ended = operation_status_is_final(e->op->status);
    }
    change_put_cluster(save->set, cluster_copy(c));
}

void save_submit(struct save *save, bool droppable)
{
    loop_assert_owner(save->r->o.loop);
    struct entity *e = entity_by_key(save->r, save->key);
    if (e)
        e->saves.under_way++;
    save->set->droppable = droppable;
    save->set->on_done = on_written;
    save->set->ctx = save;
    storage_submit(save->r->o.storage, save->set);
}

void entity_store(struct entity *e)
{
    struct save *save = save_new(e->r, NULL, NULL);
    save_entity(save, e);
    save_submit(save, false);
}

static void show_seen(struct entity *e)
{
    view_seen_again(e->r->o.view, e->shown, e->cluster->observed_at, e->cluster->heard_at);
    entity_rest(e);
}

/* Whether the view has the present state of the cluster, except perhaps the time of the newest observation.
 */
static bool is_shown(const struct entity *e)
{
    char etag[ETAG_BYTES];
    if (!e->shown || !e->shown->observed_at || !e->cluster->observed_at)
        return false;
    const struct operation *op = operation_of(e->r, e->cluster);
    const struct trouble trouble = entity_trouble(e, e->cluster, op);
    render_cluster_etag(e->cluster, op, &trouble, etag);
    return !strcmp(etag, e->shown->etag) && trouble_is_equal(&trouble, &cluster_facts_of(e->shown)->trouble);
}

void entity_show_stored(struct entity *e)
{
    entity_note_expiry(e);
    if (is_shown(e)) {
        show_seen(e);
    } else {
        show_cluster(e, e->cluster);
        entity_rest(e);
    }
}

/* Shows the entity, unless a save of it is running: that save shows the entity when it is committed. To show
 * the entity earlier would show a state that is not committed. */
void entity_show(struct entity *e)
{
    if (!e->saves.under_way)
        entity_show_stored(e);
}

bool entity_show_in_time(struct entity *e)
{
    if (!e->shown || e->saves.under_way)
        return false;
    const struct cluster_facts *f = cluster_facts_of(e->shown);
    const struct issue_world world = entity_issue_world(e, NULL);
    if (world.now < f->trouble.until && world.is_unread == f->is_unread)
        return false;
    show_cluster(e, e->cluster);
    entity_rest(e);
    return true;
}

/* Returns whether the operation is open. */
static bool count_on(struct reconcile *r, const struct operation *op)
{
    const struct operation_entry *entry = op ? operation_entry(r, op->id) : NULL;
    if (!entry || operation_status_is_final(entry->op->status))
        return false;
    entry->op->counted_to = env_wall(r->env);
    view_set(r->o.view, VIEW_OPERATIONS, op->id, render_operation_blob(entry->op));
    return true;
}

bool entity_show_progress(struct entity *e)
{
    bool any = false;
    if (e->saves.under_way)
        return false; /* what is being stored is shown with its own time */
    any |= count_on(e->r, e->op);
    for (size_t i = 0; i < e->queued; i++)
        any |= count_on(e->r, e->queue[i]);
    if (any)
        entity_show(e);
    return any;
}

void entity_show_seen(struct entity *e)
{
    if (!e->saves.under_way)
        show_seen(e);
}

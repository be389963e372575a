/*
 * The end of a turn. Only this file passes results of lower folders to upper folders. The lower folders put
 * results and facts into lists of the reconciler; for each list, one function of this file handles the items
 * one by one.
 *
 * Why not a plain call: an observation may end a step, the end begins the next operation, and that reads the
 * cluster again. When each called the next, a function would return to a cluster that was freed or changed
 * below it, and no test would find every order. With lists each function finishes before another one begins.
 * It also gives one moment at which nothing is half done, the only one at which the view may be published and
 * clients may be answered. Loop thread.
 */
#include "reconcile/turn.h"

#include <assert.h>
#include <stdlib.h>

#include "base/attrs.h"
#include "base/thread.h"
#include "reconcile/answers/reply.h"
#include "reconcile/answers/store_query.h"
#include "reconcile/commands/decide.h"
#include "reconcile/lookups/fetch.h"
#include "reconcile/lookups/lookup.h"
#include "reconcile/observation/observe.h"
#include "reconcile/operations/steps.h"
#include "reconcile/reconcile.h"
#include "reconcile/world/entity.h"
#include "reconcile/world/project.h"
#include "reconcile/world/save.h"
#include "reconcile/world/waiting.h"
#include "reconcile/world/walk.h"
#include "reconcile/world/world.h"

void turn_init(struct reconcile *r)
{
    struct list *const lists[] = {&r->turn.touched, &r->turn.returned, &r->turn.committed, &r->turn.late,
                                  &r->turn.found,   &r->turn.reported, &r->turn.sighted,   &r->turn.due_walks,
                                  &r->turn.ready,   &r->turn.answered};
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        list_init(lists[i]);
}

static void take_save(struct reconcile *r, struct list *item)
{
    struct save *save = CONTAINER_OF(item, struct save, link);
    save_show(save);
    if (save->on_saved)
        save->on_saved(save);
    save_settle(save);
    if (*save->key && !entity_by_key(r, save->key)) /* the entity may have been removed by this save */
        fetches_forget(r->fetches, save->key);
}

static void take_late(struct reconcile *r ATTR_UNUSED, struct list *item)
{
    struct waiting *w = CONTAINER_OF(item, struct waiting, late);
    struct problem *problem = w->on_deadline(w);
    if (problem)
        reply_problem(wait_take(w), problem);
}

static void take_found(struct reconcile *r ATTR_UNUSED, struct list *item)
{
    struct store_query *s = CONTAINER_OF(item, struct store_query, found);
    struct problem *problem = s->on_found(s);
    if (problem)
        reply_problem(s->cmd, problem);
    store_query_free(s);
}

static void take_reported(struct reconcile *r, struct list *item)
{
    struct webhook_report *report = CONTAINER_OF(item, struct webhook_report, link);
    webhook_failed_for_good(r, report);
    free(report);
}

/* Handles a shoot that was read for a step. */
static void take_sighted(struct reconcile *r, struct list *item)
{
    struct entity *e = CONTAINER_OF(item, struct entity, sighted);
    struct shoot *shoot = TAKE_PTR(e->sighting);
    const bool has_uid = shoot_has_uid(shoot);
    bool counts = false;
    if (r->stopping || project_is_at_rest(e->project) || entity_is_committing(e) ||
        upstream_call_is_active(&e->step.call))
        shoot_free(shoot);
    else
        counts = observe(e, shoot);
    steps_looked(e, counts, has_uid);
}

static void take_walk(struct reconcile *r, struct list *item)
{
    struct walk *w = CONTAINER_OF(item, struct walk, due);
    struct entity *e;
    loop_doing(r->o.loop, w->name);
    walk_begin_slice(w);
    while ((e = walk_next(w))) {
        const unsigned cost = w->visit(w, e);
        assert(cost); /* otherwise a slice would never end */
        w->spent += cost;
        thread_step_aside();
    }
    const enum walk_state state = walk_end_slice(w);
    if (state == WALK_ENDED && w->on_end)
        w->on_end(w);
    else if (state == WALK_STOPPED)
        w->on_stop(w);
}

static void take_ready(struct reconcile *r, struct list *item)
{
    reconcile_command(r, CONTAINER_OF(item, struct command, answered));
}

static void take_touched(struct reconcile *r ATTR_UNUSED, struct list *item)
{
    struct entity *e = CONTAINER_OF(item, struct entity, touched);
    if (e->credentials_are_old)
        kubeconfigs_drop(e);
    e->credentials_are_old = false;
    steps_advance(e);
}

/* Takes the first item of the first list that is not empty; returns false when all lists are empty. */
static bool take_one(struct reconcile *r)
{
    const struct {
        struct list *list;
        void (*take)(struct reconcile *r, struct list *item);
    } lists[] = {{&r->turn.returned, take_save},   {&r->turn.late, take_late},
                 {&r->turn.found, take_found},     {&r->turn.reported, take_reported},
                 {&r->turn.sighted, take_sighted}, {&r->turn.due_walks, take_walk},
                 {&r->turn.ready, take_ready},     {&r->turn.touched, take_touched}};
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        struct list *item = list_pop(lists[i].list);
        if (item) {
            lists[i].take(r, item);
            return true;
        }
    }
    return false;
}

void turn_end(void *ctx)
{
    struct reconcile *r = ctx;
    while (take_one(r)) {
        loop_next_piece(r->o.loop);
        thread_step_aside();
    }
    view_publish(r->o.view);
    saves_publish_events(r);
    replies_give_back(r);
}

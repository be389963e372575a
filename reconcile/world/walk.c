/*
 * Visits each cluster, a limited number in each turn of the loop. Visiting ten thousand clusters in one turn
 * may take seconds, when all of them change. Loop thread.
 */
#include "reconcile/world/walk.h"

#include <assert.h>

#include "base/attrs.h"
#include "base/thread.h"
#include "reconcile/world/entity.h"
#include "reconcile/world/project.h"
#include "reconcile/world/world.h"

static void walk_end(struct walk *w)
{
    assert(w->under_way && !list_is_detached(&w->link));
    w->under_way = false;
    list_remove(&w->link);
    loop_timer_clear(w->r->o.loop, &w->timer);
}

static struct entity *entity_of(struct list *item)
{
    return CONTAINER_OF(item, struct entity, in_project);
}

static struct entity *walk_first(struct project *p)
{
    while (p && list_is_empty(&p->clusters))
        p = p->hh.next;
    return p ? entity_of(p->clusters.next) : NULL;
}

static struct entity *walk_behind(const struct walk *w, const struct entity *e)
{
    if (e->in_project.next != &e->project->clusters)
        return entity_of(e->in_project.next);
    return w->only ? NULL : walk_first(e->project->hh.next);
}

/* Runs one slice. A walk that fits into one slice is done at once. */
static void walk_go_on(struct walk *w)
{
    unsigned spent = 0;
    assert(w->under_way);
    while (w->next && spent < WALK_TURN) {
        struct entity *e = w->next;
        w->next = walk_behind(w, e); /* the visit may remove the entity */
        unsigned cost = w->visit(w, e);
        assert(cost); /* otherwise a slice would never end */
        spent += cost;
        thread_step_aside();
    }
    if (w->next) {
        loop_timer_set(w->r->o.loop, &w->timer, env_mono(w->r->env));
        return;
    }
    walk_end(w);
    if (w->done)
        w->done(w);
}

static void on_walk_turn(struct loop_timer *timer)
{
    walk_go_on(CONTAINER_OF(timer, struct walk, timer));
}

bool walk_is_under_way(const struct walk *w)
{
    return w->under_way;
}

static void walk_begin(struct reconcile *r, struct walk *w, struct project *only, struct entity *first)
{
    loop_assert_owner(r->o.loop);
    assert(w->visit && w->name && list_is_detached(&w->link) == !w->under_way);
    if (!w->under_way)
        list_append(&r->walks, &w->link);
    w->under_way = true;
    w->r = r;
    w->timer.fire = on_walk_turn;
    w->timer.name = w->name;
    w->only = only;
    w->next = first;
    walk_go_on(w);
}

void walk_project(struct project *p, struct walk *w)
{
    walk_begin(p->r, w, p, list_is_empty(&p->clusters) ? NULL : entity_of(p->clusters.next));
}

void walk_all(struct reconcile *r, struct walk *w)
{
    walk_begin(r, w, NULL, walk_first(r->projects));
}

void walk_stop(struct walk *w)
{
    if (!w->under_way)
        return;
    walk_end(w);
    if (w->stopped)
        w->stopped(w);
}

void walks_stop(struct reconcile *r)
{
    LIST_FOR_EACH_SAFE (it, next, &r->walks)
        walk_stop(CONTAINER_OF(it, struct walk, link));
}

void walks_pass(struct entity *e)
{
    LIST_FOR_EACH_SAFE (it, next, &e->r->walks) {
        struct walk *w = CONTAINER_OF(it, struct walk, link);
        if (w->next == e)
            w->next = walk_behind(w, e);
    }
}

void walks_leave(struct project *p)
{
    LIST_FOR_EACH_SAFE (it, next, &p->r->walks) {
        struct walk *w = CONTAINER_OF(it, struct walk, link);
        if (w->only == p)
            walk_stop(w);
        else if (w->next && w->next->project == p)
            w->next = walk_first(p->hh.next);
    }
}

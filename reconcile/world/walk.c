/*
 * Visits each cluster, a limited number in each turn of the loop. To visit ten thousand clusters in one turn
 * may take seconds when all of them change. Loop thread.
 */
#include "reconcile/world/walk.h"

#include <assert.h>

#include "base/attrs.h"
#include "reconcile/world/entity.h"
#include "reconcile/world/project.h"
#include "reconcile/world/world.h"

static void walk_end(struct walk *w)
{
    assert(w->under_way && !list_is_detached(&w->link));
    w->under_way = false;
    list_remove(&w->link);
    list_remove(&w->due);
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

void walk_begin_slice(struct walk *w)
{
    assert(w->under_way != w->was_stopped);
    w->spent = 0;
}

struct entity *walk_next(struct walk *w)
{
    struct entity *e = w->under_way && w->spent < WALK_TURN ? w->next : NULL;
    if (e)
        w->next = walk_behind(w, e); /* the visit may remove the entity */
    return e;
}

enum walk_state walk_end_slice(struct walk *w)
{
    if (w->was_stopped) { /* a visit may have stopped the walk, and begun it again */
        list_remove(&w->due);
        w->was_stopped = false;
        return WALK_STOPPED;
    }
    if (!w->under_way) /* a visit stopped the walk, and the walk has no on_stop */
        return WALK_GOES_ON;
    if (!w->next) {
        walk_end(w);
        return WALK_ENDED;
    }
    loop_timer_set(w->r->o.loop, &w->timer, env_mono(w->r->env));
    return WALK_GOES_ON;
}

static void on_walk_turn(struct loop_timer *timer)
{
    struct walk *w = CONTAINER_OF(timer, struct walk, timer);
    list_append(&w->r->turn.due_walks, &w->due);
}

bool walk_is_under_way(const struct walk *w)
{
    return w->under_way;
}

static void walk_begin(struct reconcile *r, struct walk *w, struct project *only, struct entity *first)
{
    loop_assert_owner(r->o.loop);
    assert(!w->was_stopped && w->visit && w->name && list_is_detached(&w->link) == !w->under_way);
    if (!w->under_way)
        list_append(&r->walks, &w->link);
    w->under_way = true;
    w->r = r;
    w->timer.fire = on_walk_turn;
    w->timer.name = w->name;
    w->only = only;
    w->next = first;
    loop_timer_clear(r->o.loop, &w->timer);
    if (list_is_detached(&w->due))
        list_append(&r->turn.due_walks, &w->due);
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
    w->was_stopped = w->on_stop != NULL;
    if (w->was_stopped)
        list_append(&w->r->turn.due_walks, &w->due);
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

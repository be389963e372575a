/*
 * What is to be done with each cluster, a bounded piece in a turn of the loop: with ten thousand of them, one
 * look at each may take seconds when all of them change. Loop thread.
 */
#include "base/attrs.h"
#include "reconcile/world_private.h"

static void end(struct walk *w)
{
    w->under_way = false;
    list_remove(&w->link);
    loop_timer_clear(w->r->o.loop, &w->timer);
}

/* One slice; what fits into one is done when it is begun. */
static void go_on(struct walk *w)
{
    unsigned spent = 0;
    while (w->next && spent < WALK_TURN) {
        struct entity *e = w->next;
        w->next = e->hh.next; /* the visit may end it */
        spent += w->visit(w, e);
    }
    if (w->next) {
        loop_timer_set(w->r->o.loop, &w->timer, env_mono(w->r->env));
        return;
    }
    end(w);
    if (w->done)
        w->done(w);
}

static void on_turn(struct loop_timer *timer)
{
    go_on(CONTAINER_OF(timer, struct walk, timer));
}

bool walk_is_under_way(const struct walk *w)
{
    return w->under_way;
}

void walk_begin(struct reconcile *r, struct walk *w)
{
    if (!w->under_way)
        list_append(&r->walks, &w->link);
    w->under_way = true;
    w->r = r;
    w->timer.fire = on_turn;
    w->timer.name = w->name;
    w->next = r->entities;
    go_on(w);
}

void walks_stop(struct reconcile *r)
{
    LIST_FOR_EACH_SAFE (it, next, &r->walks) {
        struct walk *w = CONTAINER_OF(it, struct walk, link);
        end(w);
        if (w->stopped)
            w->stopped(w);
    }
}

void walks_pass(struct entity *e)
{
    LIST_FOR_EACH_SAFE (it, next, &e->r->walks) {
        struct walk *w = CONTAINER_OF(it, struct walk, link);
        if (w->next == e)
            w->next = e->hh.next;
    }
}

/*
 * What is known about the receiver of each webhook, and when it is shown. It changes with each delivery, and
 * is shown once a second at most, so that a busy webhook does not get a new entity tag with each of them.
 * Loop thread.
 */
#include "webhook/engine_private.h"

enum { SHOWN_AFTER_S = 1 };

static void count(struct webhook_endpoint *p, enum webhook_state state)
{
    if (p->counted < WEBHOOK_STATE_MAX_)
        webhook_count_webhook(p->counted, -1);
    webhook_count_webhook(state, 1);
    p->counted = state;
}

void endpoint_show(struct webhook_endpoint *p)
{
    struct webhook_engine *e = p->engine;
    list_remove(&p->unshown);
    count(p, subscription_state(p->subscription));
    p->subscription->standing.pending = (uint32_t)endpoint_pending(p);
    e->o.shown(e->o.ctx, p->subscription);
}

static void show_all(struct webhook_engine *e)
{
    for (struct list *item = list_pop(&e->unshown); item; item = list_pop(&e->unshown))
        endpoint_show(CONTAINER_OF(item, struct webhook_endpoint, unshown));
}

static void on_show(struct loop_timer *timer)
{
    show_all(CONTAINER_OF(timer, struct webhook_engine, showing));
}

void endpoint_show_soon(struct webhook_endpoint *p)
{
    struct webhook_engine *e = p->engine;
    if (!list_is_detached(&p->unshown))
        return;
    if (list_is_empty(&e->unshown))
        loop_timer_set(e->o.loop, &e->showing, env_mono(e->env) + SHOWN_AFTER_S * US_PER_S);
    list_append(&e->unshown, &p->unshown);
}

void standing_init(struct webhook_engine *e)
{
    list_init(&e->unshown);
    e->showing.fire = on_show;
    e->showing.name = "state of webhooks";
}

void standing_done(struct webhook_engine *e)
{
    loop_timer_clear(e->o.loop, &e->showing);
}

void webhook_engine_show(struct webhook_engine *e)
{
    loop_assert_owner(e->o.loop);
    show_all(e);
}

void endpoint_note_attempt(struct webhook_endpoint *p, const struct delivery_attempt *attempt,
                           struct change_set *set)
{
    struct webhook_standing *standing = &p->subscription->standing;
    standing_note_attempt(standing, attempt);
    change_put_standing(set, p->id, standing);
    endpoint_show_soon(p);
}

void endpoint_begin_anew(struct webhook_endpoint *p)
{
    struct webhook_standing *standing = &p->subscription->standing;
    if (!standing->last_at)
        return;
    standing_begin_anew(standing);
    struct change_set *set = record_new();
    change_put_standing(set, p->id, standing);
    storage_submit(p->engine->o.storage, set);
}

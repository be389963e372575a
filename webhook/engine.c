/*
 * Owns endpoints and their queues: what waits, what is due, who may send now. Loop thread. Nothing is sent
 * from inside a caller's stack: every start comes from a timer.
 *
 *   enqueue -> waiting --due--> current --final--> stored, freed
 *                 ^               |
 *                 +--try again----+
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/log.h"
#include "base/mem.h"
#include "webhook/engine_private.h"
#include "webhook/metrics.h"
#include "webhook/schedule.h"
#include "webhook/target_policy.h"

/* Beyond this many waiting deliveries of one endpoint, bodies stay in the store until they are needed. */
enum { ENDPOINT_BODIES_KEPT = 256 };

/* ---- parcels
 * -------------------------------------------------------------------------------------------------- */

static void parcel_free(struct parcel *parcel)
{
    struct webhook_engine *e = parcel->endpoint->engine;
    HASH_DEL(e->parcels, parcel);
    heap_remove(&parcel->endpoint->waiting, &parcel->due);
    webhook_count_pending(-1);
    free(parcel->body);
    free(parcel);
}

static struct parcel *parcel_peek(const struct endpoint *p)
{
    struct heap_item *item = heap_peek(&p->waiting);
    return item ? CONTAINER_OF(item, struct parcel, due) : NULL;
}

static void parcel_wait(struct parcel *parcel, mono_us due)
{
    struct endpoint *p = parcel->endpoint;
    if (p->waiting.count >= ENDPOINT_BODIES_KEPT) {
        free(parcel->body);
        parcel->body = NULL;
    }
    heap_set(&p->waiting, &parcel->due, due);
}

/* ---- endpoints
 * ------------------------------------------------------------------------------------------------ */

/* Arms the timer for the next thing to do, if there is any. */
static void endpoint_plan(struct endpoint *p)
{
    struct loop *loop = p->engine->o.loop;
    const struct parcel *next = parcel_peek(p);
    if (p->current || !next || !list_is_detached(&p->ready)) {
        loop_timer_clear(loop, &p->timer);
        return;
    }
    mono_us due = next->due.key;
    loop_timer_set(loop, &p->timer, due > p->paused_until ? due : p->paused_until);
}

static void endpoint_start(struct endpoint *p)
{
    struct parcel *parcel = parcel_peek(p);
    heap_remove(&p->waiting, &parcel->due);
    p->current = parcel;
    p->engine->in_flight++;
    attempt_start(p);
}

static void on_due(struct loop_timer *timer)
{
    struct endpoint *p = CONTAINER_OF(timer, struct endpoint, timer);
    if (!parcel_peek(p))
        return;
    if (p->engine->in_flight >= ENGINE_MAX_IN_FLIGHT)
        list_append(&p->engine->ready, &p->ready);
    else
        endpoint_start(p);
}

/* Gives back the right to send. All that wait for it are woken: whoever finds no room waits again. */
static void endpoint_leave(struct endpoint *p)
{
    struct webhook_engine *e = p->engine;
    p->current = NULL;
    e->in_flight--;
    for (struct list *item = list_pop(&e->ready); item; item = list_pop(&e->ready))
        endpoint_plan(CONTAINER_OF(item, struct endpoint, ready));
}

void endpoint_finish(struct endpoint *p, bool final, mono_us due)
{
    struct parcel *parcel = p->current;
    endpoint_leave(p);
    if (final)
        parcel_free(parcel);
    else
        parcel_wait(parcel, due);
    endpoint_plan(p);
}

/* Puts an interrupted parcel back, so that all of them are in the heap. */
static void endpoint_interrupt(struct endpoint *p)
{
    if (!p->current)
        return;
    attempt_cancel(p);
    struct parcel *parcel = p->current;
    endpoint_leave(p);
    heap_set(&p->waiting, &parcel->due, 0);
}

/* Pending deliveries of an endpoint that is switched off fail, in one change set. */
static void endpoint_fail_all(struct endpoint *p, const char *error)
{
    endpoint_interrupt(p);
    list_remove(&p->ready);
    struct parcel *parcel = parcel_peek(p);
    if (parcel) {
        struct change_set *set = record_new();
        for (; parcel; parcel = parcel_peek(p)) {
            record_failed(p->engine, set, &parcel->row, error);
            parcel_free(parcel);
        }
        storage_submit(p->engine->o.storage, set);
    }
    endpoint_plan(p);
}

void endpoint_disable(struct endpoint *p, const char *reason)
{
    struct webhook_engine *e = p->engine;
    struct subscription *s = p->subscription;
    log_warning("webhook disabled", "webhook", p->id, "reason", reason);
    webhook_count_endpoint(s->disabled, -1);
    webhook_count_endpoint(true, 1);
    s->disabled = true;
    free(s->disabled_reason);
    s->disabled_reason = mem_strdup(reason);
    s->version++;
    s->updated_at = env_wall(e->env);
    endpoint_fail_all(p, "disabled");
    /* Last: the owner may come back with engine_set or engine_remove. */
    if (e->o.subscription_changed)
        e->o.subscription_changed(e->o.ctx, subscription_copy(s));
}

static struct endpoint *endpoint_find(struct webhook_engine *e, const char *id)
{
    struct endpoint *p;
    HASH_FIND_STR(e->endpoints, id, p);
    return p;
}

static struct endpoint *endpoint_new(struct webhook_engine *e, const char *id)
{
    struct endpoint *p = MEM_NEW(struct endpoint);
    (void)snprintf(p->id, sizeof(p->id), "%s", id);
    p->engine = e;
    p->timer.fire = on_due;
    HASH_ADD_STR(e->endpoints, id, p);
    return p;
}

static void endpoint_free(struct endpoint *p)
{
    struct webhook_engine *e = p->engine;
    endpoint_interrupt(p);
    list_remove(&p->ready);
    loop_timer_clear(e->o.loop, &p->timer);
    for (struct parcel *parcel = parcel_peek(p); parcel; parcel = parcel_peek(p))
        parcel_free(parcel);
    heap_done(&p->waiting);
    webhook_count_endpoint(p->subscription->disabled, -1);
    HASH_DEL(e->endpoints, p);
    subscription_free(p->subscription);
    free(p);
}

/* ---- the engine
 * ----------------------------------------------------------------------------------------------- */

struct webhook_engine *webhook_engine_new(const struct webhook_options *options)
{
    struct webhook_engine *e = MEM_NEW(struct webhook_engine);
    e->o = *options;
    e->env = loop_env(options->loop);
    list_init(&e->ready);
    for (char **entry = options->config->webhooks.allow; entry && *entry; entry++)
        if (!webhook_allow_entry_is_valid(*entry))
            log_warning("entry of webhooks.allow is neither a network nor a host name", "entry", *entry);
    return e;
}

void webhook_engine_free(struct webhook_engine *e)
{
    if (!e)
        return;
    struct endpoint *p, *next;
    HASH_ITER (hh, e->endpoints, p, next) {
        endpoint_free(p);
    }
    free(e);
}

void webhook_engine_set(struct webhook_engine *e, const struct subscription *s)
{
    struct endpoint *p = endpoint_find(e, s->id);
    if (!p) {
        p = endpoint_new(e, s->id);
        p->last_success_at = s->created_at; /* a new one has 5 days too */
    } else if (s->version < p->subscription->version) {
        return; /* stored before what happened since, for example a 410 */
    } else {
        if (p->subscription->disabled && !s->disabled)
            p->last_success_at = env_wall(e->env); /* a new chance (WH-15) */
        webhook_count_endpoint(p->subscription->disabled, -1);
        subscription_free(p->subscription);
        p->paused_until = 0; /* perhaps another receiver */
    }
    p->subscription = subscription_copy(s);
    if (s->last_success_at > p->last_success_at)
        p->last_success_at = s->last_success_at;
    webhook_count_endpoint(s->disabled, 1);
    if (s->disabled)
        endpoint_fail_all(p, "disabled");
    else
        endpoint_plan(p);
}

void webhook_engine_remove(struct webhook_engine *e, const char *id)
{
    struct endpoint *p = endpoint_find(e, id);
    if (p)
        endpoint_free(p);
}

static void fail_at_once(struct webhook_engine *e, const struct delivery *d)
{
    struct delivery row = *d;
    struct change_set *set = record_new();
    record_failed(e, set, &row, "disabled");
    storage_submit(e->o.storage, set);
}

void webhook_engine_enqueue(struct webhook_engine *e, const struct delivery *d, const char *body)
{
    struct parcel *parcel;
    struct endpoint *p = endpoint_find(e, d->subscription_id);
    HASH_FIND(hh, e->parcels, d->id, strlen(d->id), parcel);
    if (!p || parcel || d->status != DELIVERY_PENDING)
        return; /* without its subscription a delivery is gone from the store too */
    if (p->subscription->disabled) {
        fail_at_once(e, d);
        return;
    }
    parcel = MEM_NEW(struct parcel);
    parcel->row = *d;
    parcel->body = mem_strdup(body);
    parcel->endpoint = p;
    HASH_ADD(hh, e->parcels, row.id, strlen(parcel->row.id), parcel);
    webhook_count_pending(1);
    int64_t wait_us = schedule_until_us(d->next_attempt_at, env_wall(e->env));
    parcel_wait(parcel, env_mono(e->env) + wait_us);
    endpoint_plan(p);
}

bool webhook_engine_hasten(struct webhook_engine *e, const char *delivery_id)
{
    struct parcel *parcel;
    HASH_FIND(hh, e->parcels, delivery_id, strlen(delivery_id), parcel);
    if (!parcel)
        return false;
    struct endpoint *p = parcel->endpoint;
    if (heap_contains(&parcel->due)) {
        p->paused_until = 0;
        heap_set(&p->waiting, &parcel->due, env_mono(e->env));
        endpoint_plan(p);
    }
    return true;
}

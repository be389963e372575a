/*
 * Endpoints and their queues: which deliveries wait, which are due, and which endpoint may send now. Loop
 * thread. An attempt never starts inside a function that the caller has called; a timer starts it.
 *
 *   enqueue -> waiting --due--> under way --final--> stored, freed
 *                 ^                 |
 *                 +----try again----+
 */
#include "webhook/engine_private.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/log.h"
#include "base/mem.h"
#include "model/moves.h"

/* An endpoint has at most this number of bodies in memory; the bodies of further deliveries are read from the
 * store when they are needed. */
enum { ENDPOINT_BODIES_KEPT = 256 };

/*
 * ---- results are stored in change sets, which the writer thread returns to on_stored; this function uses no
 * part of the engine. When a result cannot be stored, the delivery is still pending after a restart, and is
 * sent again ----
 */

static void on_stored(struct change_set *set, enum store_status status)
{
    /* STORE_CONFLICT means that the webhook was deleted meanwhile, together with its deliveries. */
    if (status != STORE_OK && status != STORE_CONFLICT)
        log_warning("the result of a webhook delivery cannot be stored", "status", store_status_name(status));
    change_set_free(set);
}

struct change_set *record_new(void)
{
    struct change_set *set = change_set_new();
    set->droppable = false;
    set->on_done = on_stored;
    return set;
}

void record_failed(struct webhook_engine *e, struct change_set *set, struct delivery *row, const char *error)
{
    delivery_move(row, DELIVERY_FAILED);
    row->next_attempt_at = 0;
    row->updated_at = env_wall(e->env);
    (void)snprintf(row->error, sizeof(row->error), "%s", error);
    change_put_delivery(set, mem_dup(row, sizeof(*row)));
}

/* ---- pending deliveries ---- */

static void note_oldest(const struct webhook_engine *e)
{
    const struct heap_item *item = heap_peek(&e->ages);
    webhook_note_oldest(item ? item->key : 0);
}

static void pending_free(struct pending_delivery *pending)
{
    struct webhook_engine *e = pending->endpoint->engine;
    assert(list_is_detached(&pending->under_way) && !pending->call && !pending->fetch);
    HASH_DEL(e->pending, pending);
    heap_remove(&pending->endpoint->waiting, &pending->due);
    heap_remove(&e->ages, &pending->age);
    webhook_count_pending(-1);
    note_oldest(e);
    endpoint_show_soon(pending->endpoint);
    free(pending->body);
    free(pending);
}

static struct pending_delivery *pending_peek(const struct webhook_endpoint *p)
{
    struct heap_item *item = heap_peek(&p->waiting);
    return item ? CONTAINER_OF(item, struct pending_delivery, due) : NULL;
}

static void pending_wait(struct pending_delivery *pending, mono_us due)
{
    struct webhook_endpoint *p = pending->endpoint;
    if (p->waiting.count >= ENDPOINT_BODIES_KEPT) {
        free(pending->body);
        pending->body = NULL;
    }
    heap_set(&p->waiting, &pending->due, due);
}

/* ---- endpoints ---- */

/* Sets the timer for the next due delivery, if there is one. */
static void endpoint_plan(struct webhook_endpoint *p)
{
    struct loop *loop = p->engine->o.loop;
    const struct pending_delivery *next = pending_peek(p);
    /* After a failure a receiver gets only one attempt at a time, so that an unreachable receiver takes only
     * one of the engine's concurrent attempts. */
    bool has_room =
        p->in_flight < (p->subscription->standing.failing_since ? 1 : p->subscription->max_in_flight);
    if (!next || p->given_up || !has_room || !list_is_detached(&p->ready)) {
        loop_timer_clear(loop, &p->timer);
        return;
    }
    mono_us due = next->due.key;
    loop_timer_set(loop, &p->timer, due > p->paused_until ? due : p->paused_until);
}

static void on_due(struct loop_timer *timer)
{
    struct webhook_endpoint *p = CONTAINER_OF(timer, struct webhook_endpoint, timer);
    struct webhook_engine *e = p->engine;
    struct pending_delivery *pending = pending_peek(p);
    if (!pending)
        return;
    assert(!p->subscription->disabled && !p->given_up && list_is_detached(&pending->under_way));
    if (e->in_flight >= ENGINE_MAX_IN_FLIGHT) {
        list_append(&e->ready, &p->ready);
        return;
    }
    heap_remove(&p->waiting, &pending->due);
    list_append(&p->under_way, &pending->under_way);
    p->in_flight++;
    e->in_flight++;
    webhook_count_in_flight(1);
    endpoint_plan(p);
    attempt_start(pending);
}

/* Starts attempts of endpoints that wait because the engine had too many attempts in progress, as far as the
 * limit allows. An endpoint that still cannot start waits again. */
static void engine_wake(struct webhook_engine *e)
{
    assert(e->in_flight <= ENGINE_MAX_IN_FLIGHT);
    for (unsigned room = ENGINE_MAX_IN_FLIGHT - e->in_flight; room; room--) {
        struct list *item = list_pop(&e->ready);
        if (!item)
            return;
        endpoint_plan(CONTAINER_OF(item, struct webhook_endpoint, ready));
    }
}

static void pending_leave(struct pending_delivery *pending)
{
    assert(pending->endpoint->in_flight > 0 && pending->endpoint->engine->in_flight > 0);
    assert(!list_is_detached(&pending->under_way));
    list_remove(&pending->under_way);
    pending->endpoint->in_flight--;
    pending->endpoint->engine->in_flight--;
    webhook_count_in_flight(-1);
}

void pending_finish(struct pending_delivery *pending, bool final, mono_us due)
{
    struct webhook_endpoint *p = pending->endpoint;
    pending_leave(pending);
    if (final)
        pending_free(pending);
    else
        pending_wait(pending, due);
    endpoint_plan(p);
    engine_wake(p->engine);
}

/* Moves interrupted deliveries back to the heap, so that the heap contains all pending deliveries, and
 * removes the endpoint from the ready list. */
static void endpoint_interrupt(struct webhook_endpoint *p)
{
    LIST_FOR_EACH_SAFE (it, next, &p->under_way) {
        struct pending_delivery *pending = CONTAINER_OF(it, struct pending_delivery, under_way);
        attempt_cancel(pending);
        pending_leave(pending);
        heap_set(&p->waiting, &pending->due, 0);
    }
    list_remove(&p->ready);
}

/* Fails all pending deliveries of a disabled endpoint, in one change set. */
static void endpoint_fail_all(struct webhook_endpoint *p, const char *error)
{
    endpoint_interrupt(p);
    struct pending_delivery *pending = pending_peek(p);
    if (pending) {
        struct change_set *set = record_new();
        for (; pending; pending = pending_peek(p)) {
            record_failed(p->engine, set, &pending->row, error);
            pending_free(pending);
        }
        storage_submit(p->engine->o.storage, set);
    }
    endpoint_plan(p);
    engine_wake(p->engine);
}

/* The other deliveries stay pending: they fail when the webhook is stored as disabled. After a crash between
 * the two, deliveries of the disabled webhook are still pending; they fail after the restart. */
void endpoint_give_up(struct webhook_endpoint *p, struct webhook_report *report)
{
    struct webhook_engine *e = p->engine;
    assert(!p->subscription->disabled && !p->given_up);
    p->given_up = true;
    endpoint_interrupt(p);
    endpoint_plan(p);
    engine_wake(e);
    e->o.given_up(e->o.ctx, report);
}

static struct webhook_endpoint *endpoint_find(struct webhook_engine *e, const char *id)
{
    struct webhook_endpoint *p;
    HASH_FIND_STR(e->endpoints, id, p);
    return p;
}

static struct webhook_endpoint *endpoint_new(struct webhook_engine *e, const char *id)
{
    struct webhook_endpoint *p = MEM_NEW(struct webhook_endpoint);
    (void)snprintf(p->id, sizeof(p->id), "%s", id);
    p->engine = e;
    p->counted = WEBHOOK_STATE_MAX_;
    p->timer.fire = on_due;
    p->timer.name = "webhook delivery";
    list_init(&p->under_way);
    HASH_ADD_STR(e->endpoints, id, p);
    return p;
}

static void endpoint_free(struct webhook_endpoint *p)
{
    struct webhook_engine *e = p->engine;
    endpoint_interrupt(p);
    loop_timer_clear(e->o.loop, &p->timer);
    for (struct pending_delivery *pending = pending_peek(p); pending; pending = pending_peek(p))
        pending_free(pending);
    assert(!p->in_flight && list_is_empty(&p->under_way));
    list_remove(&p->unshown);
    heap_done(&p->waiting);
    if (p->counted < WEBHOOK_STATE_MAX_)
        webhook_count_webhook(p->counted, -1);
    HASH_DEL(e->endpoints, p);
    subscription_free(p->subscription);
    free(p);
    engine_wake(e);
}

/* ---- the engine ---- */

static void look_at_policy(const struct config *config)
{
    for (char **entry = config->webhooks.allow; entry && *entry; entry++)
        if (!webhook_allow_entry_is_valid(*entry))
            log_warning("entry {entry} of webhooks.allow is neither a network nor a host name", "entry",
                        *entry);
}

struct webhook_engine *webhook_engine_new(const struct webhook_options *options)
{
    struct webhook_engine *e = MEM_NEW(struct webhook_engine);
    e->o = *options;
    e->env = loop_env(options->loop);
    list_init(&e->ready);
    standing_init(e);
    look_at_policy(options->config);
    return e;
}

void webhook_engine_configure(struct webhook_engine *e, const struct config *config)
{
    loop_assert_owner(e->o.loop);
    e->o.config = config;
    look_at_policy(config);
}

void webhook_engine_free(struct webhook_engine *e)
{
    if (!e)
        return;
    struct webhook_endpoint *p, *next;
    HASH_ITER (hh, e->endpoints, p, next) {
        endpoint_free(p);
    }
    assert(!e->in_flight && !e->pending && list_is_empty(&e->ready) && list_is_empty(&e->unshown));
    standing_done(e);
    heap_done(&e->ages);
    free(e);
}

static wall_us later(wall_us a, wall_us b)
{
    return a > b ? a : b;
}

/* Takes over the next state of a webhook. */
static void endpoint_change(struct webhook_endpoint *p, struct subscription *s)
{
    struct webhook_engine *e = p->engine;
    const bool has_other_target = s->target_version > p->subscription->version;
    assert(s->version >= p->subscription->version);
    /* Running attempts are interrupted, because an answer of the old receiver does not concern the new
     * one. */
    if (!subscription_sends_the_same(p->subscription, s)) {
        endpoint_interrupt(p);
        engine_wake(e);
    }
    /* A change with the old target was decided before the report, and does not answer it. */
    if (s->disabled || has_other_target)
        p->given_up = false;
    s->standing = p->subscription->standing;
    subscription_free(p->subscription);
    p->subscription = s;
    p->paused_until = 0; /* the receiver may have changed */
    if (has_other_target && !s->disabled)
        endpoint_begin_anew(p);
}

void webhook_engine_set(struct webhook_engine *e, const struct subscription *s)
{
    loop_assert_owner(e->o.loop);
    struct webhook_endpoint *p = endpoint_find(e, s->id);
    if (p) {
        endpoint_change(p, subscription_copy(s));
    } else {
        p = endpoint_new(e, s->id);
        p->subscription = subscription_copy(s);
    }
    /* The 5 days without a success (WH-15) begin at the latest of these times: the last success, the
     * creation of the webhook, the last time that it was enabled again. */
    p->last_success_at =
        later(later(p->last_success_at, s->last_success_at), later(s->created_at, s->enabled_at));
    if (s->disabled)
        endpoint_fail_all(p, "disabled");
    else
        endpoint_plan(p);
    endpoint_show(p);
}

void webhook_engine_remove(struct webhook_engine *e, const char *id)
{
    loop_assert_owner(e->o.loop);
    struct webhook_endpoint *p = endpoint_find(e, id);
    if (p)
        endpoint_free(p);
}

void webhook_engine_enqueue(struct webhook_engine *e, const struct delivery *d, const char *body)
{
    struct pending_delivery *pending;
    loop_assert_owner(e->o.loop);
    struct webhook_endpoint *p = endpoint_find(e, d->subscription_id);
    HASH_FIND(hh, e->pending, d->id, strlen(d->id), pending);
    if (!p || pending || d->status != DELIVERY_PENDING)
        return; /* nothing to store: with a deleted webhook, the store deletes its deliveries, too */
    if (p->subscription->disabled) {
        struct delivery row = *d;
        struct change_set *set = record_new();
        record_failed(e, set, &row, "disabled");
        storage_submit(e->o.storage, set);
        return;
    }
    pending = MEM_NEW(struct pending_delivery);
    pending->row = *d;
    pending->body = mem_strdup(body);
    pending->endpoint = p;
    HASH_ADD(hh, e->pending, row.id, strlen(pending->row.id), pending);
    heap_set(&e->ages, &pending->age, d->created_at);
    webhook_count_pending(1);
    note_oldest(e);
    int64_t wait_us = schedule_until_us(d->next_attempt_at, d->updated_at, env_wall(e->env));
    pending_wait(pending, env_mono(e->env) + wait_us);
    endpoint_plan(p);
    endpoint_show_soon(p);
}

size_t endpoint_pending(const struct webhook_endpoint *p)
{
    return p->waiting.count + (size_t)p->in_flight;
}

struct webhook_standing webhook_engine_standing(struct webhook_engine *e, const char *id)
{
    loop_assert_owner(e->o.loop);
    const struct webhook_endpoint *p = endpoint_find(e, id);
    struct webhook_standing standing = p ? p->subscription->standing : (struct webhook_standing){0};
    standing.pending = p ? (uint32_t)endpoint_pending(p) : 0;
    return standing;
}

size_t webhook_engine_pending(struct webhook_engine *e, const char *id)
{
    loop_assert_owner(e->o.loop);
    const struct webhook_endpoint *p = endpoint_find(e, id);
    return p ? endpoint_pending(p) : 0;
}

void webhook_engine_look_up(struct webhook_engine *e, struct delivery *d)
{
    struct pending_delivery *pending;
    loop_assert_owner(e->o.loop);
    HASH_FIND(hh, e->pending, d->id, strlen(d->id), pending);
    const mono_us now = env_mono(e->env);
    mono_us at = now;
    if (pending && heap_contains(&pending->due) && !pending->endpoint->given_up)
        at = pending->due.key > pending->endpoint->paused_until ? pending->due.key
                                                                : pending->endpoint->paused_until;
    d->next_attempt_at = at > now ? env_wall(e->env) + (at - now) : 0;
    d->waits_for = d->status != DELIVERY_PENDING                       ? WAIT_NONE
                   : d->next_attempt_at                                ? WAIT_TIME
                   : pending && !list_is_detached(&pending->under_way) ? WAIT_ANSWER
                                                                       : WAIT_TURN;
}

bool webhook_engine_expedite(struct webhook_engine *e, const char *delivery_id)
{
    struct pending_delivery *pending;
    loop_assert_owner(e->o.loop);
    HASH_FIND(hh, e->pending, delivery_id, strlen(delivery_id), pending);
    if (!pending)
        return false;
    struct webhook_endpoint *p = pending->endpoint;
    if (heap_contains(&pending->due)) {
        p->paused_until = 0;
        heap_set(&p->waiting, &pending->due, env_mono(e->env));
        endpoint_plan(p);
    }
    return true;
}

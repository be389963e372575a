/*
 * One attempt: body, signature, POST, verdict. Loop thread, but for on_read, which runs on the store's reader
 * thread and only posts. The secret is in clear from here to the end of sign_and_send; it is never kept.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "webhook/engine_private.h"
#include "webhook/metrics.h"
#include "webhook/schedule.h"

enum {
    CONNECT_TIMEOUT_S = 5,
    TOTAL_TIMEOUT_S = 20,
    ANSWER_MAX_BYTES = 16 * 1024,
    NOT_MADE_DELAY_S = 5,        /* before an attempt that could not be made is begun again */
    GIVE_UP_AFTER_S = 5 * 86400, /* without any success, once a delivery has failed for good (WH-15) */
};

static const struct http_answer no_answer = {.outcome = HTTP_NOT_SENT, .body = ""};

/* ---- verdict
 * -------------------------------------------------------------------------------------------------- */

static void write_result(struct delivery *row, enum attempt_result result, const struct http_answer *answer,
                         wall_us now)
{
    const char *error = result == ATTEMPT_DELIVERED ? "" : attempt_result_name(result);
    row->attempt++;
    row->response_status = answer->status;
    row->latency_ms = answer->duration_us / US_PER_MS;
    row->updated_at = now;
    row->next_attempt_at = 0;
    (void)snprintf(row->error, sizeof(row->error), "%s", error);
}

static enum delivery_status verdict(const struct delivery *row, enum attempt_result result)
{
    if (result == ATTEMPT_DELIVERED)
        return DELIVERY_DELIVERED;
    if (result == ATTEMPT_GONE || !schedule_goes_on(row->attempt))
        return DELIVERY_FAILED;
    return DELIVERY_PENDING;
}

/* What the answer means for everything else that waits for this receiver. */
static void note_receiver(struct endpoint *p, enum attempt_result result, int64_t retry_after_s, wall_us now)
{
    if (result == ATTEMPT_DELIVERED) {
        p->last_success_at = now;
        p->paused_until = 0;
        p->throttled_in_a_row = 0;
        return;
    }
    int64_t pause_us = retry_after_s * US_PER_S;
    p->throttled_in_a_row = result == ATTEMPT_THROTTLED ? p->throttled_in_a_row + 1 : 0;
    if (p->throttled_in_a_row && pause_us < schedule_pause_us(p->throttled_in_a_row))
        pause_us = schedule_pause_us(p->throttled_in_a_row);
    if (pause_us > 0)
        p->paused_until = env_mono(p->engine->env) + pause_us;
}

static void log_result(const struct endpoint *p, const struct delivery *row, enum attempt_result result)
{
    log_info(row->status == DELIVERY_DELIVERED ? "webhook delivered"
             : row->status == DELIVERY_FAILED  ? "webhook given up"
                                               : "webhook attempt failed",
             "webhook", p->id, "event", row->event_id, "outcome", attempt_result_name(result), "status",
             row->response_status ? LOG_INT(row->response_status) : NULL, "attempt", LOG_INT(row->attempt));
}

/* Why the whole endpoint is to be switched off, or NULL. */
static const char *reason_to_disable(const struct endpoint *p, const struct delivery *row,
                                     enum attempt_result result)
{
    if (result == ATTEMPT_GONE)
        return "the receiver answered 410 Gone";
    if (row->status == DELIVERY_FAILED && row->updated_at - p->last_success_at >= GIVE_UP_AFTER_S * US_PER_S)
        return "no delivery succeeded for 5 days";
    return NULL;
}

static void attempt_settle(struct endpoint *p, enum attempt_result result, const struct http_answer *answer)
{
    struct webhook_engine *e = p->engine;
    struct delivery *row = &p->current->row;
    wall_us now = env_wall(e->env);
    int64_t retry_after_s =
        answer->retry_after ? time_parse_retry_after(answer->retry_after, now, SCHEDULE_MAX_DELAY_S) : -1;
    write_result(row, result, answer, now);
    row->status = verdict(row, result);
    int64_t delay_us = 0;
    if (row->status == DELIVERY_PENDING) {
        delay_us = schedule_delay_us(e->env, row->attempt, retry_after_s);
        row->next_attempt_at = now + delay_us;
    }
    note_receiver(p, result, retry_after_s, now);
    webhook_count_attempt(result);
    log_result(p, row, result);
    record_delivery(e, row);
    const char *reason = reason_to_disable(p, row, result);
    endpoint_finish(p, row->status != DELIVERY_PENDING, env_mono(e->env) + delay_us);
    if (reason)
        endpoint_disable(p, reason);
}

/* The attempt could not be made, through no fault of the receiver: it does not count. */
static void attempt_put_off(struct endpoint *p)
{
    endpoint_finish(p, false, env_mono(p->engine->env) + NOT_MADE_DELAY_S * US_PER_S);
}

/* ---- sending
 * -------------------------------------------------------------------------------------------------- */

static void on_answer(void *ctx, const struct http_answer *answer)
{
    struct endpoint *p = ctx;
    p->call = NULL;
    if (answer->outcome == HTTP_CANCELLED)
        attempt_put_off(p);
    else
        attempt_settle(p, attempt_result_of(answer), answer);
}

static void sign_and_send(struct endpoint *p)
{
    struct webhook_engine *e = p->engine;
    const struct parcel *parcel = p->current;
    wall_us now = env_wall(e->env);
    char *signature CLEANUP_FREE = webhook_sign_all(p->subscription, e->o.key, parcel->row.event_id, now,
                                                    parcel->body, strlen(parcel->body));
    if (!signature) {
        log_error("webhook secret cannot be read: was the seal key replaced?", "webhook", p->id);
        attempt_settle(p, ATTEMPT_SECRET_UNREADABLE, &no_answer);
        return;
    }
    char *timestamp CLEANUP_FREE = mem_printf("%" PRId64, now / US_PER_S);
    const struct http_header headers[] = {
        {"content-type", "application/json"},
        {"webhook-id", parcel->row.event_id},
        {"webhook-timestamp", timestamp},
        {"webhook-signature", signature},
        {NULL, NULL},
    };
    const struct http_request request = {
        .method = "POST",
        .url = p->subscription->url,
        .headers = headers,
        .body = parcel->body,
        .body_len = strlen(parcel->body),
        .connect_timeout_us = CONNECT_TIMEOUT_S * US_PER_S,
        .timeout_us = TOTAL_TIMEOUT_S * US_PER_S,
        .max_body = ANSWER_MAX_BYTES,
        .fresh_connection = true, /* also: the address policy sees every connection (WH-19) */
    };
    p->call = e->o.transport->start(e->o.transport, &request, on_answer, p);
}

/* ---- the body, when only the store has it
 * --------------------------------------------------------------------- */

/* Loop -> reader -> loop. `endpoint` is only looked at on the loop thread. */
struct event_fetch {
    struct loop_task task;
    struct loop *loop;
    struct endpoint *endpoint; /* NULL: nobody waits any more */
    enum store_status status;
    struct event *event;
};

static void fetch_free(struct loop_task *task)
{
    struct event_fetch *fetch = CONTAINER_OF(task, struct event_fetch, task);
    if (fetch->endpoint)
        fetch->endpoint->fetch = NULL;
    event_free(fetch->event);
    free(fetch);
}

static void drop_lost_event(struct endpoint *p)
{
    struct webhook_engine *e = p->engine;
    struct change_set *set = record_new();
    record_failed(e, set, &p->current->row, "event_gone");
    storage_submit(e->o.storage, set);
    log_warning("webhook given up: its event is no longer stored", "webhook", p->id, "event",
                p->current->row.event_id);
    endpoint_finish(p, true, 0);
}

static void on_fetched(struct loop_task *task)
{
    struct event_fetch *fetch = CONTAINER_OF(task, struct event_fetch, task);
    struct endpoint *p = fetch->endpoint;
    char *body = fetch->event ? TAKE_PTR(fetch->event->body) : NULL;
    enum store_status status = fetch->status;
    fetch_free(task);
    if (!p) {
        free(body);
    } else if (body) {
        p->current->body = body;
        sign_and_send(p);
    } else if (status == STORE_OK || status == STORE_NONE) {
        drop_lost_event(p);
    } else {
        log_warning("event for a webhook cannot be read", "webhook", p->id, "status",
                    store_status_name(status));
        attempt_put_off(p);
    }
}

static void on_read(void *ctx, enum store_status status, struct event *event)
{
    struct event_fetch *fetch = ctx;
    fetch->status = status;
    fetch->event = event;
    loop_post(fetch->loop, &fetch->task);
}

static void fetch_start(struct endpoint *p)
{
    struct event_fetch *fetch = MEM_NEW(struct event_fetch);
    fetch->task.run = on_fetched;
    fetch->task.drop = fetch_free;
    fetch->loop = p->engine->o.loop;
    fetch->endpoint = p;
    p->fetch = fetch;
    storage_query_event(p->engine->o.storage, p->current->row.event_id, on_read, fetch);
}

/* ---- begin and end
 * -------------------------------------------------------------------------------------------- */

void attempt_start(struct endpoint *p)
{
    if (p->current->body)
        sign_and_send(p);
    else
        fetch_start(p);
}

void attempt_cancel(struct endpoint *p)
{
    if (p->call)
        p->engine->o.transport->cancel(p->engine->o.transport, p->call);
    p->call = NULL;
    if (p->fetch)
        p->fetch->endpoint = NULL;
    p->fetch = NULL;
}

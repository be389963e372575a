/*
 * One attempt to send a delivery: its body, its signature, the POST, and the decision about its result. Loop
 * thread, except on_event_read, which runs on the store's reader thread and only posts its result. Extra
 * headers are unsealed only to send them, and to mask them in the receiver's answer.
 */
#include "webhook/engine_private.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/span.h"
#include "base/text.h"
#include "base/timefmt.h"
#include "model/moves.h"

enum {
    CONNECT_TIMEOUT_S = 5,
    TOTAL_TIMEOUT_S = 20,
    ANSWER_MAX_BYTES = 16 * 1024,
    SECRET_SHORTEST = 8,  /* shorter values are not masked, because masking them would hide ordinary words */
    NOT_MADE_DELAY_S = 5, /* an attempt that could not be made is repeated after this time */
    GIVE_UP_AFTER_S = 5 * 86400, /* the endpoint is disabled when a delivery has failed, and no delivery has
                                  * succeeded for this time (WH-15) */
};

static const struct http_answer no_answer = {.outcome = HTTP_NOT_SENT, .body = ""};

/* ---- the result ---- */

void snippet_write(char to[static DELIVERY_SNIPPET_BYTES], const char *body, size_t body_len,
                   const struct subscription *s, const struct seal_key *key)
{
    /* Secrets are masked in the whole body, because a secret may begin before the place of the cut and end
     * after it. */
    char *copy CLEANUP_FREE = mem_strndup(body, body_len);
    for (unsigned i = 0; body_len && i < s->header_count; i++) {
        char *value CLEANUP_SECRET = webhook_header_open(key, s->id, &s->headers[i]);
        size_t len = value ? strlen(value) : 0;
        char *at = len >= SECRET_SHORTEST ? memmem(copy, body_len, value, len) : NULL;
        for (; at; at = memmem(at, (size_t)(copy + body_len - at), value, len)) {
            memset(at, '*', len);
            at += len;
        }
    }
    (void)printable_write(to, DELIVERY_SNIPPET_BYTES, copy, body_len);
    log_mask_secrets(to);
}

static struct delivery_attempt write_result(const struct pending_delivery *pending, struct delivery *row,
                                            enum attempt_result result, const struct http_answer *answer,
                                            wall_us now)
{
    const struct webhook_endpoint *p = pending->endpoint;
    const char *error = result == ATTEMPT_DELIVERED ? "" : attempt_result_name(result);
    row->attempt++;
    row->response_status = answer->status;
    row->latency_ms = answer->duration_us / US_PER_MS;
    row->updated_at = now;
    row->next_attempt_at = 0;
    (void)snprintf(row->error, sizeof(row->error), "%s", error);
    const struct delivery_attempt attempt = {.at = now,
                                             .latency_ms = (int32_t)row->latency_ms,
                                             .response_status = (int16_t)answer->status,
                                             .result = (uint8_t)result};
    delivery_note_attempt(row, &attempt);
    snippet_write(row->snippet, answer->body, answer->body_len, p->subscription, p->engine->o.key);
    return attempt;
}

/* A test event is sent only once. Its result is reported, but does not affect other deliveries. */
static bool is_test(const struct delivery *row)
{
    return !strcmp(row->event_type, event_type_name(EVENT_WEBHOOK_TEST));
}

static enum delivery_status verdict(const struct delivery *row, enum attempt_result result)
{
    if (result == ATTEMPT_DELIVERED)
        return DELIVERY_DELIVERED;
    if (result == ATTEMPT_GONE || !schedule_goes_on(row->attempt) || is_test(row))
        return DELIVERY_FAILED;
    return DELIVERY_PENDING;
}

/* Applies what a result shows about the receiver, which affects all its other deliveries. */
static void note_receiver(struct webhook_endpoint *p, const struct delivery_attempt *attempt,
                          int64_t retry_after_s)
{
    const enum attempt_result result = (enum attempt_result)attempt->result;
    if (result == ATTEMPT_DELIVERED) {
        /* A success does not end a pause: this attempt began before the receiver requested the pause. */
        p->last_success_at = attempt->at;
        p->throttled_in_a_row = 0;
        return;
    }
    int64_t pause_us = retry_after_s * US_PER_S; /* any failure may contain a Retry-After; negative: there
                                                  * was none */
    p->throttled_in_a_row =
        attempt_asks_for_pause(result, attempt->response_status) ? p->throttled_in_a_row + 1 : 0;
    if (p->throttled_in_a_row && pause_us < schedule_pause_us(p->throttled_in_a_row))
        pause_us = schedule_pause_us(p->throttled_in_a_row);
    mono_us until = env_mono(p->engine->env) + pause_us;
    if (pause_us > 0 && until > p->paused_until)
        p->paused_until = until;
}

/* Returns why nothing more should be sent to the whole endpoint, or NULL. */
static const char *reason_to_give_up(const struct webhook_endpoint *p, const struct delivery *row,
                                     enum attempt_result result)
{
    if (is_test(row))
        return NULL;
    if (result == ATTEMPT_GONE)
        return "the receiver answered 410 Gone";
    if (row->status == DELIVERY_FAILED && row->updated_at - p->last_success_at >= GIVE_UP_AFTER_S * US_PER_S)
        return "no delivery succeeded for 5 days";
    return NULL;
}

static struct webhook_report *report_new(const struct webhook_endpoint *p, const struct delivery *row,
                                         const char *reason)
{
    struct webhook_report *report = MEM_NEW(struct webhook_report);
    report->version = p->subscription->version;
    report->reason = reason;
    report->delivery = *row;
    return report;
}

static void attempt_span(const struct pending_delivery *pending, enum attempt_result result,
                         const struct http_answer *answer, wall_us now)
{
    const struct delivery *row = &pending->row;
    char id[TRACE_SPAN_BYTES];
    if (!span_is_recorded(&row->trace))
        return;
    const char *error = result == ATTEMPT_DELIVERED ? NULL : attempt_result_name(result);
    char *name CLEANUP_FREE = mem_printf("webhook %s", row->event_type);
    const struct span_attribute attributes[] = {
        SPAN_STR("shootd.webhook", pending->endpoint->id),
        SPAN_STR("shootd.event", row->event_id),
        SPAN_INT("shootd.attempt", row->attempt),
        SPAN_STR("http.request.method", "POST"),
        SPAN_STATUS(answer->status),
        SPAN_STR("error.type", error),
    };
    trace_new_span(pending->endpoint->engine->env, id);
    span_record(&(struct span){.trace = &row->trace,
                               .id = id,
                               .name = name,
                               .kind = SPAN_CLIENT,
                               .begun = now - answer->duration_us,
                               .ended = now,
                               .error = error,
                               SPAN_ATTRIBUTES(attributes)});
}

static void attempt_settle(struct pending_delivery *pending, enum attempt_result result,
                           const struct http_answer *answer)
{
    struct webhook_endpoint *p = pending->endpoint;
    struct webhook_engine *e = p->engine;
    struct delivery *row = &pending->row;
    assert(!pending->call && !pending->fetch);
    wall_us now = env_wall(e->env);
    int64_t retry_after_s =
        answer->retry_after ? time_parse_retry_after(answer->retry_after, now, SCHEDULE_MAX_DELAY_S) : -1;
    const struct delivery_attempt attempt = write_result(pending, row, result, answer, now);
    delivery_move(row, verdict(row, result));

    /* Plans the next attempt if the delivery is still pending, and records what the attempt shows about the
     * receiver. */
    int64_t delay_us = 0;
    if (row->status == DELIVERY_PENDING) {
        delay_us = schedule_delay_us(e->env, row->attempt, retry_after_s);
        row->next_attempt_at = now + delay_us;
    }
    struct change_set *set = record_new();
    if (!is_test(row)) {
        note_receiver(p, &attempt, retry_after_s);
        endpoint_note_attempt(p, &attempt, set);
    }

    webhook_count_attempt(result);
    attempt_span(pending, result, answer, now);
    if (result == ATTEMPT_DELIVERED)
        webhook_observe_delay(now - row->created_at);
    log_info(row->status == DELIVERY_DELIVERED ? "webhook delivered"
             : row->status == DELIVERY_FAILED  ? "webhook delivery failed"
                                               : "webhook attempt failed",
             "webhook", p->id, "event", row->event_id, "outcome", attempt_result_name(result), "status",
             row->response_status ? LOG_INT(row->response_status) : NULL, "attempt", LOG_INT(row->attempt));

    const char *reason = reason_to_give_up(p, row, result);
    struct webhook_report *report = reason ? report_new(p, row, reason) : NULL;
    if (!report) /* otherwise the owner stores it with its decision */
        change_put_delivery(set, mem_dup(row, sizeof(*row)));
    storage_submit(e->o.storage, set);
    pending_finish(pending, row->status != DELIVERY_PENDING, env_mono(e->env) + delay_us);
    if (report)
        endpoint_give_up(p, report);
}

/* Called when the attempt could not be made for a reason for which the receiver is not responsible. The
 * attempt is not counted. */
static void attempt_put_off(struct pending_delivery *pending)
{
    pending_finish(pending, false, env_mono(pending->endpoint->engine->env) + NOT_MADE_DELAY_S * US_PER_S);
}

/* ---- sending ---- */

static void on_receiver_answer(void *ctx, const struct http_answer *answer)
{
    struct pending_delivery *pending = ctx;
    pending->call = NULL;
    if (answer->outcome == HTTP_CANCELLED)
        attempt_put_off(pending);
    else
        attempt_settle(pending, attempt_result_of(answer), answer);
}

/* The header section of one attempt, including secrets. Ends with a NULL name. */
struct header_section {
    struct http_header fields[4 + SUBSCRIPTION_MAX_HEADERS + 1];
    char *timestamp;
    char *signature;
    char *extra[SUBSCRIPTION_MAX_HEADERS];
};

static void header_section_done(struct header_section *h)
{
    free(h->timestamp);
    free(h->signature);
    for (unsigned i = 0; i < SUBSCRIPTION_MAX_HEADERS; i++)
        mem_free_secret(h->extra[i]);
}

/* Makes the header section; false when a secret cannot be opened. */
static bool header_section_make(struct header_section *h, const struct pending_delivery *pending)
{
    const struct seal_key *key = pending->endpoint->engine->o.key;
    const struct subscription *s = pending->endpoint->subscription;
    wall_us now = env_wall(pending->endpoint->engine->env);
    h->timestamp = mem_printf("%" PRId64, now / US_PER_S);
    h->signature = webhook_sign_all(s, key, pending->row.event_id, now, pending->body, strlen(pending->body));
    if (!h->signature)
        return false;
    unsigned n = 0;
    h->fields[n++] = (struct http_header){"content-type", "application/json"};
    h->fields[n++] = (struct http_header){"webhook-id", pending->row.event_id};
    h->fields[n++] = (struct http_header){"webhook-timestamp", h->timestamp};
    h->fields[n++] = (struct http_header){"webhook-signature", h->signature};
    for (unsigned i = 0; i < s->header_count; i++) {
        h->extra[i] = webhook_header_open(key, s->id, &s->headers[i]);
        if (!h->extra[i])
            return false;
        h->fields[n++] = (struct http_header){s->headers[i].name, h->extra[i]};
    }
    return true;
}

static void sign_and_send(struct pending_delivery *pending)
{
    struct webhook_endpoint *p = pending->endpoint;
    struct transport *transport = p->engine->o.transport;
    struct header_section headers CLEANUP(header_section_done) = {0};
    /* The URL is checked with the current configuration, not with the configuration at the time when the
     * webhook was created. */
    struct problem *faults CLEANUP_PROBLEM = NULL;
    webhook_check_url(p->engine->o.config, p->subscription->url, &faults);
    if (faults) {
        attempt_settle(pending, ATTEMPT_ADDRESS_REFUSED, &no_answer);
        return;
    }
    if (!header_section_make(&headers, pending)) {
        log_error("webhook secret cannot be opened: the seal key may have been replaced", "webhook", p->id);
        attempt_settle(pending, ATTEMPT_SECRET_UNREADABLE, &no_answer);
        return;
    }
    const struct http_request request = {
        .method = "POST",
        .url = p->subscription->url,
        .headers = headers.fields,
        .body = pending->body,
        .body_len = strlen(pending->body),
        .connect_timeout_us = CONNECT_TIMEOUT_S * US_PER_S,
        .timeout_us = TOTAL_TIMEOUT_S * US_PER_S,
        .max_body = ANSWER_MAX_BYTES,
        .fresh_connection = true, /* every attempt resolves the host and checks its address again (WH-19) */
    };
    pending->call = transport->start(transport, &request, on_receiver_answer, pending);
}

/* ---- a body that is only in the store ---- */

/* The read of a body, which moves from the loop to the reader and back. Only the loop thread uses
 * `pending`. */
struct event_fetch {
    struct loop_task task;
    struct loop *loop;
    struct pending_delivery *pending; /* NULL: the delivery no longer waits for the body */
    enum store_status status;
    struct event *event;
};

static void fetch_free(struct loop_task *task)
{
    struct event_fetch *fetch = CONTAINER_OF(task, struct event_fetch, task);
    if (fetch->pending)
        fetch->pending->fetch = NULL;
    event_free(fetch->event);
    free(fetch);
}

static void drop_lost_event(struct pending_delivery *pending)
{
    struct webhook_engine *e = pending->endpoint->engine;
    struct change_set *set = record_new();
    record_failed(e, set, &pending->row, "event_gone");
    storage_submit(e->o.storage, set);
    log_warning("webhook delivery failed: its event is no longer stored", "webhook", pending->endpoint->id,
                "event", pending->row.event_id);
    pending_finish(pending, true, 0);
}

static void on_fetched(struct loop_task *task)
{
    struct event_fetch *fetch = CONTAINER_OF(task, struct event_fetch, task);
    struct pending_delivery *pending = fetch->pending;
    char *body = fetch->event ? TAKE_PTR(fetch->event->body) : NULL;
    enum store_status status = fetch->status;
    fetch_free(task);
    if (!pending) {
        free(body);
    } else if (body) {
        pending->body = body;
        sign_and_send(pending);
    } else if (status == STORE_OK || status == STORE_NONE) {
        drop_lost_event(pending);
    } else {
        log_warning("event for a webhook cannot be read", "webhook", pending->endpoint->id, "status",
                    store_status_name(status));
        attempt_put_off(pending);
    }
}

static void on_event_read(void *ctx, enum store_status status, struct event *event)
{
    struct event_fetch *fetch = ctx;
    fetch->status = status;
    fetch->event = event;
    loop_post(fetch->loop, &fetch->task);
}

/* ---- start and end ---- */

void attempt_start(struct pending_delivery *pending)
{
    loop_assert_owner(pending->endpoint->engine->o.loop);
    assert(!list_is_detached(&pending->under_way) && !pending->call && !pending->fetch);
    if (pending->body) {
        sign_and_send(pending);
        return;
    }
    struct webhook_engine *e = pending->endpoint->engine;
    struct event_fetch *fetch = MEM_NEW(struct event_fetch);
    *fetch = (struct event_fetch){
        .task = {.run = on_fetched, .drop = fetch_free}, .loop = e->o.loop, .pending = pending};
    pending->fetch = fetch;
    storage_query_event(e->o.storage, pending->row.event_id, on_event_read, fetch);
}

void attempt_cancel(struct pending_delivery *pending)
{
    struct transport *transport = pending->endpoint->engine->o.transport;
    if (pending->call)
        transport->cancel(transport, pending->call);
    pending->call = NULL;
    if (pending->fetch)
        pending->fetch->pending = NULL;
    pending->fetch = NULL;
}

/*
 * The engine's structs, which engine.c (queues) and attempt.c (one attempt) share. Used on the loop thread
 * only, except struct event_fetch, which moves to the reader thread and back.
 *
 * A delivery in memory either waits in the heap of its endpoint, or is in the list `under_way` of its
 * endpoint.
 */
#ifndef WEBHOOK_ENGINE_PRIVATE_H
#define WEBHOOK_ENGINE_PRIVATE_H

#include <uthash.h>

#include "base/heap.h"
#include "base/list.h"
#include "webhook/outcome.h"
#include "webhook/webhook.h"

/* The transport allows more connections than this number of attempts, so no attempt has to wait for a
 * connection within its time limit. */
enum { ENGINE_MAX_IN_FLIGHT = WEBHOOK_CONNECTIONS - 16 };

struct event_fetch;

/* A pending delivery. */
struct pending_delivery {
    struct delivery row;
    char *body; /* the event's text; NULL: it must be read from the store before it is sent */
    struct heap_item due;
    struct heap_item age; /* in engine->ages */
    struct list under_way;
    struct http_call *call;    /* the request in progress, or NULL */
    struct event_fetch *fetch; /* the read of the body in progress, or NULL */
    struct webhook_endpoint *endpoint;
    UT_hash_handle hh;
};

/* A webhook and its pending deliveries. */
struct webhook_endpoint {
    char id[40];
    struct webhook_engine *engine;
    struct subscription *subscription;
    struct heap waiting; /* the pending deliveries that wait, by their due time */
    struct loop_timer timer;
    struct list ready; /* in engine->ready while a delivery is due but must wait, because the engine has too
                        * many attempts in progress */
    struct list under_way;
    struct list unshown;        /* in engine->unshown while what is shown of the webhook is out of date */
    enum webhook_state counted; /* the state as it is shown and counted; WEBHOOK_STATE_MAX_: not yet */
    int in_flight;              /* the number of deliveries in under_way */
    bool given_up; /* the owner of the webhooks got a report and has not decided yet: nothing is sent */
    mono_us paused_until; /* nothing is sent before this time, because the receiver requested a pause */
    int throttled_in_a_row;
    wall_us last_success_at; /* the last success, or the later creation or re-enabling of the webhook */
    UT_hash_handle hh;
};

struct webhook_engine {
    struct webhook_options o;
    const struct env *env;
    struct webhook_endpoint *endpoints;
    struct pending_delivery *pending;
    struct heap ages; /* all pending deliveries, by the time of their event */
    struct list ready;
    struct list unshown;
    struct loop_timer showing;
    unsigned in_flight;
};

/* ---- engine.c ---- */

/* Ends an attempt. If `final`, the delivery is freed; otherwise it waits until `due`. Another delivery may
 * then start. */
void pending_finish(struct pending_delivery *pending, bool final, mono_us due);
/* Sends nothing more to the endpoint, and passes the report to the owner of the webhooks. */
void endpoint_give_up(struct webhook_endpoint *p, struct webhook_report *report);

/* Returns the number of deliveries that wait or are under way. */
size_t endpoint_pending(const struct webhook_endpoint *p);

/* Makes a change set for the results of deliveries. The caller submits it to the store. */
struct change_set *record_new(void);
/* Marks the row as failed without an attempt and adds it to `set`. */
void record_failed(struct webhook_engine *e, struct change_set *set, struct delivery *row, const char *error);

/* ---- standing.c ---- */

void standing_init(struct webhook_engine *e);
void standing_done(struct webhook_engine *e);
/* Shows the state of the webhook: now, or within a second. */
void endpoint_show(struct webhook_endpoint *p);
void endpoint_show_soon(struct webhook_endpoint *p);
/* Notes what an attempt tells about the receiver, and adds it to `set`. */
void endpoint_note_attempt(struct webhook_endpoint *p, const struct delivery_attempt *attempt,
                           struct change_set *set);
/* Forgets and stores what earlier attempts told, because the webhook has another target. */
void endpoint_begin_anew(struct webhook_endpoint *p);

/* ---- attempt.c ---- */

/* Sends the delivery. The caller must not use the delivery or its endpoint afterwards, because an attempt
 * that cannot be made ends within this call. */
void attempt_start(struct pending_delivery *pending);
/* Cancels the request or the read in progress. The attempt is not counted. */
void attempt_cancel(struct pending_delivery *pending);
/*
 * Writes the beginning of an answer's body for the delivery log (WH-22), as valid UTF-8 without control
 * characters. Masks text that looks like a secret, and the values of the webhook's extra headers. Therefore
 * no secret gets into the store when a receiver returns the request in its answer.
 */
void snippet_write(char to[static DELIVERY_SNIPPET_BYTES], const char *body, size_t body_len,
                   const struct subscription *s, const struct seal_key *key);

/* ---- metrics.c: counters of the engine. The loop thread writes, any thread reads (atomics) ---- */

void webhook_count_attempt(enum attempt_result result);
/* Changes the number of pending deliveries by +1 or -1. */
void webhook_count_pending(int delta);
void webhook_count_in_flight(int delta);
/* Counts a delivery by the time that passed between the event and the delivery. */
void webhook_observe_delay(int64_t delay_us);
/* Sets the time of the oldest event with a pending delivery; 0: no delivery is pending. */
void webhook_note_oldest(wall_us at);
void webhook_count_webhook(enum webhook_state state, int delta);

#endif

/*
 * The engine's structs, shared by engine.c (queues) and attempt.c (one attempt). Loop thread only, except
 * struct event_fetch, which moves to the reader thread and back.
 *
 * A delivery in memory is either waiting, in its endpoint's heap, or in its endpoint's list `under_way`.
 */
#ifndef WEBHOOK_ENGINE_PRIVATE_H
#define WEBHOOK_ENGINE_PRIVATE_H

#include <uthash.h>

#include "base/heap.h"
#include "base/list.h"
#include "webhook/outcome.h"
#include "webhook/webhook.h"

/* The transport has more connections than this, so an attempt never waits for a connection within its time
 * limit. */
enum { ENGINE_MAX_IN_FLIGHT = WEBHOOK_CONNECTIONS - 16 };

struct event_fetch;

/* A pending delivery. */
struct pending_delivery {
    struct delivery row;
    char *body; /* NULL: must be read from the store before sending */
    struct heap_item due;
    struct heap_item age; /* in engine->ages */
    struct list under_way;
    struct http_call *call;    /* while the request is in flight */
    struct event_fetch *fetch; /* while the body is read */
    struct endpoint *endpoint;
    UT_hash_handle hh;
};

/* A webhook and its pending deliveries. */
struct endpoint {
    char id[40];
    struct webhook_engine *engine;
    struct subscription *subscription;
    struct heap waiting; /* pending deliveries by due time */
    struct loop_timer timer;
    struct list ready; /* in engine->ready: due, but the engine has too many attempts in flight */
    struct list under_way;
    int in_flight;        /* length of under_way */
    bool failing;         /* the last attempt failed */
    mono_us paused_until; /* the receiver requested a pause */
    int throttled_in_a_row;
    wall_us last_success_at; /* or when the webhook was created or enabled again */
    UT_hash_handle hh;
};

struct webhook_engine {
    struct webhook_options o;
    const struct env *env;
    struct endpoint *endpoints;
    struct pending_delivery *pending;
    struct heap ages; /* all pending deliveries, by the time of their event */
    struct list ready;
    unsigned in_flight;
};

/* ---- engine.c ---- */

/* Ends an attempt: the delivery is freed when final, else it waits until `due`. The next delivery may
 * start. */
void pending_finish(struct pending_delivery *pending, bool final, mono_us due);
/* Disables the endpoint: pending deliveries fail, and the owner is informed. The caller must not use `p`
 * afterwards. */
void endpoint_disable(struct endpoint *p, const char *reason);

/* Makes a change set for results, which the caller submits to the store. */
struct change_set *record_new(void);
/* Stores the current state of the row. */
void record_delivery(struct webhook_engine *e, const struct delivery *row);
/* Marks the row as failed without an attempt and adds it to `set`. */
void record_failed(struct webhook_engine *e, struct change_set *set, struct delivery *row, const char *error);

/* ---- attempt.c ---- */

/* Sends the delivery. The caller must not use it or its endpoint afterwards, because an attempt that cannot
 * be made ends at once. */
void attempt_start(struct pending_delivery *pending);
/* Cancels the request or the read in progress; the attempt does not count. */
void attempt_cancel(struct pending_delivery *pending);
/*
 * Writes the beginning of an answer's body for the delivery log (WH-22), as valid UTF-8 without control
 * characters. Masks text that looks like a secret, and the values of the webhook's extra headers. A receiver
 * that returns the request thus brings no secret into the store.
 */
void snippet_write(char to[static DELIVERY_SNIPPET_BYTES], const char *body, size_t body_len,
                   const struct subscription *s, const struct seal_key *key);

/* ---- metrics.c: counters of the engine. The loop thread writes, any thread reads (atomics) ---- */

void webhook_count_attempt(enum attempt_result result);
/* delta: +1 or -1 */
void webhook_count_pending(int delta);
void webhook_count_in_flight(int delta);
/* Adds the time from the event to its delivery. */
void webhook_observe_delay(int64_t delay_us);
/* Sets the time of the oldest event with a pending delivery; 0: none. */
void webhook_note_oldest(wall_us at);
void webhook_count_endpoint(bool disabled, int delta);

#endif

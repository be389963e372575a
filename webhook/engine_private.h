/*
 * The engine's structs, shared by engine.c (who waits for what) and attempt.c (one attempt). Loop thread
 * only, but for struct event_fetch, which travels to the reader thread and back.
 *
 * A delivery in memory is always in one of two places: in its endpoint's heap, waiting; or in its list
 * `under_way`.
 */
#ifndef WEBHOOK_ENGINE_PRIVATE_H
#define WEBHOOK_ENGINE_PRIVATE_H

#include <uthash.h>

#include "base/heap.h"
#include "base/list.h"
#include "webhook/outcome.h"
#include "webhook/webhook.h"

/* The transport has more connections than this, so that no attempt's time runs while it waits for one. */
enum { ENGINE_MAX_IN_FLIGHT = WEBHOOK_CONNECTIONS - 16 };

struct event_fetch;

/* A pending delivery. */
struct pending_delivery {
    struct delivery row;
    char *body; /* NULL: read it from the store before sending */
    struct heap_item due;
    struct heap_item age; /* in engine->ages */
    struct list under_way;
    struct http_call *call;    /* while it is sent */
    struct event_fetch *fetch; /* while its body is read */
    struct endpoint *endpoint;
    UT_hash_handle hh;
};

/* A webhook and what is to be sent to it. */
struct endpoint {
    char id[40];
    struct webhook_engine *engine;
    struct subscription *subscription;
    struct heap waiting; /* pending deliveries by due time */
    struct loop_timer timer;
    struct list ready; /* in engine->ready: due, but too many attempts are under way elsewhere */
    struct list under_way;
    int in_flight;        /* length of under_way */
    bool failing;         /* the last attempt failed */
    mono_us paused_until; /* the receiver asked to be left alone */
    int throttled_in_a_row;
    wall_us last_success_at; /* or when the webhook was made or enabled again */
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

/* The delivery is not under way any more: freed when it is final, else waiting until `due`. The next one may
 * go. */
void pending_finish(struct pending_delivery *pending, bool final, mono_us due);
/* Nothing more is sent: pending deliveries fail, the owner hears of it. Last thing to do with `p`. */
void endpoint_disable(struct endpoint *p, const char *reason);

/* A change set for results, which the caller hands to the store. */
struct change_set *record_new(void);
/* Stores the row as it is now. */
void record_delivery(struct webhook_engine *e, const struct delivery *row);
/* Marks the row as failed without an attempt and adds it to `set`. */
void record_failed(struct webhook_engine *e, struct change_set *set, struct delivery *row, const char *error);

/* ---- attempt.c ---- */

/* Sends the delivery. Last thing to do with it and its endpoint: an attempt that cannot be made ends at once.
 */
void attempt_start(struct pending_delivery *pending);
/* Drops the call or the read under way; the attempt counts as not made. */
void attempt_cancel(struct pending_delivery *pending);
/*
 * How an answer's body begins, for the delivery log (WH-22), as valid UTF-8 without control characters. Text
 * that looks like a secret, and the values of the webhook's extra headers, are masked: receivers that echo a
 * request must not get them into the store.
 */
void snippet_write(char to[static DELIVERY_SNIPPET_BYTES], const char *body, size_t body_len,
                   const struct subscription *s, const struct seal_key *key);

/* ---- metrics.c: what the engine counts. Called from the loop thread, read by any (atomics) ---- */

void webhook_count_attempt(enum attempt_result result);
/* delta: +1 or -1 */
void webhook_count_pending(int delta);
void webhook_count_in_flight(int delta);
/* From the event to its delivery. */
void webhook_observe_delay(int64_t delay_us);
/* When the oldest event happened that some delivery still waits for; 0: none waits. */
void webhook_note_oldest(wall_us at);
void webhook_count_endpoint(bool disabled, int delta);

#endif

/*
 * The newest events, ready to be sent to streams: a bounded ring of immutable entries with their text made
 * once for all readers (AO-19). Dense: it holds the last numbers without a gap. Published by the loop thread
 * when an event is durable and the view shows its effect; read by any thread. One short lock, under which
 * nothing is allocated or freed.
 */
#ifndef VIEW_FEED_H
#define VIEW_FEED_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "model/cluster.h"

enum { FEED_ENTRIES = 4096, FEED_BYTES = 8 * 1024 * 1024 };

/* Immutable; reference counted, any thread. */
struct feed_entry {
    _Atomic unsigned refs;
    int64_t sequence;
    enum event_type type;
    char *project; /* NULL: an event of an account */
    char *cluster; /* or NULL */
    char *text;    /* as render_event_stream makes it */
    size_t len;
};

struct feed_entry *feed_entry_ref(struct feed_entry *e);
/* NULL is allowed. */
void feed_entry_unref(struct feed_entry *e);

struct feed_numbers {
    int64_t oldest; /* smallest sequence that the store keeps, 0: none */
    int64_t newest; /* largest sequence given so far */
    uint64_t published[EVENT_TYPE_MAX_];
};

struct feed;

struct feed *feed_new(size_t max_entries, size_t max_bytes);
/* No reader may be left; entries live on while they are referenced. NULL is allowed. */
void feed_free(struct feed *f);

/* The numbers that the store holds, before anything was published. */
void feed_begin(struct feed *f, int64_t oldest, int64_t newest);
/* Any thread: what the store keeps after a purge. */
void feed_set_oldest(struct feed *f, int64_t oldest);
/* Loop thread: in the order of the numbers. Wakes feed_wait. */
void feed_publish(struct feed *f, const struct event *e);

int64_t feed_newest(struct feed *f);
void feed_numbers(struct feed *f, struct feed_numbers *ret);

enum feed_place {
    FEED_ENTRY,  /* *ret_entry is the one that follows; the caller unrefs it */
    FEED_END,    /* nothing newer is known */
    FEED_BEHIND, /* what follows is not in the ring any more, only in the store */
};
enum feed_place feed_next(struct feed *f, int64_t after, struct feed_entry **ret_entry);
/* Up to `max` entries behind `after`, or behind what the ring has lost; the caller unrefs each. */
size_t feed_batch(struct feed *f, int64_t after, struct feed_entry **ret_entries, size_t max);

/*
 * Waits until something was published or feed_wake was called since *wakes was filled, at most `timeout_us`
 * of real time. One waiting thread.
 */
void feed_wait(struct feed *f, unsigned *wakes, int64_t timeout_us);
void feed_wake(struct feed *f);

#endif

/*
 * The newest events for streams: a ring of limited size, whose entries never change. The text of an entry is
 * made once for all readers (AO-19). The sequences of the entries in the ring have no gap. The loop thread
 * publishes an event when the event is durable and the view shows the change that it reports; any thread
 * reads. There is one lock, which is held only for a short time; no memory is allocated or freed while it is
 * held.
 */
#ifndef VIEW_FEED_H
#define VIEW_FEED_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "model/event.h"

enum { FEED_ENTRIES = 4096, FEED_BYTES = 8 * 1024 * 1024 };

/* Immutable; reference counted, any thread. */
struct feed_entry {
    _Atomic unsigned refs;
    int64_t sequence;
    enum event_type type;
    char *project; /* NULL: an event of an account */
    char *cluster; /* the name of the cluster, or NULL */
    char *text;    /* the text that render_event_stream makes */
    size_t len;
};

struct feed_entry *feed_entry_ref(struct feed_entry *e);
/* NULL is allowed. */
void feed_entry_unref(struct feed_entry *e);

struct feed_numbers {
    int64_t oldest; /* the smallest sequence in the store; 0: the store has no event */
    int64_t newest; /* the largest sequence that was assigned */
    uint64_t published[EVENT_TYPE_MAX_];
};

struct feed;

struct feed *feed_new(size_t max_entries, size_t max_bytes);
/* Frees the feed. No thread may use the feed at this time. Entries that are still referenced stay valid.
 * NULL is allowed. */
void feed_free(struct feed *f);

/* Sets the oldest and the newest sequence of the store, before the first event is published. */
void feed_begin(struct feed *f, int64_t oldest, int64_t newest);
/* Sets the oldest sequence in the store, after a purge. Any thread. */
void feed_set_oldest(struct feed *f, int64_t oldest);
/* Publishes an event and wakes feed_wait. Events are published in the order of their sequences. Loop
 * thread. */
void feed_publish(struct feed *f, const struct event *e);

int64_t feed_newest(struct feed *f);
void feed_numbers(struct feed *f, struct feed_numbers *ret);

enum feed_place {
    FEED_ENTRY,  /* ret_entry is the next entry; the caller unrefs it */
    FEED_END,    /* there is no newer event */
    FEED_BEHIND, /* the next event is no longer in the ring, only in the store */
};
enum feed_place feed_next(struct feed *f, int64_t after, struct feed_entry **ret_entry);
/* Returns up to `max` entries after the sequence `after`. When the ring begins later, returns entries from
 * its oldest one on. The caller unrefs each entry. */
size_t feed_batch(struct feed *f, int64_t after, struct feed_entry **ret_entries, size_t max);

/* Waits until an event is published, or until feed_wake was called after *wakes was last set, but at most
 * `timeout_us` of real time. Only one thread may wait. */
void feed_wait(struct feed *f, unsigned *wakes, int64_t timeout_us);
void feed_wake(struct feed *f);

#endif

/*
 * Event streams (AO-18 to AO-24; their transport is http/event_stream.h). A stream has a position in the log.
 * The feed's entries are sent unchanged; entries that the feed has dropped are read from the store in small
 * pages. A stream without data to send waits: the streams' thread resumes it for new events, and the loop
 * thread resumes it when a page has come. struct streams is the set of all streams, and limits their number.
 * Its thread wakes, ends and cuts streams. Between two rounds this thread waits for the feed, but not longer
 * than the interval of the reaper. When the loop thread publishes an event, it touches no stream.
 */
#ifndef API_STREAMS_H
#define API_STREAMS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/env.h"
#include "base/ids.h"
#include "base/list.h"
#include "http/event_stream.h"
#include "model/command.h"
#include "view/feed.h"

struct api;
struct problem;
struct request;

/* ---- stream.c: one stream ---- */

/* The reasons why a stream ended, which are labels of a metric. */
enum stream_end {
    STREAM_GOES_ON,
    STREAM_CLIENT,   /* the client closed the connection */
    STREAM_LIFETIME, /* its lifetime had ended */
    STREAM_TOKEN,    /* the token was revoked or expired */
    STREAM_SLOW,     /* the client read no bytes in time */
    STREAM_BEHIND,   /* the client had received all events, but later fell too far behind */
    STREAM_STORE,    /* the log could not be read */
    STREAM_STOPPED,  /* the server stopped */
    STREAM_END_MAX_,
};
const char *stream_end_name(enum stream_end end);

/* Counters for all streams; any thread. */
struct stream_counts {
    _Atomic uint64_t ended[STREAM_END_MAX_];
    _Atomic uint64_t sent; /* the number of events that were sent */
};

/* The kinds of pieces. A piece is the text that is being sent. */
enum stream_piece { PIECE_NOTE, PIECE_ENTRY, PIECE_PAGE };

struct api_stream {
    struct event_stream transport; /* the first member; its lock protects the members after `ends_at` */
    struct list link;              /* protected by the lock of its shard (streams.c) */
    struct api *api;
    struct stream_counts *counts;
    uint8_t token_digest[TOKEN_DIGEST_BYTES]; /* never changes, like the next two members */
    struct view_blob *caller;                 /* the caller, if it has no token of shootd (api/caller.h); or
                                               * NULL */
    mono_us ends_at;
    struct command_events asked;
    uint64_t types; /* the event types of `asked`, as bits of enum event_type */
    enum stream_end end;
    bool end_sent;
    bool was_live; /* the stream has sent all existing events at least once */
    bool heartbeat_is_due;
    bool is_unchecked;     /* the position is greater than that of the feed, so the store must check it */
    int64_t position;      /* every event up to this number was sent, or is not for this stream */
    int64_t sent_position; /* the last id that was sent to the client; 0: none */
    /* ---- the piece ---- */
    enum stream_piece kind;
    char note[256];
    struct feed_entry *entry;
    /* ---- a page from the store ---- */
    bool page_is_wanted; /* a page was requested and has not come yet */
    char *page;
    size_t page_count;
    int64_t page_last;
    bool reset; /* the client must get a reset, because its position is not in the log */
    int64_t reset_oldest, reset_newest;
};

/*
 * Makes a stream for the request, from `position` (exclusive); takes over the content of `asked`. The
 * returned reference belongs to the request.
 */
struct api_stream *stream_new(struct request *r, struct stream_counts *counts, struct command_events *asked,
                              int64_t position);

/* The streams' thread: offers the stream new entries, in the order of their numbers, and resumes it if
 * needed. */
void stream_check(struct api_stream *s, struct feed_entry *const *batch, size_t count, mono_us now);
/* Ends the stream, with a message to the client if possible. Only the first call has an effect. Any thread.
 */
void stream_end(struct api_stream *s, enum stream_end why);
/* Shuts down the connection of an ended stream whose client does not take the remaining bytes. Any thread. */
void stream_cut(struct api_stream *s);
/* Called when the request is completed, on the worker of the request. Returns why the stream ended. */
enum stream_end stream_completed(struct api_stream *s);

/* ---- streams.c: all streams ---- */

enum { STREAM_SHARDS = 256 };

struct streams {
    struct api *api;
    pthread_t thread;
    int64_t begins_at; /* the sequence number of the newest event when the thread was started */
    atomic_bool draining;
    atomic_bool stopping;
    pthread_mutex_t admission; /* held while a stream is admitted, so that the limits are not exceeded */
    atomic_uint open;
    struct stream_counts counts;
    /* Streams are distributed over shards. The thread checks one shard at a time and holds its lock; a
     * worker that adds a stream to that shard waits only for this check. */
    struct stream_shard {
        pthread_mutex_t lock; /* protects `streams` */
        struct list streams;
    } shards[STREAM_SHARDS];
};

/* Starts the thread; returns a negative errno on failure. */
int streams_start(struct streams *all, struct api *api);
/* Stops the thread. Called when no stream is left. */
void streams_stop(struct streams *all);
/* Called when the server drains: ends every stream now. Any thread. */
void streams_end_all(struct streams *all);
/*
 * Admits a stream for the request (takes over the content of `asked`) and sets the answer: the stream, or
 * only its headers for HEAD. Above the limits it returns a problem. Runs on the worker of the request.
 */
struct problem *streams_open(struct request *r, struct command_events *asked, int64_t position);
/* Called when the request of a stream is completed: returns why the stream ended. */
enum stream_end streams_completed(struct request *r);

#endif

/*
 * Event streams (AO-18 to AO-24; http/event_stream.h carries them). A stream keeps a position in the log. The
 * feed's entries are sent as they are; entries that the feed has lost come from the store in small pages.
 * With nothing to send it waits until the thread of all streams resumes it, or the loop thread when a page
 * has come.
 *
 * The set of all streams: how many there may be, and the thread that wakes, ends and cuts them. It waits for
 * the feed, at most the time that the reaper takes between two looks; the loop thread never touches a stream
 * when an event is published.
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

/* ---- stream.c: one ---- */

/* Why a stream ended; labels of a metric. */
enum stream_end {
    STREAM_GOES_ON,
    STREAM_CLIENT,   /* the client left */
    STREAM_LIFETIME, /* as planned */
    STREAM_TOKEN,    /* revoked or expired */
    STREAM_SLOW,     /* took no bytes in time */
    STREAM_BEHIND,   /* was live and fell too far behind */
    STREAM_STORE,    /* the log could not be read */
    STREAM_STOPPED,  /* with the server */
    STREAM_END_MAX_,
};
const char *stream_end_name(enum stream_end end);

/* Counts of all streams; any thread. */
struct stream_counts {
    _Atomic uint64_t ended[STREAM_END_MAX_];
    _Atomic uint64_t sent; /* events */
};

/* The piece that is being sent. */
enum stream_piece { PIECE_NOTE, PIECE_ENTRY, PIECE_PAGE };

struct stream {
    struct event_stream transport; /* first; its lock guards what is below `ends_at` */
    struct list link;              /* lock of its shard (streams.c) */
    struct api *api;
    struct stream_counts *counts;
    uint8_t token_digest[TOKEN_DIGEST_BYTES]; /* this and the two below do not change */
    struct view_blob *caller;                 /* who shows no token of ours (api/caller.h), or NULL */
    mono_us ends_at;
    struct command_events asked;
    uint64_t types; /* bits of enum event_type that `asked` names */
    enum stream_end end;
    bool end_sent;
    bool was_live; /* had once sent everything that there was */
    bool heartbeat_is_due;
    bool is_unchecked;     /* the position is ahead of the feed: the store knows whether it exists */
    int64_t position;      /* everything up to here is sent or not for this stream */
    int64_t sent_position; /* the id that the client knows; 0: not known to us */
    /* the piece */
    enum stream_piece kind;
    char note[256];
    struct feed_entry *entry;
    /* a page of the store */
    bool page_is_wanted; /* asked for and not there yet */
    char *page;
    size_t page_count;
    int64_t page_last;
    bool reset; /* the client's position is not in the log */
    int64_t reset_oldest, reset_newest;
};

/*
 * A stream for the request, from `position` on (exclusive); takes what `asked` owns. The caller's reference
 * is the request's.
 */
struct stream *stream_new(struct request *r, struct stream_counts *counts, struct command_events *asked,
                          int64_t position);

/* The thread of all streams: what is new is offered, in the order of the numbers; resumes as needed. */
void stream_check(struct stream *s, struct feed_entry *const *batch, size_t count, mono_us now);
/* Any thread: ends the stream, with a word to the client where that is possible. The first reason counts. */
void stream_end(struct stream *s, enum stream_end why);
/* Any thread: the client of a stream that has ended does not take the rest; its connection is shut down. */
void stream_cut(struct stream *s);
/* The request is completed; its worker. Returns why the stream ended. */
enum stream_end stream_completed(struct stream *s);

/* ---- streams.c: all of them ---- */

enum { STREAM_SHARDS = 256 };

struct streams {
    struct api *api;
    pthread_t thread;
    int64_t begins_at; /* number of the last event before the start */
    atomic_bool draining;
    atomic_bool stopping;
    pthread_mutex_t admission; /* one at a time is let in, so that the caps hold */
    atomic_uint open;
    struct stream_counts counts;
    /* Streams are spread over shards, so that a worker waits for a few of them only when it adds its own. */
    struct stream_shard {
        pthread_mutex_t lock; /* guards `streams` */
        struct list streams;
    } shards[STREAM_SHARDS];
};

/* Starts the thread; negative errno on failure. */
int streams_start(struct streams *all, struct api *api);
/* When no stream is left. */
void streams_stop(struct streams *all);
/* The server drains: every stream is ended now. Any thread. */
void streams_end_all(struct streams *all);
/*
 * Lets a stream for the request in (it takes what `asked` owns) and decides the answer: the stream, its
 * headers alone for HEAD; over the caps it is a problem. The worker of the request.
 */
struct problem *streams_open(struct request *r, struct command_events *asked, int64_t position);
/* The request of a stream is completed: returns why the stream ended. */
enum stream_end streams_completed(struct request *r);

#endif

/*
 * What one event stream sends (AO-18 to AO-24); http/event_stream.h carries it. A stream keeps a position in
 * the log. The feed's entries are sent as they are; what the feed has lost comes from the store in small
 * pages. With nothing to send it waits until the thread of api/streams.h resumes it, or the loop thread when
 * a page has come.
 */
#ifndef API_STREAM_H
#define API_STREAM_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/env.h"
#include "base/ids.h"
#include "base/list.h"
#include "http/event_stream.h"
#include "model/command.h"
#include "view/feed.h"

struct request;

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

/* Of all streams; any thread. */
struct stream_counts {
    _Atomic uint64_t ended[STREAM_END_MAX_];
    _Atomic uint64_t sent; /* events */
};

/* What is being sent. */
enum stream_piece { PIECE_NOTE, PIECE_ENTRY, PIECE_PAGE };

struct stream {
    struct event_stream transport; /* first; its lock guards what is below `ends_at` */
    struct list link;              /* lock of its shard (api/streams.c) */
    struct api *api;
    struct stream_counts *counts;
    uint8_t token_digest[TOKEN_DIGEST_BYTES]; /* this and the next one do not change */
    mono_us ends_at;
    struct command_events asked;
    uint64_t types; /* bits of enum event_type that `asked` names */
    enum stream_end end;
    bool end_told;
    bool was_live; /* had once sent everything that there was */
    bool heartbeat_is_due;
    bool is_unchecked; /* the position is ahead of the feed: the store knows whether it exists */
    int64_t position;  /* everything up to here is sent or not for this stream */
    int64_t told;      /* the id that the client knows; 0: not known to us */
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

/* The thread of api/streams.h: what is new is offered, in the order of the numbers; resumes as needed. */
void stream_check(struct stream *s, struct feed_entry *const *batch, size_t count, mono_us now);
/* Any thread: ends the stream, with a word to the client where that is possible. The first reason counts. */
void stream_end(struct stream *s, enum stream_end why);
/* Any thread: the client of a stream that has ended does not take the rest; its connection is shut down. */
void stream_cut(struct stream *s);
/* The request is completed; its worker. Tells why the stream ended. */
enum stream_end stream_completed(struct stream *s);

#endif

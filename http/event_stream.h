/*
 * One event stream (text/event-stream), or another answer that is made while it is sent, as a transport: a
 * response whose bytes libmicrohttpd asks for when the client has taken the ones before. It holds the piece
 * that is being sent, never a queue: a slow reader costs nothing and delays nobody. The content, which embeds
 * this struct, decides what the pieces are.
 *
 * With nothing to send the connection is suspended (MH-12). The stream's lock is held to suspend and to
 * resume it (MH-10).
 */
#ifndef HTTP_EVENT_STREAM_H
#define HTTP_EVENT_STREAM_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/env.h"

struct answer;
struct event_stream;
struct server_request;

/* The functions of the content; the first two under the lock, on the worker of the connection. */
struct event_stream_content {
    /* Begins the next piece with event_stream_begin; false: there is none now. */
    bool (*next)(struct event_stream *s);
    /* The whole piece has been handed over. */
    void (*taken)(struct event_stream *s);
    /* The last reference is gone: frees the struct that embeds it, after event_stream_done. */
    void (*free)(struct event_stream *s);
};

enum event_stream_state { EVENT_STREAM_RUNS, EVENT_STREAM_SUSPENDED, EVENT_STREAM_RESUMED };

struct event_stream {
    const struct event_stream_content *content;
    atomic_uint refs;
    pthread_mutex_t lock;           /* guards everything below, and what the content says */
    struct server_request *request; /* NULL once it is completed */
    enum event_stream_state state;
    bool is_ended;    /* when there is no next piece, the response is over */
    bool is_broken;   /* likewise, and the client is to see that it is not whole */
    const char *rest; /* of the piece */
    size_t rest_len;
    mono_us sent_at; /* when bytes were last handed over */
    uint64_t bytes;  /* that were handed over */
};

/* The caller's reference is the only one. */
void event_stream_init(struct event_stream *s, const struct event_stream_content *content,
                       struct server_request *r);
void event_stream_done(struct event_stream *s);
void event_stream_ref(struct event_stream *s);
/* NULL is allowed. */
void event_stream_unref(struct event_stream *s);

/* ---- under the lock ---- */

/* The one before is taken. The bytes, which may be none, live until they are taken, or the stream is freed.
 */
void event_stream_begin(struct event_stream *s, const char *bytes, size_t len);
/* Nothing more of the current piece. */
void event_stream_drop_piece(struct event_stream *s);
/* There is something to send, or the end; nothing when the connection is not suspended. */
void event_stream_resume(struct event_stream *s);
/* The client of a stream that has ended does not take the rest: its connection is shut down. */
void event_stream_cut(struct event_stream *s);

/* ---- the worker of the request ---- */

/* Decides the answer: the stream, of which it takes a reference, or its headers alone for NULL (HEAD). */
void answer_event_stream(struct answer *a, struct event_stream *s);
/* The same for another media type. */
void answer_stream_of(struct answer *a, struct event_stream *s, const char *type);
/* The request is completed. Under the lock; true when its client was too slow. */
bool event_stream_completed(struct event_stream *s);

#endif

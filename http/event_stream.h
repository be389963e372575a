/*
 * The transport of an event stream (text/event-stream), or of another answer that is made while it is sent.
 * libmicrohttpd asks for further bytes when the client has received the earlier bytes. The stream has only
 * the piece that is being sent, and no queue. Therefore a slow client needs no more memory and delays no
 * other client. The content makes the pieces; the struct of the content contains a struct event_stream.
 *
 * Without data to send, the connection is suspended (MH-12). The stream's lock is held to suspend and to
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

/* The functions of the content. The first two are called under the lock, on the worker of the connection. */
struct event_stream_content {
    /* Begins the next piece with event_stream_begin; false: there is no piece now. */
    bool (*next)(struct event_stream *s);
    /* Called when the whole piece was passed to libmicrohttpd. */
    void (*taken)(struct event_stream *s);
    /* Called when the last reference was released: frees the struct that contains the stream, after
     * event_stream_done. */
    void (*free)(struct event_stream *s);
};

enum event_stream_state { EVENT_STREAM_RUNS, EVENT_STREAM_SUSPENDED, EVENT_STREAM_RESUMED };

struct event_stream {
    const struct event_stream_content *content;
    atomic_uint refs;
    pthread_mutex_t lock;           /* protects all members below, and the members of the content */
    struct server_request *request; /* NULL after the request is completed */
    enum event_stream_state state;
    bool is_ended;    /* the response ends when there is no next piece */
    bool is_broken;   /* the response ends, and the client must see that it is incomplete */
    const char *rest; /* the unsent bytes of the piece */
    size_t rest_len;
    mono_us sent_at; /* when bytes were last passed to libmicrohttpd */
    uint64_t bytes;  /* the number of bytes that were passed to libmicrohttpd */
};

/* The caller gets the first reference. */
void event_stream_init(struct event_stream *s, const struct event_stream_content *content,
                       struct server_request *r);
void event_stream_done(struct event_stream *s);
void event_stream_ref(struct event_stream *s);
/* NULL is allowed. */
void event_stream_unref(struct event_stream *s);

/* ---- under the lock ---- */

/* Begins a piece; the previous piece must have been passed on completely. A piece may have no bytes. The
 * bytes must be valid until they were passed on, or until the stream is freed. */
void event_stream_begin(struct event_stream *s, const char *bytes, size_t len);
/* Drops the unsent part of the current piece. */
void event_stream_drop_piece(struct event_stream *s);
/* Resumes the connection because there is data to send, or because the stream ended. Does nothing when the
 * connection is not suspended. */
void event_stream_resume(struct event_stream *s);
/* Shuts down the connection of an ended stream whose client does not take the remaining bytes. */
void event_stream_cut(struct event_stream *s);

/* ---- on the worker of the request ---- */

/* Sets the answer to the stream, and takes a new reference to it. NULL: only the headers of a stream are sent
 * (HEAD). */
void answer_event_stream(struct answer *a, struct event_stream *s);
/* Does the same as answer_event_stream, for another media type. */
void answer_stream_of(struct answer *a, struct event_stream *s, const char *type);
/* Called when the request is completed, while the lock is held. Returns true when the client was too slow. */
bool event_stream_completed(struct event_stream *s);

#endif

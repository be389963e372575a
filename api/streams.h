/*
 * All event streams: how many there may be, and the thread that wakes, ends and cuts them. It waits for the
 * feed, at most the time that the reaper takes between two looks; the loop thread never touches a stream when
 * an event is published.
 */
#ifndef API_STREAMS_H
#define API_STREAMS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "api/stream.h"
#include "base/buffer.h"

enum { STREAM_SHARDS = 64 };

struct api;

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
/* The request of a stream is completed: tells why the stream ended. */
enum stream_end streams_completed(struct request *r);

void streams_metrics(struct streams *all, struct buffer *out);

#endif

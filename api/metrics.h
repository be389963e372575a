/*
 * Metrics of HTTP. Every worker counts in its own shard, so requests share no cache line; a scrape adds the
 * shards. Values of labels come only from the route table and from fixed sets (OB-6).
 */
#ifndef API_METRICS_H
#define API_METRICS_H

#include <pthread.h>
#include <stdatomic.h>

#include "api/request.h"
#include "base/buffer.h"

struct api;
struct http_numbers;
struct shard;

struct metrics {
    pthread_mutex_t lock; /* protects `shards` when a worker adds its shard */
    _Atomic(struct shard *) shards;
    uint64_t serial; /* distinguishes this instance from an earlier one at the same address */
};

void metrics_init(struct metrics *m);
/* Frees the counters. Called after the workers have ended. */
void metrics_done(struct metrics *m);
/* Counts a completed request. Runs on the worker of the request. */
void metrics_count(struct metrics *m, const struct request *r, int64_t duration_us);
/* Returns the status as which an answer with this status is counted: the same status, or 500 for a status
 * that shootd does not send. Pure. */
int metrics_status(int status);
/* Writes all families of this folder and of the process. Any thread. */
void metrics_write(struct api *api, const struct http_numbers *numbers, struct buffer *out);

#endif

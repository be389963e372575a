/*
 * Rate limits: requests per minute (HT-42 to HT-45): a token bucket in its GCRA form, one timestamp a key,
 * that holds a minute's worth. The table has a fixed size: a key has its place in one of a few cells that it
 * shares with others; when they are taken, the one whose bucket is fullest is forgotten, which at worst gives
 * it a full one.
 */
#ifndef HTTP_RATE_LIMIT_H
#define HTTP_RATE_LIMIT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/env.h"

enum { RATE_LIMIT_WINDOW_S = 60, RATE_LIMIT_STRIPES = 64 };

struct rate_limit {
    const char *name;           /* of the policy, in RateLimit fields and metrics */
    _Atomic int64_t per_minute; /* 0: no bound */
    struct rate_limit_cell *cells;
    pthread_mutex_t locks[RATE_LIMIT_STRIPES]; /* guard cells by key; held for a few instructions */
    _Atomic uint64_t refused;
};

/* The state of a key after a request. */
struct rate_limit_state {
    const struct rate_limit *limit; /* NULL: there is no bound */
    int64_t per_minute;             /* then */
    bool is_refused;
    int64_t remaining;
    /* Until there is more when nothing is left, else until the bucket is full again; rounded up. */
    int seconds;
};

/* `per_minute` 0: no bound. `name` is not copied. */
void rate_limit_init(struct rate_limit *limit, const char *name, int64_t per_minute);
void rate_limit_done(struct rate_limit *limit);
/* From the next request on. Any thread. */
void rate_limit_set(struct rate_limit *limit, int64_t per_minute);
/* Takes one request of a key, which is not 0 and whose bits are evenly spread. Any thread. */
struct rate_limit_state rate_limit_take(struct rate_limit *limit, uint64_t key, mono_us now);

#endif

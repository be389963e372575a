/*
 * Request quotas per minute (HT-42 to HT-45): a token bucket in its GCRA form, one timestamp a key, that
 * holds a minute's worth. The table has a fixed size: a key has its place in one of a few cells that it
 * shares with others; when they are taken, the one whose bucket is fullest is forgotten, which at worst gives
 * it a full one.
 */
#ifndef HTTP_QUOTA_H
#define HTTP_QUOTA_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/env.h"

enum { QUOTA_WINDOW_S = 60, QUOTA_STRIPES = 64 };

struct quota {
    const char *name; /* of the policy, in RateLimit fields and metrics */
    int64_t per_minute;
    int64_t interval_ns; /* what one request costs */
    struct quota_cell *cells;
    pthread_mutex_t locks[QUOTA_STRIPES]; /* guard cells by key; held for a few instructions */
    _Atomic uint64_t refused;
};

/* What is left for a key after a request. */
struct quota_state {
    const struct quota *quota; /* NULL: there is no bound */
    bool is_refused;
    int64_t remaining;
    /* Until there is more when nothing is left, else until the bucket is full again; rounded up. */
    int seconds;
};

/* `per_minute` 0: no bound. `name` is not copied. */
void quota_init(struct quota *quota, const char *name, int64_t per_minute);
void quota_done(struct quota *quota);
/* Takes one request of a key, which is not 0 and whose bits are evenly spread. Any thread. */
struct quota_state quota_take(struct quota *quota, uint64_t key, mono_us now);

#endif

/*
 * Rate limits: requests per minute (HT-42 to HT-45). A token bucket in its GCRA form: one timestamp per key,
 * with a capacity of one minute. The table has a fixed size. A key shares a few cells with other keys. When
 * all these cells are used, a new key replaces the key with the fullest bucket. At worst a replaced key gets
 * a full bucket again.
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
    const char *name;           /* name of the policy, in RateLimit fields and metrics */
    _Atomic int64_t per_minute; /* 0: no limit */
    struct rate_limit_cell *cells;
    pthread_mutex_t locks[RATE_LIMIT_STRIPES]; /* guard cells by key; held for a few instructions */
    _Atomic uint64_t refused;
};

/* The state of a key after a request. */
struct rate_limit_state {
    const struct rate_limit *limit; /* NULL: no limit */
    int64_t per_minute;             /* limit at the time of the request */
    bool is_refused;
    int64_t remaining;
    /* Time until one more request is allowed when none remains, else until the bucket is full again; rounded
     * up. */
    int seconds;
};

/* `per_minute` 0: no limit. `name` is not copied. */
void rate_limit_init(struct rate_limit *limit, const char *name, int64_t per_minute);
void rate_limit_done(struct rate_limit *limit);
/* Changes the limit, from the next request. Any thread. */
void rate_limit_set(struct rate_limit *limit, int64_t per_minute);
/* Takes one request of a key. The key is not 0, and its bits are evenly distributed. Any thread. */
struct rate_limit_state rate_limit_take(struct rate_limit *limit, uint64_t key, mono_us now);

#endif

/*
 * Rate limits: requests per minute (HT-42 to HT-45). A limit is a token bucket in its GCRA form, which needs
 * only one timestamp per key. A full bucket allows the requests of one minute at once. The table has a fixed
 * size, and a key shares a few cells with other keys. When all these cells are used, a new key replaces the
 * key with the fullest bucket. In the worst case a replaced key gets a full bucket again.
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
    const char *name;           /* the name of the policy in RateLimit fields and metrics */
    _Atomic int64_t per_minute; /* 0: no limit */
    struct rate_limit_cell *cells;
    pthread_mutex_t locks[RATE_LIMIT_STRIPES]; /* each protects the cells of some keys; held for a few
                                                * instructions */
    _Atomic uint64_t refused;
};

/* The state of a key after a request. */
struct rate_limit_state {
    const struct rate_limit *limit; /* NULL: no limit */
    int64_t per_minute;             /* the limit at the time of the request */
    bool is_refused;
    int64_t remaining;
    /* When no request remains: the time until one more request is allowed; otherwise: the time until the
     * bucket is full again. Rounded up. */
    int seconds;
};

/* `per_minute` 0: no limit. `name` is not copied. */
void rate_limit_init(struct rate_limit *limit, const char *name, int64_t per_minute);
void rate_limit_done(struct rate_limit *limit);
/* Changes the limit for later requests. Any thread. */
void rate_limit_set(struct rate_limit *limit, int64_t per_minute);
/* Takes one request of a key. The key is not 0, and its bits are evenly distributed. Any thread. */
struct rate_limit_state rate_limit_take(struct rate_limit *limit, uint64_t key, mono_us now);
/* Returns how many requests of a key are allowed at once; INT64_MAX: no limit. Takes none. Any thread. */
int64_t rate_limit_left(struct rate_limit *limit, uint64_t key, mono_us now);

#endif

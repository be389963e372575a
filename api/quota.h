/*
 * Request quotas per minute (HT-42 to HT-45): a token bucket in its GCRA form, one timestamp a key, that
 * holds a minute's worth. The table has a fixed size and no lock. When it is full, the key that was quiet for
 * longest is forgotten, which at worst gives it a full bucket again.
 */
#ifndef API_QUOTA_H
#define API_QUOTA_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/env.h"

enum { QUOTA_WINDOW_S = 60 };

struct quota {
    const char *name; /* of the policy, in RateLimit fields and metrics */
    int64_t per_minute;
    int64_t interval_ns; /* what one request costs */
    struct quota_cell *cells;
    _Atomic uint64_t refused;
};

/* What is left for a key after a request. */
struct quota_state {
    const struct quota *quota; /* NULL: there is no bound */
    bool is_refused;
    int64_t remaining;
    int seconds; /* until a refused request would be let in, else until the bucket is full again; rounded up
                  */
};

/* `per_minute` 0: no bound. `name` is not copied. */
void quota_init(struct quota *quota, const char *name, int64_t per_minute);
void quota_done(struct quota *quota);
/* Takes one request of a key, which is not 0 and whose bits are evenly spread. Any thread. */
struct quota_state quota_take(struct quota *quota, uint64_t key, mono_us now);

#endif

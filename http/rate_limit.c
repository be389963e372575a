#include "http/rate_limit.h"

#include <assert.h>
#include <stdlib.h>

#include "base/lock.h"
#include "base/mem.h"

/* The table takes 256 KiB. Several sets share a lock, see rate_limit_take. */
enum { SETS = 4096, WAYS = 4 };
static const int64_t NS_PER_US = 1000;
static const int64_t NS_PER_S = 1000000000;
static const int64_t WINDOW_NS = RATE_LIMIT_WINDOW_S * NS_PER_S;

struct rate_limit_cell {
    uint64_t key;    /* the key; 0: the cell is free */
    int64_t full_at; /* when the bucket is full again: GCRA's theoretical arrival time */
};

void rate_limit_init(struct rate_limit *limit, const char *name, int64_t per_minute)
{
    *limit = (struct rate_limit){.name = name};
    rate_limit_set(limit, per_minute);
    for (size_t i = 0; i < RATE_LIMIT_STRIPES; i++)
        mutex_init(&limit->locks[i]);
    limit->cells = mem_calloc(SETS * WAYS, sizeof(*limit->cells));
}

void rate_limit_done(struct rate_limit *limit)
{
    for (size_t i = 0; i < RATE_LIMIT_STRIPES; i++)
        mutex_done(&limit->locks[i]);
    free(limit->cells);
}

void rate_limit_set(struct rate_limit *limit, int64_t per_minute)
{
    assert(per_minute >= 0);
    atomic_store(&limit->per_minute, per_minute);
}

static struct rate_limit_cell *cell_of(struct rate_limit *limit, uint64_t key)
{
    struct rate_limit_cell *set = &limit->cells[key % SETS * WAYS];
    struct rate_limit_cell *fullest = &set[0];
    for (int i = 0; i < WAYS; i++) {
        if (set[i].key == key)
            return &set[i];
        if (set[i].full_at < fullest->full_at)
            fullest = &set[i];
    }
    *fullest = (struct rate_limit_cell){.key = key};
    return fullest;
}

static int seconds_up(int64_t ns)
{
    return (int)((ns + NS_PER_S - 1) / NS_PER_S);
}

static struct rate_limit_state take(struct rate_limit_cell *cell, int64_t per_minute, int64_t at)
{
    const int64_t interval_ns = WINDOW_NS / per_minute; /* the cost of one request */
    const int64_t next = (cell->full_at > at ? cell->full_at : at) + interval_ns;
    /* the remaining requests, as a time: each takes interval_ns */
    const int64_t room = at + WINDOW_NS - next;
    if (room < 0)
        return (struct rate_limit_state){.is_refused = true, .seconds = seconds_up(-room)};
    cell->full_at = next;
    int64_t remaining = room / interval_ns;
    int64_t wait = remaining ? next - at : interval_ns - room;
    return (struct rate_limit_state){.remaining = remaining, .seconds = seconds_up(wait)};
}

struct rate_limit_state rate_limit_take(struct rate_limit *limit, uint64_t key, mono_us now)
{
    const int64_t per_minute = atomic_load_explicit(&limit->per_minute, memory_order_relaxed);
    assert(key);
    if (!per_minute)
        return (struct rate_limit_state){0};
    pthread_mutex_t *lock = &limit->locks[key % RATE_LIMIT_STRIPES];
    mutex_lock(lock);
    struct rate_limit_state state = take(cell_of(limit, key), per_minute, now * NS_PER_US);
    mutex_unlock(lock);
    state.limit = limit;
    state.per_minute = per_minute;
    if (state.is_refused)
        atomic_fetch_add(&limit->refused, 1);
    return state;
}

int64_t rate_limit_left(struct rate_limit *limit, uint64_t key, mono_us now)
{
    const int64_t per_minute = atomic_load_explicit(&limit->per_minute, memory_order_relaxed);
    const int64_t at = now * NS_PER_US;
    assert(key);
    if (!per_minute)
        return INT64_MAX;
    int64_t full_at = at;
    pthread_mutex_t *lock = &limit->locks[key % RATE_LIMIT_STRIPES];
    mutex_lock(lock);
    const struct rate_limit_cell *set = &limit->cells[key % SETS * WAYS];
    for (int i = 0; i < WAYS; i++)
        if (set[i].key == key && set[i].full_at > at)
            full_at = set[i].full_at;
    mutex_unlock(lock);
    const int64_t room = at + WINDOW_NS - full_at;
    return room > 0 ? room / (WINDOW_NS / per_minute) : 0;
}

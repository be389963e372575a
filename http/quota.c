#include "http/quota.h"

#include <stdlib.h>

#include "base/mem.h"

/* 256 KiB. A stripe of sets shares a lock, see quota_take. */
enum { SETS = 4096, WAYS = 4 };
static const int64_t NS_PER_US = 1000;
static const int64_t NS_PER_S = 1000000000;
static const int64_t WINDOW_NS = QUOTA_WINDOW_S * NS_PER_S;

struct quota_cell {
    uint64_t key;    /* 0: free */
    int64_t full_at; /* when the bucket is full again: GCRA's theoretical arrival time */
};

void quota_init(struct quota *quota, const char *name, int64_t per_minute)
{
    *quota = (struct quota){.name = name, .per_minute = per_minute};
    for (size_t i = 0; i < QUOTA_STRIPES; i++)
        (void)pthread_mutex_init(&quota->locks[i], NULL);
    if (!per_minute)
        return;
    quota->interval_ns = WINDOW_NS / per_minute;
    quota->cells = mem_calloc(SETS * WAYS, sizeof(*quota->cells));
}

void quota_done(struct quota *quota)
{
    for (size_t i = 0; i < QUOTA_STRIPES; i++)
        (void)pthread_mutex_destroy(&quota->locks[i]);
    free(quota->cells);
}

static struct quota_cell *cell_of(struct quota *quota, uint64_t key)
{
    struct quota_cell *set = &quota->cells[key % SETS * WAYS];
    struct quota_cell *fullest = &set[0];
    for (int i = 0; i < WAYS; i++) {
        if (set[i].key == key)
            return &set[i];
        if (set[i].full_at < fullest->full_at)
            fullest = &set[i];
    }
    *fullest = (struct quota_cell){.key = key};
    return fullest;
}

static int seconds_up(int64_t ns)
{
    return (int)((ns + NS_PER_S - 1) / NS_PER_S);
}

static struct quota_state take(struct quota *quota, struct quota_cell *cell, int64_t at)
{
    const int64_t next = (cell->full_at > at ? cell->full_at : at) + quota->interval_ns;
    const int64_t room = at + WINDOW_NS - next; /* how much more could be taken at once, as time */
    if (room < 0)
        return (struct quota_state){.quota = quota, .is_refused = true, .seconds = seconds_up(-room)};
    cell->full_at = next;
    int64_t remaining = room / quota->interval_ns;
    int64_t wait = remaining ? next - at : quota->interval_ns - room;
    return (struct quota_state){.quota = quota, .remaining = remaining, .seconds = seconds_up(wait)};
}

struct quota_state quota_take(struct quota *quota, uint64_t key, mono_us now)
{
    if (!quota->cells)
        return (struct quota_state){0};
    pthread_mutex_t *lock = &quota->locks[key % QUOTA_STRIPES];
    (void)pthread_mutex_lock(lock);
    struct quota_state state = take(quota, cell_of(quota, key), now * NS_PER_US);
    (void)pthread_mutex_unlock(lock);
    if (state.is_refused)
        atomic_fetch_add(&quota->refused, 1);
    return state;
}

#include "api/quota.h"

#include <stdlib.h>

#include "base/mem.h"

/* 256 KiB; keys that share a set compete for its ways. */
enum { SETS = 4096, WAYS = 4 };
static const int64_t NS_PER_US = 1000;
static const int64_t NS_PER_S = 1000000000;
static const int64_t WINDOW_NS = QUOTA_WINDOW_S * NS_PER_S;

struct quota_cell {
    _Atomic uint64_t key;    /* 0: free */
    _Atomic int64_t full_at; /* when the bucket is full again: GCRA's theoretical arrival time */
};

void quota_init(struct quota *quota, const char *name, int64_t per_minute)
{
    *quota = (struct quota){.name = name, .per_minute = per_minute};
    if (!per_minute)
        return;
    quota->interval_ns = WINDOW_NS / per_minute;
    quota->cells = mem_calloc(SETS * WAYS, sizeof(*quota->cells));
}

void quota_done(struct quota *quota)
{
    free(quota->cells);
}

/* Two threads that bring the same new key at once may give it two cells; the second is forgotten in time. */
static struct quota_cell *cell_of(struct quota *quota, uint64_t key)
{
    struct quota_cell *set = &quota->cells[key % SETS * WAYS];
    for (;;) {
        struct quota_cell *oldest = &set[0];
        for (int i = 0; i < WAYS; i++) {
            if (atomic_load(&set[i].key) == key)
                return &set[i];
            if (atomic_load(&set[i].full_at) < atomic_load(&oldest->full_at))
                oldest = &set[i];
        }
        uint64_t before = atomic_load(&oldest->key);
        if (atomic_compare_exchange_strong(&oldest->key, &before, key)) {
            atomic_store(&oldest->full_at, 0);
            return oldest;
        }
    }
}

static int seconds_up(int64_t ns)
{
    return (int)((ns + NS_PER_S - 1) / NS_PER_S);
}

struct quota_state quota_take(struct quota *quota, uint64_t key, mono_us now)
{
    if (!quota->cells)
        return (struct quota_state){0};
    struct quota_cell *cell = cell_of(quota, key);
    const int64_t at = now * NS_PER_US;
    int64_t full_at = atomic_load(&cell->full_at);
    for (;;) {
        int64_t next = (full_at > at ? full_at : at) + quota->interval_ns;
        int64_t over = next - at - WINDOW_NS;
        if (over > 0) {
            atomic_fetch_add(&quota->refused, 1);
            return (struct quota_state){.quota = quota, .is_refused = true, .seconds = seconds_up(over)};
        }
        if (atomic_compare_exchange_weak(&cell->full_at, &full_at, next))
            return (struct quota_state){
                .quota = quota, .remaining = -over / quota->interval_ns, .seconds = seconds_up(next - at)};
    }
}

#include "loop/watchdog.h"

#include <inttypes.h>
#include <time.h>

#include "base/log.h"

enum { LOG_PAUSE_S = 10 };

static const struct {
    int64_t us;
    const char *le;
} edges[WATCHDOG_BUCKETS] = {
    {1000, "0.001"}, {2500, "0.0025"}, {5000, "0.005"}, {10000, "0.01"},  {20000, "0.02"},
    {50000, "0.05"}, {100000, "0.1"},  {500000, "0.5"}, {2500000, "2.5"},
};

/* Of this thread. */
static int64_t cpu_us(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * US_PER_S + t.tv_nsec / 1000;
}

static void raise_to(_Atomic int64_t *longest, int64_t value)
{
    if (value > atomic_load_explicit(longest, memory_order_relaxed))
        atomic_store_explicit(longest, value, memory_order_relaxed);
}

static void add(_Atomic uint64_t *counter, uint64_t n)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + n,
                          memory_order_relaxed);
}

static void report_hold(struct watchdog *w, int64_t took, int64_t took_cpu)
{
    if (w->at < w->next_log) {
        w->unlogged++;
        return;
    }
    log_warning("the loop was held up for {ms} ms by {by} {what}", "by", w->kind, "what", w->what, "ms",
                LOG_INT(took / US_PER_MS), "cpu_ms", LOG_INT(took_cpu / US_PER_MS), "not_told",
                LOG_INT(w->unlogged));
    w->unlogged = 0;
    w->next_log = w->at + LOG_PAUSE_S * US_PER_S;
}

void watchdog_wake(struct watchdog *w, const struct env *env)
{
    w->at = env_mono(env);
    w->cpu_us = cpu_us();
}

void watchdog_end(struct watchdog *w, const struct env *env)
{
    mono_us now = env_mono(env);
    int64_t cpu = cpu_us(), took = now - w->at, took_cpu = cpu - w->cpu_us;
    w->at = now;
    w->cpu_us = cpu;
    size_t bucket = 0;
    while (bucket < WATCHDOG_BUCKETS && took > edges[bucket].us)
        bucket++;
    add(&w->counts[bucket], 1);
    add(&w->sum_us, (uint64_t)took);
    raise_to(&w->longest_us, took);
    raise_to(&w->longest_cpu_us, took_cpu);
    if (took > WATCHDOG_STALL_MS * US_PER_MS)
        report_hold(w, took, took_cpu);
}

void watchdog_metrics(const struct watchdog *w, struct buffer *out)
{
    static const char name[] = "shootd_loop_stall_seconds";
    uint64_t count = 0;
    (void)buffer_printf(out, "# HELP %s How long single pieces of work held the loop.\n# TYPE %s histogram\n",
                        name, name);
    for (size_t i = 0; i <= WATCHDOG_BUCKETS; i++) {
        count += atomic_load(&w->counts[i]);
        (void)buffer_printf(out, "%s_bucket{le=\"%s\"} %" PRIu64 "\n", name,
                            i < WATCHDOG_BUCKETS ? edges[i].le : "+Inf", count);
    }
    (void)buffer_printf(out, "%s_sum %.6f\n%s_count %" PRIu64 "\n", name,
                        (double)atomic_load(&w->sum_us) / 1e6, name, count);
    (void)buffer_printf(
        out,
        "# HELP shootd_loop_longest_stall_seconds The longest of them, by the clock and in CPU "
        "time.\n# TYPE shootd_loop_longest_stall_seconds gauge\n"
        "shootd_loop_longest_stall_seconds{clock=\"wall\"} %.6f\n"
        "shootd_loop_longest_stall_seconds{clock=\"cpu\"} %.6f\n",
        (double)atomic_load(&w->longest_us) / 1e6, (double)atomic_load(&w->longest_cpu_us) / 1e6);
}

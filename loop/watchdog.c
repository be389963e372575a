#include "loop/watchdog.h"

#include <time.h>

#include "base/log.h"

enum { LOG_PAUSE_S = 10 };

static const struct histogram_edges edges = {
    9, {1000, 2500, 5000, 10000, 20000, 50000, 100000, 500000, 2500000}};

/* Returns the processor time of this thread. */
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

/* A stall without computing is usually that of a busy machine: nobody can mend it here. */
static void report_wait(const struct watchdog *w, int64_t took, int64_t took_cpu)
{
    log_debug("loop waited for {ms} ms in {by} {what}", "by", w->kind, "what", w->what, "ms",
              LOG_INT(took / US_PER_MS), "cpu_ms", LOG_INT(took_cpu / US_PER_MS));
}

static void report_hold(struct watchdog *w, int64_t took, int64_t took_cpu)
{
    if (w->at < w->next_log) {
        w->unlogged++;
        return;
    }
    log_warning("loop blocked for {ms} ms by {by} {what}", "by", w->kind, "what", w->what, "ms",
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
    histogram_add(&w->pieces, &edges, took);
    raise_to(&w->longest_us, took);
    raise_to(&w->longest_cpu_us, took_cpu);
    if (took_cpu > WATCHDOG_STALL_MS * US_PER_MS)
        report_hold(w, took, took_cpu);
    else if (took > WATCHDOG_STALL_MS * US_PER_MS)
        report_wait(w, took, took_cpu);
}

void watchdog_metrics(const struct watchdog *w, struct buffer *out)
{
    static const char name[] = "shootd_loop_stall_seconds", longest[] = "shootd_loop_longest_stall_seconds";
    metric_family(out, name);
    histogram_write_one(out, name, "", &edges, &w->pieces);
    metric_family(out, longest);
    metric_of(out, longest, "clock", "wall", (double)atomic_load(&w->longest_us) / (double)US_PER_S);
    metric_of(out, longest, "clock", "cpu", (double)atomic_load(&w->longest_cpu_us) / (double)US_PER_S);
}

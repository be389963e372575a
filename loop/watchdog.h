/*
 * Measures how long each piece of work blocks the loop; all other work on the loop waits during this time.
 * Each callback is measured by the clock and by the CPU time of the thread; load of other processes does not
 * change the CPU time. The loop thread writes, any thread reads.
 */
#ifndef LOOP_WATCHDOG_H
#define LOOP_WATCHDOG_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/assertion.h"
#include "base/env.h"
#include "base/metric.h"

enum { WATCHDOG_STALL_MS = 20 };

struct watchdog {
    const char *kind; /* the kind of the callback: timer, task, descriptor, publish */
    const char *what; /* a static text from loop_doing or from the timer, or NULL */
    mono_us at;       /* when the last piece of work ended, or when the loop woke */
    int64_t cpu_us;
    mono_us next_log;
    unsigned unlogged;
    struct histogram pieces;
    _Atomic int64_t longest_us, longest_cpu_us;
};

/* Called when the loop wakes and work begins, so that the idle time before is not counted. */
void watchdog_wake(struct watchdog *w, const struct env *env);
static inline void watchdog_begin(struct watchdog *w, const char *kind)
{
    w->kind = kind;
    w->what = NULL;
    assertion_about(NULL, NULL);
}
/* Called when a piece of work has ended. Counts its duration. Logs a duration above WATCHDOG_STALL_MS, at
 * most once in 10 s. */
void watchdog_end(struct watchdog *w, const struct env *env);
void watchdog_metrics(const struct watchdog *w, struct buffer *out);

#endif

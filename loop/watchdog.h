/*
 * How long single pieces of work hold the loop: everybody waits that long. Each callback is measured, by the
 * clock and by the CPU time of the thread (the one that a busy machine does not lengthen).
 * Written by the loop thread, read by any.
 */
#ifndef LOOP_WATCHDOG_H
#define LOOP_WATCHDOG_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/env.h"
#include "base/metric.h"

enum { WATCHDOG_STALL_MS = 20 };

struct watchdog {
    const char *kind; /* of the callback: timer, task, descriptor, publish */
    const char *what; /* static text that it gave, or NULL */
    mono_us at;       /* when the last piece ended */
    int64_t cpu_us;
    mono_us next_log;
    unsigned unlogged;
    struct histogram pieces;
    _Atomic int64_t longest_us, longest_cpu_us;
};

/* Work begins: what was before was waiting. */
void watchdog_wake(struct watchdog *w, const struct env *env);
static inline void watchdog_begin(struct watchdog *w, const char *kind)
{
    w->kind = kind;
    w->what = NULL;
}
/* A piece of work has ended: counts it, and logs one above WATCHDOG_STALL_MS, at most once in 10 s. */
void watchdog_end(struct watchdog *w, const struct env *env);
void watchdog_metrics(const struct watchdog *w, struct buffer *out);

#endif

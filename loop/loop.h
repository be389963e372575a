/*
 * The event loop: one thread, one epoll set, a timer heap, an eventfd mailbox. All deciding structs (lanes,
 * pollers, operations, webhooks) live on this thread, so they need no locks. Nothing that runs here may
 * block.
 */
#ifndef LOOP_LOOP_H
#define LOOP_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/env.h"
#include "base/heap.h"
#include "base/list.h"

struct loop;

/* env must outlive the loop. */
struct loop *loop_new(const struct env *env);
/* The thread must have left loop_run. Posted tasks that did not run are dropped by calling their `drop`. */
void loop_free(struct loop *loop);
const struct env *loop_env(const struct loop *loop);

/* Runs until loop_stop; the calling thread becomes the owner of everything on the loop. */
void loop_run(struct loop *loop);
/* One turn: waits at most until `deadline`, then runs what is due. For tests with a virtual clock. */
void loop_turn(struct loop *loop, mono_us deadline);
/* Any thread. Tasks that were posted before it are run, timers that are due are not. */
void loop_stop(struct loop *loop);
/* Loop thread: asserts that the caller is the owner. */
void loop_assert_owner(const struct loop *loop);
/* Any thread: grows with each turn; proof of progress for the watchdog (SD-4). */
uint64_t loop_heartbeat(const struct loop *loop);

/* Names the piece of work under way, for the watchdog: static text. Loop thread. */
void loop_doing(struct loop *loop, const char *what);
/* Appends shootd_loop_stall_seconds: how long pieces of work held the loop (loop/watchdog.h). Any thread. */
void loop_metrics(const struct loop *loop, struct buffer *out);
/* The longest piece of work since the start, by the clock and by CPU time. Any thread. */
void loop_longest_hold(const struct loop *loop, int64_t *ret_us, int64_t *ret_cpu_us);

/* A message to the loop thread. Embedded in what is sent; moves whole: after loop_post it belongs to the
 * loop. */
struct loop_task {
    struct list link;
    void (*run)(struct loop_task *task);
    void (*drop)(struct loop_task *task); /* instead of run when the loop ends first; may be NULL */
};
/* Any thread. Tasks run in the order of posting. */
void loop_post(struct loop *loop, struct loop_task *task);

/* A timer, embedded in its user. One that is set for now fires in the next turn. Loop thread only. */
struct loop_timer {
    struct heap_item item;
    void (*fire)(struct loop_timer *timer);
    const char *name; /* static text for the watchdog; may be NULL */
};
void loop_timer_set(struct loop *loop, struct loop_timer *timer, mono_us at);
void loop_timer_clear(struct loop *loop, struct loop_timer *timer);
static inline bool loop_timer_is_set(const struct loop_timer *timer)
{
    return heap_contains(&timer->item);
}

/* A watched descriptor, level-triggered. Loop thread only; must not move while it is watched. */
struct loop_watch {
    int fd;
    uint32_t events; /* EPOLLIN, EPOLLOUT */
    void (*ready)(struct loop_watch *watch, uint32_t events);
    bool added;
};
/* Adds or changes. */
void loop_watch_set(struct loop *loop, struct loop_watch *watch, uint32_t events);
/* Tolerates a descriptor that is closed already (UP-3). */
void loop_watch_clear(struct loop *loop, struct loop_watch *watch);

/* Called at the end of each turn in which anything ran: one place to publish and flush. Loop thread. */
void loop_set_after_turn(struct loop *loop, void (*after)(void *ctx), void *ctx);

#endif

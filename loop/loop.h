/*
 * The event loop: one thread, one epoll set, a heap of timers, and a mailbox with an eventfd. All structs on
 * which decisions are based (lanes, pollers, operations, webhooks) belong to this thread, so they need no
 * locks. Code on this thread must not block.
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

/* Makes a loop. `env` must stay valid as long as the loop. */
struct loop *loop_new(const struct env *env);
/* Frees the loop. No thread may be in loop_run. For posted tasks that did not run, `drop` is called. */
void loop_free(struct loop *loop);
const struct env *loop_env(const struct loop *loop);

/* Runs until loop_stop; the calling thread becomes the owner of everything on the loop. */
void loop_run(struct loop *loop);
/* Runs one turn: waits at most until `deadline`, then runs due work. For tests with a virtual clock. */
void loop_turn(struct loop *loop, mono_us deadline);
/* Ends the loop. Tasks that were posted before still run, but due timers do not. Any thread. */
void loop_stop(struct loop *loop);
/* Asserts that the calling thread is the owner of the loop. Loop thread. */
void loop_assert_owner(const struct loop *loop);
/* Returns a number that grows with each turn, as proof of progress for the watchdog of systemd (SD-4). Any
 * thread. */
uint64_t loop_heartbeat(const struct loop *loop);

/* Names the current piece of work for reports about a blocked loop (loop/watchdog.h); static text. Loop
 * thread. */
void loop_doing(struct loop *loop, const char *what);
/* Appends shootd_loop_stall_seconds: how long pieces of work blocked the loop (loop/watchdog.h). Any
 * thread. */
void loop_metrics(const struct loop *loop, struct buffer *out);
/* Returns the longest duration of a piece of work since the start, by the clock and by CPU time. Any
 * thread. */
void loop_longest_hold(const struct loop *loop, int64_t *ret_us, int64_t *ret_cpu_us);

/* A message to the loop thread: a member of the struct that is sent. After loop_post the whole struct belongs
 * to the loop. */
struct loop_task {
    struct list link;
    void (*run)(struct loop_task *task);
    void (*drop)(struct loop_task *task); /* called instead of run when the loop ends before the task runs;
                                           * may be NULL */
};
/* Posts a task. Tasks run in the order in which they were posted. Any thread. */
void loop_post(struct loop *loop, struct loop_task *task);

/* A timer: a member of the struct that uses it. A timer that is set for the current time fires in the next
 * turn. Only the loop thread uses it. */
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

/* A watched descriptor, level-triggered. Only the loop thread uses it. The struct must not move while its
 * descriptor is watched. */
struct loop_watch {
    int fd;
    uint32_t events; /* EPOLLIN, EPOLLOUT */
    void (*ready)(struct loop_watch *watch, uint32_t events);
    bool added;
};
/* Adds the watch, or changes its events. */
void loop_watch_set(struct loop *loop, struct loop_watch *watch, uint32_t events);
/* Removes the watch. Its descriptor may already be closed (UP-3). */
void loop_watch_clear(struct loop *loop, struct loop_watch *watch);

/* Sets a function that is called at the end of each turn in which anything ran. In the daemon only this
 * function publishes the view and sends events and answers (reconcile/turn.h). Loop thread. */
void loop_set_after_turn(struct loop *loop, void (*after)(void *ctx), void *ctx);
/* The function of loop_set_after_turn calls this when a piece of work has ended and the next one begins. Each
 * piece is measured alone, like a callback. Loop thread. */
void loop_next_piece(struct loop *loop);
/* Calls the function of loop_set_after_turn. Only tests call this; in the daemon the loop itself ends each
 * turn. Loop thread. */
void loop_end_turn(struct loop *loop);

#endif

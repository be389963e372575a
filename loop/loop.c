/*
 * The owner is the thread that runs the loop. Other threads use only the heartbeat and the mailbox. The mutex
 * of the mailbox is never held during a callback.
 */
#include "loop/loop.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/attrs.h"
#include "base/lock.h"
#include "base/mem.h"
#include "base/thread.h"
#include "loop/watchdog.h"

enum { LOOP_EVENTS_PER_TURN = 64 };

struct loop {
    const struct env *env;
    int epoll_fd;
    int wake_fd;
    pthread_mutex_t mailbox_lock;
    struct list mailbox;
    struct heap timers;
    pthread_t owner;
    atomic_bool has_owner;
    atomic_bool stopping;
    _Atomic uint64_t heartbeat;
    struct epoll_event *batch; /* events of this turn that are not handled yet */
    int batch_count;
    void (*after_turn)(void *ctx);
    void *after_ctx;
    struct watchdog watchdog;
};

struct loop *loop_new(const struct env *env)
{
    struct loop *loop = MEM_NEW(struct loop);
    loop->env = env;
    loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    loop->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (loop->epoll_fd < 0 || loop->wake_fd < 0)
        abort();
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = loop};
    if (epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, loop->wake_fd, &event) < 0)
        abort();
    mutex_init(&loop->mailbox_lock);
    list_init(&loop->mailbox);
    return loop;
}

void loop_free(struct loop *loop)
{
    if (!loop)
        return;
    assert(!atomic_load(&loop->has_owner));
    for (struct list *item = list_pop(&loop->mailbox); item; item = list_pop(&loop->mailbox)) {
        struct loop_task *task = CONTAINER_OF(item, struct loop_task, link);
        if (task->drop)
            task->drop(task);
    }
    heap_done(&loop->timers);
    (void)close(loop->wake_fd);
    (void)close(loop->epoll_fd);
    mutex_done(&loop->mailbox_lock);
    free(loop);
}

const struct env *loop_env(const struct loop *loop)
{
    return loop->env;
}

void loop_assert_owner(const struct loop *loop)
{
    assert(!atomic_load(&loop->has_owner) || pthread_equal(loop->owner, pthread_self()));
    (void)loop;
}

uint64_t loop_heartbeat(const struct loop *loop)
{
    return atomic_load(&loop->heartbeat);
}

void loop_doing(struct loop *loop, const char *what)
{
    loop_assert_owner(loop);
    loop->watchdog.what = what;
}

void loop_metrics(const struct loop *loop, struct buffer *out)
{
    watchdog_metrics(&loop->watchdog, out);
}

void loop_longest_hold(const struct loop *loop, int64_t *ret_us, int64_t *ret_cpu_us)
{
    *ret_us = atomic_load(&loop->watchdog.longest_us);
    *ret_cpu_us = atomic_load(&loop->watchdog.longest_cpu_us);
}

static void wake(struct loop *loop)
{
    uint64_t one = 1;
    ssize_t n = write(loop->wake_fd, &one, sizeof(one));
    (void)n; /* the write fails only when the counter is full, and then the loop wakes anyway */
}

void loop_post(struct loop *loop, struct loop_task *task)
{
    mutex_lock(&loop->mailbox_lock);
    bool first = list_is_empty(&loop->mailbox);
    list_append(&loop->mailbox, &task->link);
    mutex_unlock(&loop->mailbox_lock);
    if (first)
        wake(loop);
}

void loop_stop(struct loop *loop)
{
    atomic_store(&loop->stopping, true);
    wake(loop);
}

void loop_timer_set(struct loop *loop, struct loop_timer *timer, mono_us at)
{
    loop_assert_owner(loop);
    assert(timer->fire);
    heap_set(&loop->timers, &timer->item, at);
}

void loop_timer_clear(struct loop *loop, struct loop_timer *timer)
{
    loop_assert_owner(loop);
    heap_remove(&loop->timers, &timer->item);
}

void loop_watch_set(struct loop *loop, struct loop_watch *watch, uint32_t events)
{
    loop_assert_owner(loop);
    assert(watch->ready);
    struct epoll_event event = {.events = events, .data.ptr = watch};
    int op = watch->added ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
    int r = epoll_ctl(loop->epoll_fd, op, watch->fd, &event);
    /* libcurl may have closed and reopened the descriptor under the same number. */
    if (r < 0 && errno == ENOENT)
        r = epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, watch->fd, &event);
    else if (r < 0 && errno == EEXIST)
        r = epoll_ctl(loop->epoll_fd, EPOLL_CTL_MOD, watch->fd, &event);
    watch->added = r == 0;
    watch->events = events;
}

void loop_watch_clear(struct loop *loop, struct loop_watch *watch)
{
    loop_assert_owner(loop);
    if (watch->added)
        (void)epoll_ctl(loop->epoll_fd, EPOLL_CTL_DEL, watch->fd, NULL);
    watch->added = false;
    /* The caller may free the watch before the remaining events of this turn are handled, so its events are
     * dropped. */
    for (int i = 0; i < loop->batch_count; i++)
        if (loop->batch[i].data.ptr == watch)
            loop->batch[i].data.ptr = NULL;
}

void loop_set_after_turn(struct loop *loop, void (*after)(void *ctx), void *ctx)
{
    loop_assert_owner(loop);
    loop->after_turn = after;
    loop->after_ctx = ctx;
}

static bool run_mailbox(struct loop *loop)
{
    struct list batch;
    list_init(&batch);
    mutex_lock(&loop->mailbox_lock);
    for (struct list *item = list_pop(&loop->mailbox); item; item = list_pop(&loop->mailbox))
        list_append(&batch, item);
    mutex_unlock(&loop->mailbox_lock);
    bool any = false;
    for (struct list *item = list_pop(&batch); item; item = list_pop(&batch)) {
        struct loop_task *task = CONTAINER_OF(item, struct loop_task, link);
        watchdog_begin(&loop->watchdog, "task");
        task->run(task);
        watchdog_end(&loop->watchdog, loop->env);
        thread_step_aside();
        any = true;
    }
    return any;
}

/* Timers that are set while the timers run fire in the next turn. Therefore work that is split into slices
 * does not delay other work. */
static bool run_timers(struct loop *loop)
{
    mono_us now = env_mono(loop->env);
    uint64_t set_meanwhile = loop->timers.next_order;
    bool any = false;
    for (struct heap_item *item = heap_peek(&loop->timers);
         item && item->key <= now && item->order < set_meanwhile; item = heap_peek(&loop->timers)) {
        heap_remove(&loop->timers, item);
        struct loop_timer *timer = CONTAINER_OF(item, struct loop_timer, item);
        watchdog_begin(&loop->watchdog, "timer");
        loop->watchdog.what = timer->name;
        timer->fire(timer);
        watchdog_end(&loop->watchdog, loop->env);
        thread_step_aside();
        any = true;
    }
    return any;
}

static bool run_descriptors(struct loop *loop, struct epoll_event *events, int count)
{
    bool any = false;
    loop->batch = events;
    loop->batch_count = count;
    for (int i = 0; i < count; i++) {
        struct loop_watch *watch = events[i].data.ptr;
        if (events[i].data.ptr == loop) {
            uint64_t drained;
            ssize_t n = read(loop->wake_fd, &drained, sizeof(drained));
            (void)n;
        } else if (watch) {
            watchdog_begin(&loop->watchdog, "descriptor");
            watch->ready(watch, events[i].events);
            watchdog_end(&loop->watchdog, loop->env);
            thread_step_aside();
            any = true;
        }
    }
    loop->batch_count = 0;
    return any;
}

static const char end_of_turn[] = "end of a turn";

void loop_next_piece(struct loop *loop)
{
    loop_assert_owner(loop);
    if (!atomic_load(&loop->has_owner)) /* nothing is measured before the loop runs */
        return;
    watchdog_end(&loop->watchdog, loop->env);
    watchdog_begin(&loop->watchdog, end_of_turn);
}

void loop_end_turn(struct loop *loop)
{
    if (!loop->after_turn)
        return;
    watchdog_begin(&loop->watchdog, end_of_turn);
    loop->after_turn(loop->after_ctx);
    watchdog_end(&loop->watchdog, loop->env);
}

void loop_turn(struct loop *loop, mono_us deadline)
{
    struct epoll_event events[LOOP_EVENTS_PER_TURN];
    struct heap_item *first = heap_peek(&loop->timers);
    if (first && first->key < deadline)
        deadline = first->key;
    int n = loop->env->wait(loop->env, loop->epoll_fd, events, LOOP_EVENTS_PER_TURN, deadline);
    atomic_fetch_add(&loop->heartbeat, 1);
    watchdog_wake(&loop->watchdog, loop->env);
    bool any = run_descriptors(loop, events, n);
    any |= run_mailbox(loop);
    any |= run_timers(loop);
    if (any)
        loop_end_turn(loop);
}

void loop_run(struct loop *loop)
{
    enum { LONGEST_SLEEP_S = 5 }; /* an idle loop wakes this often, to change the heartbeat */
    assert(!atomic_load(&loop->has_owner));
    loop->owner = pthread_self();
    atomic_store(&loop->has_owner, true);
    while (!atomic_load(&loop->stopping))
        loop_turn(loop, env_mono(loop->env) + LONGEST_SLEEP_S * US_PER_S);
    /* Tasks that were posted during the last turn still run. */
    watchdog_wake(&loop->watchdog, loop->env);
    if (run_mailbox(loop))
        loop_end_turn(loop);
    atomic_store(&loop->has_owner, false);
}

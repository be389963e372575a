#include "base/thread.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/env.h"

enum {
    NICER = 5, /* the nice value of background threads; such a thread gets a third of the processor time of a
                * thread that answers requests */
    SHORT_SLICE_NS = 100000,
    PIECE_US = 50, /* the duration of work between two yields */
    /* A background thread leaves this much CPU time to others for each unit of its own; see NICER. */
    GIVEN_PER_WORK = 4,
    LONGEST_WORK_US = 4000, /* the longest work between two yields: a tick of Linux's clock */
    LONGEST_PIECE_US = 500,
    REST = 9,          /* ratio of pause to work while the threads that answer are busy */
    BUSY_PERCENT = 25, /* the threads that answer are busy above this share of the processors */
    LOOK_US = 3000,
};

/* sched_setattr(2), which glibc does not have. Linux 6.12 and later use the slice; earlier kernels ignore
 * it. */
static void set_priority(int nice, uint64_t slice_ns)
{
    struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime, deadline, period;
    } attr = {.size = sizeof(attr), .policy = SCHED_OTHER, .nice = nice, .runtime = slice_ns};
    if (syscall(SYS_sched_setattr, 0, &attr, 0) < 0)
        (void)setpriority(PRIO_PROCESS, 0, nice); /* on Linux `who` 0 means this thread, not its process */
}

void thread_answers(void)
{
    set_priority(getpriority(PRIO_PROCESS, 0), SHORT_SLICE_NS);
}

void thread_in_background(const char *name)
{
    (void)pthread_setname_np(pthread_self(), name);
    set_priority(getpriority(PRIO_PROCESS, 0) + NICER, 0);
}

/* ---- yielding ---- */

static int64_t clock_us(clockid_t clock)
{
    struct timespec now;
    (void)clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * US_PER_S + now.tv_nsec / 1000;
}

int thread_processors(void)
{
    static _Atomic int count;
    cpu_set_t allowed;
    if (!atomic_load(&count))
        atomic_store(&count, sched_getaffinity(0, sizeof(allowed), &allowed) ? 1 : CPU_COUNT(&allowed));
    return atomic_load(&count);
}

/* background_us is the processor time of the background threads. answering_us is the processor time of the
 * other threads at the last measurement, and looked_at is the time of that measurement. */
static _Atomic int64_t background_us, answering_us, looked_at;
static atomic_bool others_are_busy;

/* Whether the answering threads are busy. One thread measures this from time to time, for all threads. */
static bool others_busy(mono_us now)
{
    int64_t last = atomic_load(&looked_at);
    if (now - last < LOOK_US || !atomic_compare_exchange_strong(&looked_at, &last, now))
        return atomic_load(&others_are_busy);
    const int64_t answering = clock_us(CLOCK_PROCESS_CPUTIME_ID) - atomic_load(&background_us);
    const int64_t used = answering - atomic_exchange(&answering_us, answering);
    const bool busy = used * 100 > (now - last) * thread_processors() * BUSY_PERCENT;
    atomic_store(&others_are_busy, busy);
    return busy;
}

void thread_step_aside(void)
{
    static _Thread_local mono_us since, work_us = PIECE_US;
    static _Thread_local int64_t counted_us;
    const mono_us now = env_mono(env_real());
    if (now - since < work_us)
        return;
    const int64_t cpu_us = clock_us(CLOCK_THREAD_CPUTIME_ID);
    const int64_t worked = cpu_us - counted_us;
    counted_us = cpu_us;
    atomic_fetch_add(&background_us, worked);
    const bool busy = others_busy(now);
    if (busy) {
        const struct timespec rest = {.tv_nsec = (worked < LONGEST_PIECE_US ? worked : LONGEST_PIECE_US) *
                                                 REST * 1000};
        (void)nanosleep(&rest, NULL);
    } else {
        (void)sched_yield();
    }
    since = env_mono(env_real());
    /* Linux 6.18 takes the rest of its slice from a thread that yields. While other processes compute, each
     * 50 us of work would then cost some milliseconds. The next piece of work is therefore longer after a
     * long pause. */
    const int64_t fair_us = (since - now) / (busy ? REST + 1 : GIVEN_PER_WORK);
    work_us = fair_us < PIECE_US ? PIECE_US : fair_us > LONGEST_WORK_US ? LONGEST_WORK_US : fair_us;
}

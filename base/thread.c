#include "base/thread.h"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>

#include "base/env.h"

/* A third of the share of a thread that answers: enough to go on beside a flood of reads. */
enum { NICER = 5 };

void thread_in_background(const char *name)
{
    (void)pthread_setname_np(pthread_self(), name);
    /* On Linux `who` 0 is this thread, not its process. */
    (void)setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + NICER);
}

void thread_step_aside(void)
{
    /* Each time gives away a turn of some milliseconds where others compute without end: at half a
     * millisecond it keeps about the share that its nice value gives it. */
    enum { GO_ON_US = 500 };
    static _Thread_local mono_us since;
    if (env_mono(env_real()) - since < GO_ON_US)
        return;
    (void)sched_yield();
    since = env_mono(env_real());
}

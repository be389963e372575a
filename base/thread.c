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
    /* Where others compute without end, each time gives away some milliseconds: a tenth of them is worked
     * before the next, so that the work goes on. */
    enum { GO_ON_US = 150, SHARE = 10 };
    static _Thread_local mono_us since, go_on;
    const mono_us now = env_mono(env_real());
    if (now - since < go_on)
        return;
    (void)sched_yield();
    since = env_mono(env_real());
    go_on = (since - now) / SHARE > GO_ON_US ? (since - now) / SHARE : GO_ON_US;
}

#include "base/thread.h"

#include <pthread.h>
#include <sys/resource.h>

/* A third of the share of a thread that answers: enough to go on beside a flood of reads. */
enum { NICER = 5 };

void thread_in_background(const char *name)
{
    (void)pthread_setname_np(pthread_self(), name);
    /* On Linux `who` 0 is this thread, not its process. */
    (void)setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + NICER);
}

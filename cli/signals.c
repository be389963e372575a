#include "cli/signals.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

void signals_die(int number)
{
    sigset_t set;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, number);
    (void)fflush(NULL);
    (void)signal(number, SIG_DFL);
    (void)sigprocmask(SIG_UNBLOCK, &set, NULL);
    (void)raise(number);
    _Exit(128 + number); /* reached for a signal that is ignored by default */
}

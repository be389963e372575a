/* Signals. One thread. */
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

#include "base/attrs.h"

/* Writes buffered output and ends the program by this signal, so that the shell sees the signal. */
void signals_die(int number) ATTR_NORETURN;

#endif

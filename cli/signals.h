/* Signals. One thread. */
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

#include "base/attrs.h"

/* Ends the program by this signal, after writing what is buffered: the shell sees what it was. */
void signals_die(int number) ATTR_NORETURN;

#endif

/*
 * `shootd --health`: asks the running shootd whether it is ready, for a container's HEALTHCHECK and for
 * people.
 */
#ifndef DAEMON_HEALTH_CHECK_H
#define DAEMON_HEALTH_CHECK_H

#include "config/config.h"

/*
 * GET /readyz?verbose where `listen` says; a wildcard address is asked on loopback. Prints the answer, or why
 * there is none. An exit code: 0 it is ready, 1 it is not. Blocking, for 5 s at most.
 */
int health_check(const struct config *config);

#endif

/*
 * `shootd --health`: requests the readiness of the running shootd, for a container's HEALTHCHECK and for
 * people.
 */
#ifndef DAEMON_HEALTH_CHECK_H
#define DAEMON_HEALTH_CHECK_H

#include "config/config.h"

/*
 * Requests GET /readyz?verbose at `listen`; for a wildcard address on loopback. Prints the answer, or the
 * error. Returns an exit code: 0 when ready, 1 when not. Blocking, for 5 s at most.
 */
int health_check(const struct config *config);

#endif

/*
 * `shootd --health`: requests the readiness of the running shootd, for a container's HEALTHCHECK and for
 * people.
 */
#ifndef DAEMON_HEALTH_CHECK_H
#define DAEMON_HEALTH_CHECK_H

#include "config/config.h"

/*
 * Requests GET /readyz?verbose at the address of `listen`; for a wildcard address, on loopback. Prints the
 * answer, or the error. Returns an exit code: 0 when shootd is ready, 1 when it is not. Blocks for at most 5
 * s.
 */
int health_check(const struct config *config);

#endif

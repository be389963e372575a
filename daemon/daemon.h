/*
 * The running daemon: everything wired together, and the order in which it comes up and goes down. Main
 * thread.
 *
 * Threads: main (signals, watchdog, lifecycle), libmicrohttpd's pool (reads the view, posts commands), the
 * loop (decides, talks to Cleura and webhooks), the storage writer and the storage reader.
 */
#ifndef DAEMON_DAEMON_H
#define DAEMON_DAEMON_H

#include <stdbool.h>

#include "config/config.h"
#include "daemon/exit_codes.h"

struct daemon;

/* Brings everything up. NULL when something is not available; it was logged, and *ret_exit says with what to
 * end. */
struct daemon *daemon_start(const struct config *config, enum exit_code *ret_exit);
/* Whether every critical thread made progress since the last call: the ground for a watchdog ping (SD-4). */
bool daemon_is_alive(struct daemon *d);
/* Stops in order: no new connections, waiting requests answered, everything stored. Frees. */
void daemon_stop(struct daemon *d);

#endif

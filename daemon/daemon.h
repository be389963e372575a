/*
 * The running daemon: connects all parts, starts them in order, and stops them in order. Main thread.
 *
 * Threads: main (signals, watchdog, start and stop), libmicrohttpd's pool (reads the view, posts commands),
 * the loop (decides, calls Cleura and webhooks), the storage writer and the storage reader.
 */
#ifndef DAEMON_DAEMON_H
#define DAEMON_DAEMON_H

#include <stdbool.h>

#include "config/config.h"

/* The exit codes of the process, for systemd (SD-6). docs/operations.md repeats the table. */
enum exit_code {
    EXIT_OK = 0,
    EXIT_RUNTIME = 1,     /* an error at run time; a restart may help */
    EXIT_USAGE_ = 64,     /* wrong command line */
    EXIT_DEPENDENCY = 69, /* the state directory, port, lock or disk is not available; a restart may help */
    EXIT_CONFIG = 78,     /* a fault of the configuration, or a database of another version; a restart does
                           * not help */
};

struct daemon;

/* Starts everything; takes over the configuration, which came from `path` (NULL: the environment). Returns
 * NULL when a resource is not available; the reason was logged, and *ret_exit is the exit code. */
struct daemon *daemon_start(struct config *config, const char *path, enum exit_code *ret_exit);
/* Whether the event loop is alive: it has made progress since the last call, or has stood still for less than
 * 15 seconds. This is the condition for a watchdog ping (SD-4). */
bool daemon_is_alive(struct daemon *d);
/* Does the periodic work: handles tokens of `shootd admin-token`, ended reloads, and changed certificates.
 * Called every second and after each signal. Main thread. */
void daemon_poll(struct daemon *d);
/* Called after SIGHUP: reads the configuration again. Main thread. */
void daemon_reload(struct daemon *d);
/* Stops the parts in order: refuses new connections, answers waiting requests, stores everything. Then frees
 * the daemon. */
void daemon_stop(struct daemon *d);

#endif

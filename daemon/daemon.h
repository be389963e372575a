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

/* The exit codes of the process, for systemd (SD-6). docs/operations.md repeats the table. */
enum exit_code {
    EXIT_OK = 0,
    EXIT_RUNTIME = 1,     /* something broke while running: a restart may help */
    EXIT_USAGE_ = 64,     /* wrong command line */
    EXIT_DEPENDENCY = 69, /* state directory, port, lock or disk not available: a restart may help */
    EXIT_CONFIG = 78,     /* configuration or database version: a restart does not help */
};

struct daemon;

/* Brings everything up; takes the configuration, which came from `path` (NULL: the environment). NULL when
 * something is not available; it was logged, and *ret_exit says with what to end. */
struct daemon *daemon_start(struct config *config, const char *path, enum exit_code *ret_exit);
/* Whether every critical thread made progress since the last call: the ground for a watchdog ping (SD-4). */
bool daemon_is_alive(struct daemon *d);
/* The work of every second and after each signal: sees to a token that `shootd admin-token` made, and to a
 * configuration that is in force now, and to a certificate that changed. Main thread. */
void daemon_poll(struct daemon *d);
/* SIGHUP came: the configuration is read again. Main thread. */
void daemon_reload(struct daemon *d);
/* Stops in order: no new connections, waiting requests answered, everything stored. Frees. */
void daemon_stop(struct daemon *d);

#endif

/*
 * What surrounds the daemon, for daemon.c and main.c: the socket that it listens on, the directory of its
 * state, the journal, its version. Main thread, at start and at the end.
 */
#ifndef DAEMON_DAEMON_PRIVATE_H
#define DAEMON_DAEMON_PRIVATE_H

#include <stdbool.h>

/* ---- listen.c: systemd's socket if it passed one, else our own ---- */

struct listener {
    int fd;
    bool from_systemd; /* never shut down (SD-8), never closed */
    char *address;     /* for people: "http://127.0.0.1:8080" or "unix:/path" */
    char *unix_path;   /* to remove at the end, or NULL */
};

/* False with *ret_error (the caller frees it). `where` as in the configuration. */
bool listener_open(const char *where, struct listener *ret_listener, char **ret_error);
void listener_close(struct listener *l);

/* ---- state_dir.c ---- */

/*
 * The state directory: made when it is missing, opened once, and refused when others could change what is in
 * it. A descriptor, or -1 with *ret_error (the caller frees it) saying what is wrong and what to do.
 */
int state_dir_open(const char *path, char **ret_error);

/* ---- journal.c ---- */

/*
 * Log lines become journal fields when stderr is the journal, as $JOURNAL_STREAM tells (SD-16); else the
 * default stays. Before threads start.
 */
void journal_setup(void);

#endif

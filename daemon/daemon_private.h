/*
 * The surroundings of the daemon, for daemon.c and main.c: the socket that it listens on, the directory of
 * its state, the journal, its version. Main thread, at start and at the end.
 */
#ifndef DAEMON_DAEMON_PRIVATE_H
#define DAEMON_DAEMON_PRIVATE_H

#include <stdbool.h>

#include "config/config.h"

/* ---- listen.c: systemd's socket if it passed one, else our own ---- */

struct listener {
    int fd;
    bool from_systemd; /* never shut down (SD-8), never closed */
    char *address;     /* for people: "http://127.0.0.1:8080" or "unix:/path" */
    char *unix_path;   /* to remove at the end, or NULL */
};

/* False with *ret_error (the caller frees it). `where` as in the configuration; `scheme` is "http" or
 * "https". */
bool listener_open(const char *where, const char *scheme, struct listener *ret_listener, char **ret_error);
void listener_close(struct listener *l);

/* ---- certificate.c ---- */

struct tls;

/* The certificate that the configuration names. NULL: it names none, or *ret_error (the caller frees it) says
 * why it cannot be used. */
struct tls *certificate_open(const struct config *config, char **ret_error);

/* ---- state_dir.c ---- */

/*
 * The state directory: made when it is missing, opened once, and refused when others could change what is in
 * it. A descriptor, or -1 with *ret_error (the caller frees it) saying what is wrong and what to do.
 */
int state_dir_open(const char *path, char **ret_error);
/* For commands: root goes on as the owner of the directory, who is to read what is made in it. False: errno.
 */
bool state_dir_become_owner(int directory);

/* ---- journal.c ---- */

/*
 * Log lines become entries of the journal with fields, also when `auto` finds that stderr is the journal
 * ($JOURNAL_STREAM, SD-16); else lines on stderr. False, and the log says so: the journal was asked for, and
 * there is none. Before threads start.
 */
bool journal_setup(enum log_format format);

#endif

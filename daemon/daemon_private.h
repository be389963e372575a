/*
 * The environment of the daemon, for daemon.c and main.c: the listening socket, the state directory, the
 * journal, the version. Used on the main thread, at the start and at the end.
 */
#ifndef DAEMON_DAEMON_PRIVATE_H
#define DAEMON_DAEMON_PRIVATE_H

#include <stdbool.h>
#include <sys/types.h>

#include "config/config.h"

/* ---- listen.c: the socket that systemd passed, otherwise a new socket ---- */

struct listener {
    int fd;
    bool from_systemd; /* systemd passed the socket: it is never shut down (SD-8) and never closed */
    char *address;     /* the address for messages: "http://127.0.0.1:8080" or "unix:/path" */
    char *unix_path;   /* the path of the socket to remove at the end, or NULL */
    dev_t device;      /* with unix_path: the identity of that socket; another file under the path stays */
    ino_t inode;
};

/* Opens the socket. On a failure returns false and sets *ret_error (the caller frees it). `where` is an
 * address in the form of the configuration; `scheme` is "http" or "https". */
bool listener_open(const char *where, const char *scheme, struct listener *ret_listener, char **ret_error);
void listener_close(struct listener *l);

/* ---- certificate.c ---- */

struct tls;

/* Opens the certificate of the configuration. Returns NULL when none is configured, and when it is not
 * usable; *ret_error (the caller frees it) then gives the reason. */
struct tls *certificate_open(const struct config *config, char **ret_error);

/* ---- state_dir.c ---- */

/*
 * Opens the state directory: creates it when absent, and refuses it when other users could change its
 * content. Returns a descriptor, or -1; *ret_error (the caller frees it) then gives the fault and the remedy.
 */
int state_dir_open(const char *path, char **ret_error);
/* For commands: a process of root continues as the owner of the directory, so the owner can read new files.
 * False on a failure; errno then gives the reason. */
bool state_dir_become_owner(int directory);

/* ---- journal.c ---- */

/*
 * Selects the form of log lines: journal entries with fields, or lines on stderr. `auto` selects the journal
 * when stderr is connected to it ($JOURNAL_STREAM, SD-16). When the journal was requested but is not
 * available, logs that and returns false. Called before threads start.
 */
bool journal_setup(enum log_format format);

/* Starts the thread that writes the log, after journal_setup. A regular file needs no reader, so its lines
 * are written where they arise. */
void journal_start_writer(void);

#endif

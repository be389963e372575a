/* The listening socket: systemd's if it passed one, else our own. Main thread, at start. */
#ifndef DAEMON_LISTEN_H
#define DAEMON_LISTEN_H

#include <stdbool.h>

struct listener {
    int fd;
    bool from_systemd; /* never shut down (SD-8), never closed */
    char *address;     /* for people: "http://127.0.0.1:8080" or "unix:/path" */
    char *unix_path;   /* to remove at the end, or NULL */
};

/* False with *ret_error (the caller frees it). `where` as in the configuration. */
bool listener_open(const char *where, struct listener *ret_listener, char **ret_error);
void listener_close(struct listener *l);

#endif

/*
 * One thread accepts connections from the listening socket and passes them to the workers. libmicrohttpd can
 * accept connections by itself, but cannot stop accepting safely: in 0.9.75 MHD_quiesce_daemon ends the
 * process when a worker removes the socket from its epoll set before the caller does. When acceptor_stop has
 * returned, no connection is accepted any more. Connections in the kernel's queue wait for the next process
 * that has the socket (MH-15, MH-16).
 */
#ifndef HTTP_CONNECTION_ACCEPTOR_H
#define HTTP_CONNECTION_ACCEPTOR_H

#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/env.h"
#include "http/connection/clients.h"

enum acceptor_trouble { TROUBLE_FULL, TROUBLE_FAILED, TROUBLE_DROPPED, TROUBLE_MAX_ };

struct acceptor {
    const struct env *env;
    struct MHD_Daemon *daemon;
    int listen_fd;
    int wake_fd;
    unsigned limit;
    bool has_tls;
    struct reaper *reaper;
    struct peers peers; /* the number of connections of each address */
    pthread_t thread;
    int64_t complained[TROUBLE_MAX_]; /* when each kind of warning was last logged; used only on the
                                       * acceptor's thread */
    atomic_uint open;                 /* the number of accepted connections that are not closed yet */
    atomic_uint unseen;               /* the number of accepted connections that no worker has read yet */
    atomic_bool stopping;
    bool runs; /* used only by the caller of start and stop */
};

struct acceptor_options {
    const struct env *env;
    struct MHD_Daemon *daemon;
    int listen_fd;         /* the listening socket: non-blocking, owned by the caller */
    unsigned limit;        /* the limit of connections; further connections wait in the kernel's queue */
    bool has_tls;          /* with TLS a refused client gets no answer, because that would need a handshake */
    unsigned per_address;  /* the limit per client address; 0: no limit. A further connection takes the place
                            * of the one that was idle longest, and is refused when each one has a request */
    struct reaper *reaper; /* knows the idle connections; must be valid until acceptor_stop has returned */
    const struct trust *trust;
};

/* Starts the thread; returns a negative errno on failure. */
int acceptor_start(struct acceptor *a, const struct acceptor_options *options);
/* After this function has returned, no further connection is accepted. May be called again, on the thread
 * that started the acceptor. */
void acceptor_stop(struct acceptor *a);
/* Called after the daemon has stopped, because its workers report connections until then. */
void acceptor_done(struct acceptor *a);

/* Called when a worker has begun to read a connection. Any thread. */
void acceptor_seen(struct acceptor *a);
/* Called when a connection of this address was closed. `gave_place`: another connection has its place in the
 * count of the address (reaper_close_idle). Any thread. */
void acceptor_closed(struct acceptor *a, const struct sockaddr *address, bool gave_place);
/* Returns the number of connections that no worker has read yet. Any thread. */
unsigned acceptor_unseen(const struct acceptor *a);

#endif

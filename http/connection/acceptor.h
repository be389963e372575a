/*
 * One thread accepts connections from the listening socket and passes them to the workers. libmicrohttpd
 * could accept itself, but cannot stop safely. In 0.9.75 MHD_quiesce_daemon ends the process when a worker
 * notices the quiesce too early: before the caller has removed the socket from that worker's epoll set. Here
 * no connection is accepted after acceptor_stop has returned. Connections in the kernel's queue stay for the
 * next process that has the socket (MH-15, MH-16).
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
    struct peers peers; /* number of connections of each address */
    pthread_t thread;
    int64_t complained[TROUBLE_MAX_]; /* mono_us of the last warning; only on the acceptor's thread */
    atomic_uint open;                 /* accepted and not closed yet */
    atomic_uint unseen;               /* accepted, and not read by a worker yet */
    atomic_bool stopping;
    bool runs; /* used by the caller of start and stop */
};

struct acceptor_options {
    const struct env *env;
    struct MHD_Daemon *daemon;
    int listen_fd;        /* non-blocking; owned by the caller */
    unsigned limit;       /* simultaneous connections; further ones wait in the kernel's queue */
    bool has_tls;         /* a refused client gets no answer, because that would need a handshake */
    unsigned per_address; /* limit per client address; further ones are refused; 0: no limit */
    const struct trust *trust;
};

/* Negative errno on failure. */
int acceptor_start(struct acceptor *a, const struct acceptor_options *options);
/* Accepts no further connection after its return. May be called again; from the thread that started the
 * acceptor. */
void acceptor_stop(struct acceptor *a);
/* Called after the daemon has stopped, because its workers report connections until then. */
void acceptor_done(struct acceptor *a);

/* A worker has begun to read a connection. Any thread. */
void acceptor_seen(struct acceptor *a);
/* A connection of this address was closed. Any thread. */
void acceptor_closed(struct acceptor *a, const struct sockaddr *address);
/* The number of connections that no worker has read yet. Any thread. */
unsigned acceptor_unseen(const struct acceptor *a);

#endif

/*
 * Takes connections from the listening socket and hands them to the workers: one thread that only waits and
 * accepts. libmicrohttpd could do it itself, but cannot stop doing it: in 0.9.75 MHD_quiesce_daemon ends the
 * process when a worker notices the quiesce before the caller has taken the socket out of that worker's epoll
 * set. Here nobody accepts any more once acceptor_stop has returned, and what the kernel still queues is left
 * to the next process that holds the socket (MH-15, MH-16).
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
    struct peers peers; /* connections of each address */
    pthread_t thread;
    int64_t complained[TROUBLE_MAX_]; /* mono_us of the last warning; acceptor's thread */
    atomic_uint open;                 /* accepted and not closed yet */
    atomic_uint unseen;               /* accepted, and its worker did not look at it yet */
    atomic_bool stopping;
    bool runs; /* caller of start and stop */
};

struct acceptor_options {
    const struct env *env;
    struct MHD_Daemon *daemon;
    int listen_fd;  /* non-blocking; stays the caller's */
    unsigned limit; /* connections at a time; those beyond wait in the kernel's queue */
    bool has_tls;   /* a refused client gets no answer: that would take a handshake */
    unsigned
        per_address; /* of these, those of one client's address: further ones are refused; 0: any number */
    const struct trust *trust;
};

/* Negative errno on failure. */
int acceptor_start(struct acceptor *a, const struct acceptor_options *options);
/* When it returns, nothing is accepted any more. May be called again; from the thread that started it. */
void acceptor_stop(struct acceptor *a);
/* After the daemon has stopped: its workers report connections until then. */
void acceptor_done(struct acceptor *a);

/* A worker has begun to read a connection. Any thread. */
void acceptor_seen(struct acceptor *a);
/* A connection from an address is closed. Any thread. */
void acceptor_closed(struct acceptor *a, const struct sockaddr *address);
/* How many connections no worker has looked at yet. Any thread. */
unsigned acceptor_unseen(const struct acceptor *a);

#endif

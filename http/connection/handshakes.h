/*
 * Handshakes that wait for their client. libmicrohttpd 0.9.75 with epoll does not detect that a handshake has
 * read all available bytes, and calls the handshake again at once. A client that sends half a hello would
 * then keep a processor busy. Each handshake that waits for a packet would do the same. Therefore a
 * connection whose handshake has no more bytes is suspended. One thread with its own epoll set resumes the
 * connection when bytes arrive, or when the connection was shut down. A handshake that sends needs no
 * suspension: the server's handshake messages fit into the socket's buffer (TLS_NAMES_MAX).
 */
#ifndef HTTP_CONNECTION_HANDSHAKES_H
#define HTTP_CONNECTION_HANDSHAKES_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/list.h"

struct connection;

struct handshakes {
    pthread_t thread;
    int epoll_fd;
    int wake_fd; /* when it is readable, the thread must resume all connections, and then the thread ends */
    pthread_mutex_t lock; /* protects all members below except `held` */
    struct list waiting;  /* the waiting connections; only the thread removes them */
    bool stopping;        /* when true, no further connection is suspended */
    atomic_uint held;     /* the number of suspended connections; each is counted until its worker has noticed
                           * the resume (MH-13) */
};

/* Starts the thread; returns a negative errno on failure. */
int handshakes_start(struct handshakes *h);
/* Adds a connection with TLS that has just been opened. Called on the thread of the connection's worker. */
void handshakes_add(struct handshakes *h, struct connection *c);
/* Called before a connection that handshakes_add has added is freed, on the thread of the connection's
 * worker. */
void handshakes_remove(struct connection *c);
/* Resumes all connections and waits until their workers have noticed the resume. Afterwards no connection is
 * suspended, and the library may be stopped. */
void handshakes_stop(struct handshakes *h);
/* Called after the library was stopped. */
void handshakes_done(struct handshakes *h);

#endif

/*
 * Handshakes that wait for their client. libmicrohttpd 0.9.75 with epoll does not notice that a handshake has
 * read all there is: it tries it again at once, and again, so a client that sends half a hello and stays
 * keeps a processor busy, and each handshake does for as long as a packet takes to its client and back. A
 * connection that has no bytes to go on with in its handshake is therefore suspended, and one thread with an
 * epoll of its own resumes it when there are some, or when it was shut down. The other direction needs none
 * of this: what we send in a handshake fits into the socket's buffer (TLS_NAMES_MAX).
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
    int wake_fd;          /* readable: the thread is to resume all and to end */
    pthread_mutex_t lock; /* guards the rest but `held` */
    struct list waiting;  /* connections; only the thread takes them out */
    bool stopping;        /* nothing is suspended any more */
    atomic_uint held;     /* until the worker of a resumed connection has noticed (MH-13) */
};

/* Starts the thread; negative errno on failure. */
int handshakes_start(struct handshakes *h);
/* A connection with TLS that has just been opened. Its worker's thread. */
void handshakes_add(struct handshakes *h, struct connection *c);
/* Before such a connection is freed. Its worker's thread. */
void handshakes_remove(struct connection *c);
/* Resumes all and waits until their workers have noticed; from then on none is suspended. Then the library
 * may be stopped. */
void handshakes_stop(struct handshakes *h);
/* After the library was stopped. */
void handshakes_done(struct handshakes *h);

#endif

/*
 * Connections and their wall-clock limits, which libmicrohttpd's inactivity timeout does not give (MH-9). One
 * small thread looks at all connections now and then, and shuts those down that are over their limit. Workers
 * change the phase of their own connections without a lock; the list lock is taken only when connections come
 * and go.
 */
#ifndef HTTP_CONNECTION_CONNECTION_H
#define HTTP_CONNECTION_CONNECTION_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/env.h"
#include "base/list.h"
#include "http/connection/clients.h"
#include "http/connection/tls.h"

struct MHD_Connection;
struct handshakes;
struct response_cache;
struct problem;
struct server_request;

struct connection_limits {
    int64_t header_us; /* from the first byte to the end of the header section (HT-15) */
    int64_t body_us;   /* for the whole body */
    int64_t idle_us;   /* between two requests of a connection */
    int64_t send_us;   /* for the client to take the answer */
    int64_t reap_us;   /* how often connections are looked at */
};

enum connection_phase {
    PHASE_CONN_NEW,
    PHASE_CONN_HEADER,
    PHASE_CONN_BODY,
    PHASE_CONN_WORK,
    PHASE_CONN_SEND,
    PHASE_CONN_IDLE
};

/*
 * Closing without a reset. When an answer ends a connection before the whole request was read (a body that is
 * too large, wrong credentials), a plain close makes the kernel answer the rest with a reset. That can take
 * the answer away from the client, or from a proxy, which then reports a bad gateway. The socket therefore
 * stays open for a moment after libmicrohttpd has closed its own descriptor, and input is discarded (RFC
 * 9112, 9.6), unless too many wait so.
 */
enum { LINGERING_CLOSES_MAX = 256 };

struct lingering_closes {
    size_t count;
    struct {
        int fd;
        mono_us until;
    } items[LINGERING_CLOSES_MAX];
};

/* Memory of the application in a connection; zero at first. Its worker only. */
enum { CONNECTION_USER_BYTES = 96 };

struct connection {
    struct list link; /* reaper's lock */
    struct reaper *reaper;
    struct MHD_Connection *mhd;
    int fd;
    struct gnutls_session_int *tls; /* the library's session; NULL: plain HTTP */
    struct handshakes *handshakes;  /* with TLS */
    struct list handshake;          /* of one that waits: lock of the handshakes */
    bool handshake_ended;           /* the worker's */
    bool is_held;                   /* it waits, or waited until its worker notices; the worker's */
    struct tls_client client;       /* when knows_client */
    bool knows_client;
    char address[CLIENT_BYTES]; /* of the peer; "unix" of a local one */
    bool is_proxy;              /* that we trust */
    size_t target_len;          /* of the current request line */
    _Alignas(max_align_t) unsigned char user[CONNECTION_USER_BYTES];
    struct server_request *spare;          /* memory for the next request, or NULL */
    struct response_cache *response_cache; /* of the last answer of shared bytes, or NULL (http/send.c) */
    _Atomic int64_t due;                   /* mono_us; INT64_MAX: no limit; REAPED: shut down */
    _Atomic int phase;
};

struct reaper {
    const struct env *env;
    struct connection_limits limits;
    void (*tick)(void *ctx, mono_us now); /* every limits.reap_us, on the reaper's thread, without its lock */
    void *tick_ctx;
    pthread_t thread;
    pthread_mutex_t lock; /* guards all below but `reaped` */
    pthread_cond_t wake;
    struct list connections;
    size_t connection_count;
    struct lingering_closes lingering;
    bool stopping;
    atomic_uint reaped;
};

/* Starts the thread; negative errno on failure. */
int reaper_start(struct reaper *reaper, const struct env *env, const struct connection_limits *limits);
/* After the last connection is closed. */
void reaper_stop(struct reaper *reaper);

/* How many connections are open whose request was not read yet. Any thread. */
unsigned reaper_unread(struct reaper *reaper);
/* How many are closed but for what their clients still send. Any thread. */
size_t reaper_lingering(struct reaper *reaper);

struct connection *connection_open(struct reaper *reaper, struct MHD_Connection *mhd);
/* The client that showed a certificate in the handshake: looked at once for the same authorities. The
 * worker's thread, in a request. */
const struct tls_client *connection_client(struct connection *c, struct tls *tls);
/* The caller has freed the content of `response_cache`. */
void connection_close(struct connection *c);
/* Any thread, as long as the connection is open: it is over its limit now. */
void connection_expire(struct connection *c);
/* The connection is about to be closed with a request that was not read to its end: its client still gets the
 * answer (struct lingering_closes). The worker's thread. */
void connection_close_lingering(struct connection *c);
/* Answers with the problem, which is taken, and ends the connection: for what is found before the library
 * calls a handler. Nothing else may have been written for this request. The worker's thread. */
void connection_refuse(struct connection *c, struct problem *problem);
/*
 * Writes a problem as an answer past libmicrohttpd, on a connection where that has nothing to write, as far
 * as the socket takes it at once. It announces the end of the connection, which is the caller's to bring
 * about. `client` is for the log line. Any thread; with TLS (`tls` is the session) that of the worker.
 * fd -1: nothing can be written from here, there is only the line.
 */
void problem_send(const struct env *env, int fd, struct gnutls_session_int *tls, const char *client,
                  const struct problem *problem);
/* It was shut down: for being too slow, or refused. */
bool connection_is_reaped(const struct connection *c);
/* Enters a phase, whose clock starts at `now`; false when the connection was shut down meanwhile. The
 * worker's thread. */
bool connection_enter(struct connection *c, enum connection_phase phase, mono_us now);

#endif

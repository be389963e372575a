/*
 * Connections and their limits in real time, which libmicrohttpd's inactivity timeout does not provide
 * (MH-9). One thread checks all connections periodically and shuts down connections that exceed a limit.
 * Workers change the phase of their own connections without a lock. The lock of the list is taken only when
 * connections open and close.
 */
#ifndef HTTP_CONNECTION_CONNECTION_H
#define HTTP_CONNECTION_CONNECTION_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
    int64_t header_us; /* the time from the first byte to the end of the header section (HT-15) */
    int64_t body_us;   /* the time for the whole body */
    int64_t idle_us;   /* the time between two requests of a connection */
    int64_t send_us;   /* the time in which the client must receive the answer */
    int64_t reap_us;   /* the interval of the checks */
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
 * Connections that are closed without a reset. An answer may end a connection before the whole request was
 * read (a body that is too large, wrong credentials). After a plain close the kernel would answer the
 * remaining bytes with a reset, and the client may lose the answer because of the reset. When a proxy loses
 * the answer, it reports a bad gateway. Therefore the socket stays open for a short time after libmicrohttpd
 * has closed its own descriptor, and received bytes are discarded (RFC 9112, 9.6). The number of such sockets
 * is limited.
 */
enum { LINGERING_CLOSES_MAX = 256 };

struct lingering_closes {
    size_t count;
    struct {
        int fd;
        mono_us until;
    } items[LINGERING_CLOSES_MAX];
};

/* The size of the memory that a connection has for the application. The memory is zero at first, and only the
 * connection's worker uses it. */
enum { CONNECTION_USER_BYTES = 96 };

struct connection {
    struct list link; /* protected by the reaper's lock */
    struct reaper *reaper;
    struct MHD_Connection *mhd;
    int fd;
    struct gnutls_session_int *tls; /* the library's session; NULL: plain HTTP */
    struct handshakes *handshakes;  /* the handshakes, when there is TLS */
    struct list handshake;          /* in the list of waiting handshakes; protected by the lock of struct
                                     * handshakes */
    bool handshake_ended;           /* used by the worker */
    bool is_held; /* the handshake waits, or its worker has not noticed the end of the wait; used by the
                   * worker */
    struct tls_client client; /* valid when knows_client is set */
    bool knows_client;
    struct list of_address;     /* in the list of its address; protected by the reaper's lock */
    bool gave_place;            /* reaper_close_idle has chosen it; protected by the reaper's lock */
    uint64_t network;           /* the address as a number, as of peers_network */
    char address[CLIENT_BYTES]; /* the address of the peer; "unix" for a peer on a Unix socket */
    bool is_proxy;              /* the peer is a trusted proxy */
    size_t target_len;          /* the length of the target in the current request line */
    _Alignas(max_align_t) unsigned char user[CONNECTION_USER_BYTES];
    struct server_request *spare;          /* memory for the next request, or NULL */
    struct response_cache *response_cache; /* the response of the last answer with shared bytes, or NULL
                                            * (http/send.c) */
    _Atomic int64_t due; /* the time when the connection is shut down; INT64_MAX: there is no limit; REAPED:
                          * it was shut down */
    _Atomic int phase;
};

/* The connections of one address, in the order in which they were opened. */
struct address_connections;

struct reaper {
    const struct env *env;
    struct connection_limits limits;
    /* Called at intervals of limits.reap_us, on the reaper's thread, which does not hold the reaper's lock
     * during this call. */
    void (*tick)(void *ctx, mono_us now);
    void *tick_ctx;
    pthread_t thread;
    pthread_mutex_t lock; /* protects all members below except `reaped` */
    pthread_cond_t wake;
    struct list connections;
    struct address_connections *addresses; /* hash by network */
    size_t connection_count;
    struct lingering_closes lingering;
    bool stopping;
    atomic_uint reaped;
};

/* Starts the thread; returns a negative errno on failure. */
int reaper_start(struct reaper *reaper, const struct env *env, const struct connection_limits *limits);
/* Called after the last connection is closed. */
void reaper_stop(struct reaper *reaper);

/* Returns the number of open connections without a complete request. Any thread. */
unsigned reaper_unread(struct reaper *reaper);
/* Returns the number of closed connections whose clients still send. Any thread. */
size_t reaper_lingering(struct reaper *reaper);

/* Shuts down the connection of the address (peers_network) that has waited longest for its next request.
 * Returns false when each one has a request. The connection is closed soon after. Any thread. */
bool reaper_close_idle(struct reaper *reaper, uint64_t network);

struct connection *connection_open(struct reaper *reaper, struct MHD_Connection *mhd);
/* Returns the client certificate of the handshake. The certificate is verified once, and verified again when
 * the authorities have changed. The worker's thread, in a request. */
const struct tls_client *connection_client(struct connection *c, struct tls *tls);
/* Called when the connection is closed. The caller must have freed `response_cache`. Returns whether
 * reaper_close_idle has chosen the connection. */
bool connection_close(struct connection *c);
/* Makes the time limit of an open connection end now. Any thread. */
void connection_expire(struct connection *c);
/* Called before a connection with an incomplete request is closed, so that its client can still read the
 * answer (struct lingering_closes). Takes the reaper's lock. Runs on the worker's thread. */
void connection_close_lingering(struct connection *c);
/*
 * Takes over the problem, answers with it, and ends the connection. Used for faults that shootd finds before
 * the library calls a handler. No other bytes of an answer may have been sent. Runs on the worker's thread.
 */
void connection_refuse(struct connection *c, struct problem *problem);
/*
 * Writes a problem as an answer, without libmicrohttpd; the library must have nothing to write at this time.
 * Writes only the bytes that the socket accepts at once. The answer has `Connection: close`; the caller must
 * end the connection. `client` is for the log line. Any thread; with TLS (`tls` is the session) only the
 * worker's thread. With an fd of -1 the problem is logged but not sent, because the calling thread cannot
 * write to the socket.
 */
void problem_send(const struct env *env, int fd, struct gnutls_session_int *tls, const char *client,
                  const struct problem *problem);
/* Whether the connection was shut down, because it was too slow or was refused. */
bool connection_is_reaped(const struct connection *c);
/* Enters a phase, whose time limit starts at `now`. False when the connection was shut down in the meantime.
 * Runs on the worker's thread. */
bool connection_enter(struct connection *c, enum connection_phase phase, mono_us now);

#endif

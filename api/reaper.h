/*
 * Connections and their wall-clock limits, which libmicrohttpd's inactivity timeout does not give (MH-9). One
 * small thread looks at all connections now and then, and shuts those down that are over their limit. Workers
 * change the phase of their own connections without a lock; the list lock is taken only when connections come
 * and go.
 */
#ifndef API_REAPER_H
#define API_REAPER_H

#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "api/api.h"
#include "api/client.h"
#include "api/linger.h"
#include "base/list.h"
#include "base/token.h"

struct kept_response;
struct problem;
struct request;

enum connection_phase {
    PHASE_CONN_NEW,
    PHASE_CONN_HEADER,
    PHASE_CONN_BODY,
    PHASE_CONN_WORK,
    PHASE_CONN_SEND,
    PHASE_CONN_IDLE
};

enum { TOKEN_PRINT_BYTES = 16, TOKEN_PRINT_KEY_BYTES = 16 };

/* The credentials of the last request, known again by a keyed fingerprint (api/auth.c). */
struct last_token {
    bool is_set;
    uint8_t print[TOKEN_PRINT_BYTES];
    uint8_t digest[TOKEN_DIGEST_BYTES];
};

struct connection {
    struct list link; /* reaper's lock */
    struct reaper *reaper;
    int fd;
    char address[CLIENT_BYTES]; /* of the peer; "unix" of a local one */
    bool is_proxy;              /* that we trust */
    size_t target_len;          /* of the current request line */
    struct last_token last_token;
    struct request *spare;      /* memory for the next request, or NULL */
    struct kept_response *kept; /* of the last answer from the view, or NULL */
    _Atomic int64_t due;        /* mono_us; INT64_MAX: no limit; REAPED: shut down */
    _Atomic int phase;
};

struct reaper {
    const struct env *env;
    struct api_limits limits;
    void (*tick)(void *ctx, mono_us now); /* every limits.reap_us, on the reaper's thread, without its lock */
    void *tick_ctx;
    pthread_t thread;
    pthread_mutex_t lock; /* guards `connections`, `linger` and `stopping` */
    pthread_cond_t wake;
    struct list connections;
    struct lingering linger;
    bool stopping;
    atomic_uint reaped;
};

/* Starts the thread; negative errno on failure. */
int reaper_start(struct reaper *reaper, const struct env *env, const struct api_limits *limits);
/* After the last connection is closed. */
void reaper_stop(struct reaper *reaper);

/* How many connections are open whose request was not read yet. Any thread. */
unsigned reaper_unread(struct reaper *reaper);
/* How many are closed but for what their clients still send (api/linger.h). Any thread. */
size_t reaper_lingering(struct reaper *reaper);

struct connection *connection_open(struct reaper *reaper, struct MHD_Connection *mhd);
void connection_close(struct connection *c);
/* Any thread, as long as the connection is open: it is over its limit now. */
void connection_expire(struct connection *c);
/* The connection is about to be closed with a request that was not read to its end: its client still gets the
 * answer (api/linger.h). The worker's thread. */
void connection_linger(struct connection *c);
/* Answers with the problem, which is taken, and ends the connection: for what is found before the library
 * calls a handler. Nothing else may have been written for this request. The worker's thread. */
void connection_refuse(struct connection *c, struct problem *problem);
/* It was shut down: for being too slow, or refused. */
bool connection_is_reaped(const struct connection *c);
/* Enters a phase and starts its clock; false when the connection was shut down meanwhile. The worker's
 * thread. */
bool connection_enter(struct connection *c, enum connection_phase phase);

#endif

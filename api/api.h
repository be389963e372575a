/*
 * The REST API on the HTTP server of http/: its threads serve reads from the view and turn writes into
 * commands. Decides nothing about clusters. Started, drained and stopped by `daemon` on the main thread;
 * everything handed in through struct api_options must live until api_stop has returned.
 *
 * Stopping (MH-17): api_begin_drain, api_quiesce, api_drained, api_stop.
 */
#ifndef API_API_H
#define API_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/env.h"
#include "config/current.h"
#include "http/connection/connection.h"
#include "model/command.h"
#include "view/feed.h"
#include "view/view.h"

/* Every limit a client can run into. */
struct api_limits {
    struct connection_limits connection;
    int64_t command_us; /* deadline given to commands, by which the deciding side answers */
    int64_t overdue_us; /* so long after it the request is answered without the command's answer */
    int wait_max_s;     /* longest ?wait and Prefer: wait (AO-15) */
    unsigned waiters;   /* parked long polls in all; above it the current state is answered at once (AO-16) */
    unsigned waiters_per_token;
    unsigned streams; /* event streams in all; above it 503 */
    unsigned streams_per_token;
    int64_t stream_lifetime_us;       /* a tenth more or less (AO-24) */
    int64_t heartbeat_us;             /* of streams that have nothing to say (AO-23) */
    int64_t stream_backlog;           /* events that a stream that was live may fall behind */
    int64_t requests_per_minute;      /* of a token; 0: any number (HT-45) */
    int64_t auth_failures_per_minute; /* of a client's address; 0: any number */
    int64_t fresh_reads_per_minute;   /* of a token: reads that ask Cleura; 0: any number */
};

struct api_limits api_limits_default(void);
/* Those that the configuration says. */
void api_limits_take(struct api_limits *limits, const struct config *config);

struct oidc; /* oidc/oidc.h */

struct api_options {
    struct config_current *config;
    struct view *view;
    struct feed *feed; /* of new events, for streams */
    struct oidc *oidc; /* JWTs of issuers; NULL: none are taken */
    const struct env *env;
    int listen_fd;   /* bound, listening, non-blocking; not owned */
    struct tls *tls; /* NULL: plain HTTP. Not owned */
    /* Takes the command; any HTTP thread. cmd->reply is called exactly once, also for timeout and shutdown.
     */
    void (*post)(void *ctx, struct command *cmd);
    void *post_ctx;
    /* Appends the metric families of others; any HTTP thread. May be NULL. */
    void (*metrics)(void *ctx, struct buffer *out);
    void *metrics_ctx;
    /*
     * Whether the process makes progress (/livez), and whether the store takes changes (/readyz too); they
     * say in `why` what is wrong. Any HTTP thread. May be NULL.
     */
    bool (*live)(void *ctx, char *why, size_t size);
    bool (*writable)(void *ctx, char *why, size_t size);
    void *live_ctx;
    const char *version;
    const char *revision;
    const char *store_id; /* of the store, and of this start of the daemon: UUIDs */
    const char *start_id;
    /* Conditions to report although the server serves (/readyz?verbose): "" when there are none. */
    void (*remarks)(void *ctx, char *text, size_t size);
    /* The key that authenticates cursors, 32 bytes, copied; NULL: made anew at each start. */
    const uint8_t *cursor_secret;
    const struct api_limits *limits; /* NULL: api_limits_default() */
};

struct api;

/* Starts to serve. NULL on failure; *ret_error then says why and is freed by the caller. */
struct api *api_start(const struct api_options *options, char **ret_error);
/* Accepts no more connections; the listening socket stays open for a successor (MH-15, MH-16). */
void api_quiesce(struct api *api);
/* From here on answers close their connection, new writes get 503 shutting_down, and event streams end. */
void api_begin_drain(struct api *api);
/* Waits until no request is in flight, transmission included (MH-18); false when the time has passed. */
bool api_drained(struct api *api, int timeout_ms);
/* Answers what is still parked with 503, stops every HTTP thread, frees. A reply that comes later is dropped.
 */
void api_stop(struct api *api);
/* The configuration that is put into force; limits and the access log follow it. The loop thread. */
void api_configure(struct api *api, const struct config *config);
/* How many requests wait for their command. Any thread. */
unsigned api_parked(const struct api *api);

#endif

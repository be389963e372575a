/*
 * The REST API on the HTTP server of http/. The server's threads answer reads from the view and turn writes
 * into commands. The API makes no decisions about clusters. `daemon` starts, drains and stops it on the main
 * thread. All members of struct api_options must stay valid until api_stop has returned.
 *
 * Order of stopping (MH-17): api_begin_drain, api_quiesce, api_drained, api_stop.
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

/* All limits for clients. */
struct api_limits {
    struct connection_limits connection;
    int64_t command_us; /* the deadline of a command: the loop thread answers it within this time */
    int64_t overdue_us; /* how long a request waits for its result after the deadline; then it is answered
                         * without the result */
    int wait_max_s;     /* the longest ?wait and Prefer: wait (AO-15) */
    unsigned waiters;   /* the limit of requests that wait; a further request is answered at once with the
                         * current state (AO-16) */
    unsigned waiters_per_token;
    unsigned streams; /* the limit of all event streams; a request for a further stream gets 503 */
    unsigned streams_per_token;
    int64_t stream_lifetime_us; /* the lifetime of a stream, which is changed at random by up to a tenth
                                 * (AO-24) */
    int64_t heartbeat_us;       /* the interval of heartbeats in streams without events (AO-23) */
    int64_t stream_backlog; /* when a live stream is more than this number of events behind, it is ended */
    int64_t requests_per_minute;      /* the limit per token; 0: no limit (HT-45) */
    int64_t auth_failures_per_minute; /* the limit per client address; 0: no limit */
    int64_t fresh_reads_per_minute;   /* the limit of reads of Cleura per token; 0: no limit */
};

struct api_limits api_limits_default(void);
/* Takes the limits from the configuration. */
void api_limits_take(struct api_limits *limits, const struct config *config);

struct oidc; /* oidc/oidc.h */

struct api_options {
    struct config_current *config;
    struct view *view;
    struct feed *feed; /* the new events, for streams */
    struct oidc *oidc; /* JWTs of issuers; NULL: no JWT is accepted */
    const struct env *env;
    int listen_fd;   /* the socket: bound, listening, non-blocking; not owned */
    struct tls *tls; /* NULL: plain HTTP. Not owned */
    /* Takes over the command. cmd->give_back is called exactly once, also after a timeout and during a stop.
     * Called on any HTTP thread. */
    void (*post)(void *ctx, struct command *cmd);
    void *post_ctx;
    /* Appends the metric families of other folders; any HTTP thread. May be NULL. */
    void (*metrics)(void *ctx, struct buffer *out);
    void *metrics_ctx;
    /*
     * `live` returns whether the process makes progress (for /livez), `writable` returns whether the store
     * accepts changes (for /readyz). When the result is false, `why` gets the reason. Any HTTP thread. May be
     * NULL.
     */
    bool (*live)(void *ctx, char *why, size_t size);
    bool (*writable)(void *ctx, char *why, size_t size);
    void *live_ctx;
    const char *version;
    const char *revision;
    const char *store_id; /* the ids of the store and of this start of the daemon, two UUIDs */
    const char *start_id;
    /* Writes the conditions that an operator should know although the server works (/readyz?verbose); "" when
     * no such condition exists. */
    void (*remarks)(void *ctx, char *text, size_t size);
    /* The key that authenticates cursors, 32 bytes, copied; NULL: a new key at each start. */
    const uint8_t *cursor_secret;
    const struct api_limits *limits; /* the limits; NULL: those of api_limits_default() */
};

struct api;

/* Starts the server. Returns NULL on failure; *ret_error is then the reason, which the caller frees. */
struct api *api_start(const struct api_options *options, char **ret_error);
/* Accepts no more connections; the listening socket stays open for a successor (MH-15, MH-16). */
void api_quiesce(struct api *api);
/* After this call answers close their connection, new writes get 503 shutting_down, and event streams
 * end. */
void api_begin_drain(struct api *api);
/* Waits until no request is in flight; a request is in flight until its answer was sent (MH-18). Returns
 * false after the time limit. */
bool api_drained(struct api *api, int timeout_ms);
/* Answers suspended requests with 503, stops every HTTP thread, and frees the server. Command results that
 * come later are discarded. */
void api_stop(struct api *api);
/* Applies a new configuration of the limits and the access log. Loop thread. */
void api_configure(struct api *api, const struct config *config);
/* Called when the configuration has become the current one. When its rules for client certificates are not
 * the rules of the configuration before, the callers of that one are no longer valid. Loop thread. */
void api_in_force(struct api *api, const struct config *config);
/* Returns the number of requests that wait for their command. Any thread. */
unsigned api_parked(const struct api *api);

#endif

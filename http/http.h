/*
 * An HTTP server over libmicrohttpd: connections and their limits, framing, the stages of a request, content
 * negotiation, conditional requests, compression, CORS, suspended requests, event streams. The server knows
 * nothing about the content; an application provides a table of functions. One thread starts, drains and
 * stops the server. All options must stay valid until http_stop has returned.
 *
 * Order of stopping (MH-17): http_begin_drain, http_quiesce, http_drained, http_stop.
 */
#ifndef HTTP_HTTP_H
#define HTTP_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "http/server_request.h"
#include "http/connection/tls.h"

struct http;

/*
 * The functions of the application for a request, called on the worker of its connection; no function blocks.
 * The application's struct of a request begins with a struct server_request; its other members are zero at
 * first.
 */
struct http_application {
    size_t request_size;
    /* Called before and after each callback of the library, on a worker's thread, never nested. Data that the
     * application reads between `enter` and `leave` may be used until `leave`. NULL: the application does not
     * need this. */
    void (*enter)(void *ctx);
    void (*leave)(void *ctx);
    /* Returns the exact web origins that may read answers (HT-39 to HT-41), NULL-terminated; NULL: no origin
     * may read answers. Called between enter and leave. */
    char *const *(*cors_origins)(void *ctx);
    /* Called before all other functions of a request. */
    void (*begin)(struct server_request *r, void *ctx);
    /* Called when the header section is well-formed and the path is split. Returns a problem, or NULL to
     * continue; may also set the answer, or suspend the request. No byte of the body was read before this
     * call. */
    struct problem *(*check)(struct server_request *r);
    /*
     * Called when a request that was suspended by `check` or `check_resume` continues. `result` is NULL when
     * the result did not come in time. Takes over the result. The return value has the same meaning as that
     * of `check`. The pointer is NULL when `check` never suspends a request.
     */
    struct problem *(*check_resume)(struct server_request *r, void *result);
    /* Called when the body is complete: sets the answer, suspends the request, or returns a problem. */
    struct problem *(*handle)(struct server_request *r);
    /*
     * Called when a request that was suspended by `handle` or `resume` continues. `result` is NULL when the
     * result did not come in time. Takes over the result. The return value has the same meaning as that of
     * `handle`.
     */
    struct problem *(*resume)(struct server_request *r, void *result);
    /* Called for an answer with a problem: adds the problem's header fields. */
    void (*add_fields)(struct server_request *r, enum problem_code code);
    /* Called at the end of the request, with its outcome: NULL when the whole answer was sent. Frees the
     * application's part. */
    void (*done)(struct server_request *r, int64_t duration_us, const char *outcome);
    /* Called when the server stops, on the thread of http_stop: ends every event stream. */
    void (*end_streams)(void *ctx);
};

struct http_options {
    const struct env *env;
    int listen_fd; /* the socket: bound, listening, non-blocking; not owned */
    int threads;   /* the number of workers */
    unsigned connections;
    unsigned connections_per_address; /* 0: no limit */
    struct connection_limits limits;
    struct tls *tls;              /* NULL: plain HTTP. Not owned */
    char *const *trusted_proxies; /* see http/connection/clients.h */
    const struct http_application *application;
    void *ctx;
};

struct http_numbers {
    unsigned in_flight; /* the number of requests between their first handler call and the end of transmission
                         * (MH-17, MH-18) */
    unsigned suspended; /* the number of suspended requests that have an owner (http/suspend.h) */
    unsigned connections_reaped;
    uint64_t connections_refused;
};

struct connection_limits http_limits_default(void);

/* Starts the server. Returns NULL on failure; *ret_error is then the reason, which the caller frees. */
struct http *http_start(const struct http_options *options, char **ret_error);
/* Accepts no more connections; the listening socket stays open for a successor (MH-15, MH-16). */
void http_quiesce(struct http *http);
/* After this call answers close their connections, and requests that change something get 503. */
void http_begin_drain(struct http *http);
/* Waits until no request is in flight; a request is in flight until its answer was sent (MH-18). Returns
 * false after the time limit. */
bool http_drained(struct http *http, int timeout_ms);
/* Resumes suspended requests, stops every thread and frees the server. */
void http_stop(struct http *http);

/* Returns the present numbers. Any thread. */
struct http_numbers http_numbers(const struct http *http);

#endif

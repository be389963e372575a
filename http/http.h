/*
 * An HTTP server over libmicrohttpd: connections and their limits, framing, the life of a request, content
 * negotiation, conditional requests, compression, CORS, suspended requests, event streams. It knows nothing
 * of what is served: that is the application's, which hands in a table of functions. Started, drained and
 * stopped on one thread; everything handed in must live until http_stop has returned.
 *
 * Stopping (MH-17): http_begin_drain, http_quiesce, http_drained, http_stop.
 */
#ifndef HTTP_HTTP_H
#define HTTP_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "http/request.h"
#include "http/connection/tls.h"

struct http;

/*
 * The functions of the application for a request, on the worker of its connection; none of them blocks. Its
 * own part of a request follows the struct server_request, which is its first member, and is zero at first.
 */
struct http_application {
    size_t request_size;
    /* Around what the library asks for of a request: what is looked at in between may be kept until then. A
     * worker's thread; not nested. NULL: nothing is to be done. */
    void (*enter)(void *ctx);
    void (*leave)(void *ctx);
    /* Exact web origins that may read answers (HT-39 to HT-41), NULL-terminated; between enter and leave.
     * NULL: none.
     */
    char *const *(*cors_origins)(void *ctx);
    /* The request was made: before anything else. */
    void (*begin)(struct server_request *r, void *ctx);
    /* The header section is well-formed, the path taken apart. The problem, or NULL to go on; may also decide
     * the answer. */
    struct problem *(*check)(struct server_request *r);
    /* The whole body is here: decides the answer, suspends the request, or returns the problem. */
    struct problem *(*handle)(struct server_request *r);
    /* It was suspended, and goes on with this result, which is taken; NULL when it came not in time. */
    struct problem *(*resume)(struct server_request *r, void *result);
    /* A result that nobody takes any more. Any thread. */
    void (*discard)(void *result);
    /* A problem is answered: adds the header fields that it has besides. */
    void (*add_fields)(struct server_request *r, enum problem_code code);
    /* The request is over, and how: NULL when its answer was sent whole. Frees the application's part. */
    void (*done)(struct server_request *r, int64_t duration_us, const char *outcome);
    /* The server stops: ends every event stream. The thread of http_stop. */
    void (*end_streams)(void *ctx);
};

struct http_options {
    const struct env *env;
    int listen_fd; /* bound, listening, non-blocking; not owned */
    int threads;   /* workers */
    unsigned connections;
    unsigned connections_per_address; /* 0: any number */
    struct connection_limits limits;
    struct tls *tls;              /* NULL: plain HTTP. Not owned */
    char *const *trusted_proxies; /* see http/connection/clients.h */
    const struct http_application *application;
    void *ctx;
};

struct http_numbers {
    unsigned in_flight; /* requests, first handler call to the end of transmission (MH-17, MH-18) */
    unsigned suspended;
    unsigned connections_reaped;
    uint64_t connections_refused;
};

struct connection_limits http_limits_default(void);

/* Starts to serve. NULL on failure; *ret_error then says why and is freed by the caller. */
struct http *http_start(const struct http_options *options, char **ret_error);
/* Accepts no more connections; the listening socket stays open for a successor (MH-15, MH-16). */
void http_quiesce(struct http *http);
/* From here on answers close their connection, and requests that change something get 503. */
void http_begin_drain(struct http *http);
/* Waits until no request is in flight, transmission included (MH-18); false when the time is over. */
bool http_drained(struct http *http, int timeout_ms);
/* Resumes what is suspended, stops every thread, frees. */
void http_stop(struct http *http);

/* Any thread. */
struct http_numbers http_numbers(const struct http *http);

#endif

/* The server itself, as its parts see it. Members without a remark do not change after http_start. */
#ifndef HTTP_HTTP_PRIVATE_H
#define HTTP_HTTP_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#include "http/connection/acceptor.h"
#include "http/connection/handshakes.h"
#include "http/connection/connection.h"
#include "http/event_stream.h"
#include "http/http.h"
#include "http/suspend.h"

struct http {
    struct http_options options;
    struct MHD_Daemon *daemon;
    struct acceptor acceptor;
    struct reaper reaper;
    struct handshakes handshakes; /* with TLS */
    struct trust trust;
    struct suspensions suspensions;
    atomic_uint suspended_streams; /* until the worker of a resumed connection has noticed (MH-13) */
    atomic_bool draining;
    atomic_bool stopping;        /* nothing may be suspended any more */
    pthread_mutex_t flight_lock; /* guards in_flight against http_drained; uncontended but at drain */
    pthread_cond_t landed;
    atomic_uint in_flight;
};

/* ---- request.c ---- */

/* Opens a request; never NULL. The memory is that of the connection's last one, if there was one. */
struct server_request *server_request_new(struct http *http, struct MHD_Connection *mhd,
                                          struct connection *peer, const char *method, const char *version);
/* After the application has freed its part. */
void server_request_free(struct server_request *r);
/* The header section is here: every check that needs no body (docs/rules.md, the order of checks). False when
 * the answer is already decided. */
bool server_request_check(struct server_request *r, const char *target);
/* Keeps a chunk of the body. False when so much came that the connection is to be dropped (MH-3). */
bool server_request_append(struct server_request *r, const char *bytes, size_t len);
/* The whole request is here. */
void server_request_handle(struct server_request *r);
/* It was suspended and goes on. */
void server_request_resume(struct server_request *r);

/* ---- send.c ---- */

/* Queues r->answer, once. */
enum MHD_Result server_request_send(struct server_request *r);
/* Adds to the answer of an OPTIONS request what a preflight asks; `allow` are the methods of the resource. */
void http_answer_preflight(struct server_request *r, const char *allow);
/* Frees the data of its last answer that a connection keeps; NULL is allowed. */
void response_cache_free(struct response_cache *kept);

/* ---- event_stream.c ---- */

/* libmicrohttpd's content reader and its end; `cls` is a stream with a reference, or NULL for HEAD. */
ssize_t event_stream_read(void *cls, uint64_t position, char *bytes, size_t max);
void event_stream_response_free(void *cls);

#endif

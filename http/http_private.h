/* The state of the HTTP server that its files share. Members without a comment do not change after
 * http_start. */
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
    struct handshakes handshakes; /* used only with TLS */
    struct trust trust;
    struct suspensions suspensions;
    atomic_uint suspended_streams; /* the number of suspended streams; each is counted until its worker has
                                    * noticed the resume (MH-13) */
    atomic_bool draining;
    atomic_bool stopping;        /* when true, no further request may be suspended */
    pthread_mutex_t flight_lock; /* protects in_flight, because http_drained reads it; threads compete for it
                                  * only during a drain */
    pthread_cond_t landed;
    atomic_uint in_flight;
};

/* ---- server_request.c ---- */

/* Opens a request; the result is never NULL. Reuses the memory of the connection's last request, if there was
 * a request before. */
struct server_request *server_request_new(struct http *http, struct MHD_Connection *mhd,
                                          struct connection *peer, const char *method, const char *version);
/* Called after the application has freed its part. */
void server_request_free(struct server_request *r);
/* Called when the header section is complete: makes every check that needs no body (docs/rules.md, the order
 * of checks). Returns false when a check has set the answer. */
bool server_request_check(struct server_request *r, const char *target);
/* Called for a request that was suspended during these checks: makes the remaining checks. The return value
 * has the same meaning as that of server_request_check. */
bool server_request_resume_check(struct server_request *r);
/* Stores a piece of the body. False when the body is so long that the connection must be closed (MH-3). */
bool server_request_append(struct server_request *r, const char *bytes, size_t len);
/* Called when the whole request was received. */
void server_request_handle(struct server_request *r);
/* Called when a suspended request continues. */
void server_request_resume(struct server_request *r);

/* ---- send.c ---- */

/* Queues r->answer, once. */
enum MHD_Result server_request_send(struct server_request *r);
/* Adds the fields of a preflight's answer to the answer of an OPTIONS request. `allow` contains the methods
 * of the resource. */
void http_answer_preflight(struct server_request *r, const char *allow);
/* Frees the response that a connection caches for its next answer; NULL is allowed. */
void response_cache_free(struct response_cache *kept);

/* ---- event_stream.c ---- */

/* The content reader for libmicrohttpd, and the function that frees it. `cls` is a stream with a reference;
 * NULL: only the headers are sent (HEAD). */
ssize_t event_stream_read(void *cls, uint64_t position, char *bytes, size_t max);
void event_stream_response_free(void *cls);

#endif

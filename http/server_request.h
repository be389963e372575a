/*
 * One HTTP request, from its header section to the end of transmission. The request belongs to the
 * libmicrohttpd worker of its connection. Other threads use only its members `suspension` (http/suspend.h)
 * and `stream` (http/event_stream.h). The application's part follows the struct in memory (http/http.h).
 *
 *   OPENED --checks--> BODY --last byte--> handle --+--> ANSWERED --> done
 *    | |                                            +--> SUSPENDED --resume--> ANSWERED or SUSPENDED
 *    | +--> CHECK_SUSPENDED --resume--> as OPENED, with the remaining checks
 *    +--rejected: answered at once when a body would follow, else at the second call (MH-2)
 */
#ifndef HTTP_SERVER_REQUEST_H
#define HTTP_SERVER_REQUEST_H

#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "base/env.h"
#include "base/json.h"
#include "base/trace.h"
#include "http/answer.h"
#include "http/connection/connection.h"
#include "http/message/content.h"
#include "http/message/headers.h"
#include "http/message/target.h"
#include "http/rate_limit.h"
#include "model/problem.h"

enum method {
    METHOD_GET,
    METHOD_HEAD,
    METHOD_POST,
    METHOD_PUT,
    METHOD_PATCH,
    METHOD_DELETE,
    METHOD_OPTIONS,
    METHOD_TRACE,
    METHOD_CONNECT,
    METHOD_MAX_, /* the number of methods; this value also means an unknown method */
};

enum request_stage { STAGE_OPENED, STAGE_CHECK_SUSPENDED, STAGE_BODY, STAGE_SUSPENDED, STAGE_ANSWERED };

enum { REQUEST_ID_BYTES = 129, REQUEST_MAX_BODY = 1024 * 1024 };

struct event_stream;
struct http;
struct suspension;

struct server_request {
    struct http *server;
    struct MHD_Connection *mhd;
    struct connection *peer;
    const char *client; /* the address of the client, see http/connection/clients.h; NULL: it is not known */
    char forwarded_for[CLIENT_BYTES];
    enum request_stage stage;
    char id[REQUEST_ID_BYTES];
    struct trace trace;                 /* the trace, see server_request_trace; the span in it is the span of
                                         * this request */
    char caller_span[TRACE_SPAN_BYTES]; /* the span of the client; "": the client sent none */
    mono_us started;
    enum method method;
    const char *method_text;
    struct headers headers;
    bool is_http_1_0;
    bool has_body;      /* the framing announces a body */
    bool must_close;    /* no further request may be parsed on the connection */
    bool took_time;     /* the request had a body or was suspended, so `started` is not the present time */
    bool keeps_body;    /* the operation reads the body */
    bool may_compress;  /* set by the application: the answer contains no secret (HT-53) */
    const char *target; /* the target without the query */
    char *path;         /* decoded in place; segments point into it */
    struct path_segments segments;
    struct rate_limit_state rate_limit; /* the state of the rate limit for the answer; set by the
                                         * application */

    struct buffer body;
    size_t body_seen; /* the number of received bytes of the body, including bytes that are not stored */
    json_t *document; /* the parsed body */

    struct suspension *suspension;
    struct event_stream *stream; /* a reference to the stream, when the answer is one */
    enum problem_code problem;   /* the problem in the answer; PROBLEM_MAX_: there is no problem */
    struct answer answer;        /* must be the last member: the unused header fields at its end are not
                                  * cleared */
};

/* Returns the trace of the request: the client's trace, or a new one (HT-51). A trusted proxy decides whether
 * the trace is recorded; without a trusted proxy, shootd decides. */
const struct trace *server_request_trace(struct server_request *r);
/* Whether the server is stopping. Then a request that changes something is refused, and streams end. */
bool http_is_draining(const struct server_request *r);

const char *method_name(enum method method);
/* Returns a query parameter as it was sent, before the check of the query; NULL: absent. Borrowed. */
const char *http_query_text(const struct server_request *r, const char *name);

/* ---- checks for the application; each returns NULL, or a problem for its caller to return ---- */

/* Checks Expect, length, type and coding of the body, and Accept. Sets how much of the body is stored. */
struct problem *http_check_content(struct server_request *r, const struct content_rules *rules);
/* Called after the last byte: checks the size of the body. */
struct problem *http_check_body_size(struct server_request *r);
/* Parses the body as a JSON object into r->document and frees its bytes. Does nothing when the rules allow no
 * body. */
struct problem *http_read_document(struct server_request *r, const struct content_rules *rules);
/* Turns a 200 into 304, or returns a 412, by the preconditions of a read (HT-18). */
struct problem *http_apply_conditions(struct server_request *r, const char *etag);
/* Checks the preconditions of a POST to a collection, which exists and has no entity tag. */
struct problem *http_check_collection_conditions(const struct server_request *r);
/* For a path that supports only the methods of the bit set: returns the 405, or sets the answer to
 * OPTIONS. */
struct problem *http_refuse_method(struct server_request *r, unsigned allowed);

#endif

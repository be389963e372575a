/*
 * One HTTP request, from its header section to the end of transmission. Owned by the libmicrohttpd worker of
 * its connection; no other thread touches it, but for `parking` (api/park.h).
 *
 *   OPENED --checks--> BODY --last byte--> handler --+--> ANSWERED --> freed by NOTIFY_COMPLETED
 *      |                                             +--> PARKED --reply, resume--> ANSWERED
 *      +--rejected: answered at once when a body would follow, else at the second call (MH-2)
 */
#ifndef API_REQUEST_H
#define API_REQUEST_H

#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>

#include "api/answer.h"
#include "api/api.h"
#include "api/client.h"
#include "api/headers.h"
#include "api/params.h"
#include "api/quota.h"
#include "base/buffer.h"
#include "base/env.h"
#include "model/cluster.h"
#include "model/command.h"
#include "model/problem.h"
#include "model/trace.h"

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
    METHOD_MAX_, /* also: unknown */
};

enum request_stage { STAGE_OPENED, STAGE_BODY, STAGE_PARKED, STAGE_ANSWERED };

enum { REQUEST_ID_BYTES = 129, REQUEST_MAX_SEGMENTS = 8, REQUEST_MAX_BODY = 1024 * 1024 };

struct connection;
struct parking;
struct route;
struct stream;

struct request {
    struct api *api;
    struct MHD_Connection *mhd;
    struct connection *peer;
    const char *client; /* address of whom it comes from, see api/client.h; NULL: not known */
    char forwarded_for[CLIENT_BYTES];
    enum request_stage stage;
    char id[REQUEST_ID_BYTES];
    struct trace trace; /* see request_trace */
    mono_us started;
    enum method method;
    const char *method_text;
    const struct route *route; /* NULL while none matched */
    struct headers headers;
    bool is_http_1_0;
    bool has_body;   /* the framing announces one */
    bool must_close; /* nothing after this request may be parsed (6.5) */

    const char *target;                         /* without its query */
    char *path;                                 /* decoded in place; segments point into it */
    const char *segments[REQUEST_MAX_SEGMENTS]; /* of the path */
    unsigned segment_count;
    const char *project;  /* path parameters, or NULL */
    const char *name;     /* the cluster */
    const char *item;     /* id of an operation, webhook or token, name of an account */
    const char *delivery; /* id, below a webhook */
    struct params params;

    struct view_blob *token_blob; /* keeps `token` alive */
    const struct api_token *token;
    struct quota_state quota; /* of the token, or of an address whose credentials are wrong */

    struct buffer body;
    size_t body_seen;                       /* bytes received, kept or not */
    json_t *document;                       /* the parsed body */
    struct command_idempotency idempotency; /* key: digest, "" when none was given */

    struct parking *parking;
    struct stream *stream; /* the answer is one; a reference */
    /* Turns the command's answer into another form, or leaves it to the common way. NULL: none. */
    struct problem *(*finish)(struct request *r, struct command *cmd);
    struct problem *(*serve)(
        struct request *r);    /* answers from the view once a fresh read is over (api/fresh.h) */
    enum problem_code problem; /* PROBLEM_MAX_: none */
    struct answer answer;      /* last: see request_new */
};

/* Opens a request; never NULL. The memory is that of the connection's last one, if there was one. */
struct request *request_new(struct api *api, struct MHD_Connection *mhd, struct connection *peer,
                            const char *method, const char *version);
void request_free(struct request *r);

/* First call: every check that needs no body (appendix B, 2 to 9). False when the answer is already decided.
 */
bool request_check(struct request *r, const char *target);
/* The whole request is here: parses the body and runs the handler, which answers or parks. */
void request_handle(struct request *r);
/* It was parked and goes on: its command was answered, or is not waited for any longer. */
void request_resumed(struct request *r);

/* The trace that the request is part of: its client's, or one that begins here (HT-51). */
const struct trace *request_trace(struct request *r);

const char *method_name(enum method method);

#endif

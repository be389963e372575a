/*
 * How HTTP requests leave the process: one replaceable interface. Production uses libcurl on the loop
 * (transport_curl_new); tests answer from memory. Loop thread only.
 */
#ifndef LOOP_TRANSPORT_H
#define LOOP_TRANSPORT_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "loop/loop.h"
#include "loop/worker.h"

enum http_outcome {
    HTTP_ANSWERED,  /* a complete answer: see status */
    HTTP_NOT_SENT,  /* resolve, connect or TLS failed, or refused by policy: the peer saw nothing */
    HTTP_TIMEOUT,   /* the peer may have acted */
    HTTP_BROKEN,    /* reset, empty or partial answer: the peer may have acted */
    HTTP_TOO_LARGE, /* the answer passed max_body: the peer acted */
    HTTP_CANCELLED,
    HTTP_OUTCOME_MAX_,
};
const char *http_outcome_name(enum http_outcome outcome);

struct http_header {
    const char *name;
    const char *value;
};

/* Borrowed for the call of start. */
struct http_request {
    const char *method;
    const char *url;
    const struct http_header *headers; /* ends with a NULL name */
    const char *body;                  /* NULL: none */
    size_t body_len;
    int64_t connect_timeout_us;
    int64_t timeout_us;
    size_t max_body; /* bytes as they come: nothing is unpacked */
    /* Never reuse a connection: libcurl would silently re-send on a dead one (UP-10). Set for unsafe methods.
     */
    bool fresh_connection;
};

struct http_answer {
    enum http_outcome outcome;
    int status;                /* of an answer, also of one that was too large; else 0 */
    const char *content_type;  /* or NULL */
    const char *retry_after;   /* raw header, or NULL */
    const char *date;          /* so */
    const char *coding;        /* Content-Encoding, or NULL */
    const char *cache_control; /* so */
    const char *body; /* never NULL; NUL-terminated; of one that was too large: its first max_body bytes */
    size_t body_len;
    char **owned_body; /* the same bytes, to be taken out by whoever keeps them */
    const char *error; /* short class for logs, without addresses or secrets; NULL when answered */
    int64_t duration_us;
};

struct http_call; /* opaque handle */

struct transport {
    /* Starts a request. on_done runs once, later, on the loop thread; the answer is borrowed during it. */
    struct http_call *(*start)(struct transport *t, const struct http_request *request,
                               void (*on_done)(void *ctx, const struct http_answer *answer), void *ctx);
    /* Drops a call; on_done does not run. */
    void (*cancel)(struct transport *t, struct http_call *call);
    void (*free)(struct transport *t);
};

struct transport_options {
    const char *user_agent;
    bool https_only; /* false: http is possible too (loopback upstreams, webhooks.allow_http) */
    int max_connections;
    int64_t max_age_s;     /* longest idle time of a reused connection */
    const char *ca_file;   /* NULL: authorities_default_file() */
    struct worker *worker; /* reads the authorities; NULL: libcurl does, on the loop */
    /*
     * Called with each resolved address before connecting, and again with that of the connection before
     * anything is sent on it (WH-19); false refuses it. `host` is the URL's, without brackets. NULL: all are
     * allowed.
     */
    bool (*address_allowed)(void *ctx, const char *host, const struct sockaddr *address);
    void *address_ctx;
};

/* The loop and everything in options must outlive it. Call curl_global_init once before threads start. */
struct transport *transport_curl_new(struct loop *loop, const struct transport_options *options);
/* Whether http is refused, from the next request on. Loop thread, and before it runs. */
void transport_curl_set_https_only(struct transport *transport, bool https_only);

#endif

/*
 * Sends HTTP requests through one replaceable interface. Production uses libcurl on the loop
 * (transport_curl_new); tests answer from memory. Only the loop thread uses it.
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
    HTTP_ANSWERED,  /* the answer is complete; `status` has its status */
    HTTP_NOT_SENT,  /* the host name, the connection or TLS failed, or the policy refused the address: the
                     * peer received nothing */
    HTTP_TIMEOUT,   /* no answer in time; the peer may have executed the request */
    HTTP_BROKEN,    /* the connection broke, or the answer is empty or incomplete; the peer may have executed
                     * the request */
    HTTP_TOO_LARGE, /* the answer is longer than max_body; the peer executed the request */
    HTTP_CANCELLED,
    HTTP_OUTCOME_MAX_,
};
const char *http_outcome_name(enum http_outcome outcome);

struct http_header {
    const char *name;
    const char *value;
};

/* A request. Its pointers need to be valid only during the call of start. */
struct http_request {
    const char *method;
    const char *url;
    const struct http_header *headers; /* the name of the last one is NULL */
    const char *body;                  /* NULL: none */
    size_t body_len;
    int64_t connect_timeout_us;
    int64_t timeout_us;
    const char *proxy; /* http://[user:password@]host[:port]; NULL: none, whatever the environment says. Not
                        * allowed with options.address_allowed, which would see the proxy's address */
    size_t max_body;   /* the limit of the received bytes, counted before decompression */
    /*
     * Whether a new connection is used. On a reused connection that is dead, libcurl silently sends the
     * request again (UP-10). Therefore callers set this member for methods that change something (POST, PUT,
     * PATCH, DELETE).
     */
    bool fresh_connection;
};

struct http_answer {
    enum http_outcome outcome;
    int status;                /* the status of the answer, also of an answer that is too large; otherwise
                                * 0 */
    const char *content_type;  /* or NULL */
    const char *retry_after;   /* raw header, or NULL */
    const char *date;          /* raw header, or NULL */
    const char *coding;        /* Content-Encoding, or NULL */
    const char *cache_control; /* raw header, or NULL */
    const char *body;          /* never NULL, NUL-terminated; for HTTP_TOO_LARGE only the first max_body
                                * bytes */
    size_t body_len;
    char **owned_body; /* the same bytes; on_done may take them over, and then sets *owned_body to NULL */
    const char *error; /* a short text for logs, without addresses and secrets; NULL for an answer */
    int64_t duration_us;
};

struct http_call; /* opaque handle */

struct transport {
    /* Starts a request. on_done runs once, later, on the loop thread; the answer is valid only while on_done
     * runs. */
    struct http_call *(*start)(struct transport *t, const struct http_request *request,
                               void (*on_done)(void *ctx, const struct http_answer *answer), void *ctx);
    /* Discards a call; on_done does not run. */
    void (*cancel)(struct transport *t, struct http_call *call);
    void (*free)(struct transport *t);
};

struct transport_options {
    const char *user_agent;
    bool https_only; /* false: http is allowed, too (for Cleura's API on loopback, and with
                      * webhooks.allow_http) */
    int max_connections;
    int64_t max_age_s;     /* the longest idle time of a connection that is reused */
    const char *ca_file;   /* NULL: authorities_default_file() */
    struct worker *worker; /* loads the authorities; NULL: libcurl loads them on the loop */
    /*
     * Called with each resolved address before connecting, and with the connection's address before anything
     * is sent on it (WH-19). False refuses the address. `host` is the URL's host, without brackets. NULL: all
     * addresses are allowed.
     */
    bool (*address_allowed)(void *ctx, const char *host, const struct sockaddr *address);
    void *address_ctx;
};

/* The loop and all members of options must stay valid as long as the transport. Call curl_global_init once
 * before threads start. */
struct transport *transport_curl_new(struct loop *loop, const struct transport_options *options);
/* Sets whether http is refused; applies from the next request. Loop thread, or another thread before the
 * loop runs. */
void transport_curl_set_https_only(struct transport *transport, bool https_only);

#endif

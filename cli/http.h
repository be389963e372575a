/*
 * One HTTP request after the other to the server, over libcurl: time limits, bounds, and what of an answer is
 * no answer of ours. Requests that may be repeated are, a few times, with a note on standard error. One
 * thread.
 */
#ifndef CLI_HTTP_H
#define CLI_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attrs.h"
#include "base/buffer.h"
#include "base/json.h"

struct http;

struct http_options {
    const char *url;                    /* http://, https:// or unix:/path */
    const char *(*token_of)(void *ctx); /* called before each attempt, with token_ctx: the token, lent, or
                                           NULL; itself NULL: none is sent */
    void *token_ctx;
    const char *ca_file; /* NULL: the authorities of the system */
    unsigned retries;    /* how many times a request may be repeated */
    bool verbose;        /* a line on standard error for each request */
    /* Called about every 100 ms while a request is under way; may be NULL. True ends the request
     * (HTTP_STOPPED). */
    bool (*tick)(void *ctx);
    void *ctx;
};

struct http_request {
    const char *method;
    const char *path;   /* with its query */
    const char *accept; /* NULL: application/json */
    const char *body;   /* JSON, or NULL */
    const char *content_type;
    const char *idempotency_key;
    const char *etag;          /* sent as If-None-Match of a GET, else as If-Match */
    bool only_new;             /* If-None-Match: *, of a PUT: nothing is to be there yet */
    const char *last_event_id; /* of a stream */
    int64_t timeout_ms;        /* of one attempt; 0: a minute */
    bool once;                 /* is not repeated, and nothing is said: the caller does that */
    bool any_text;             /* a body that is no JSON is an answer */
    /* Gets the bytes as they come, for streams; nothing is collected then. False ends the transfer. */
    bool (*on_bytes)(void *ctx, const char *bytes, size_t len);
    void *ctx;
};

enum http_end {
    HTTP_ANSWERED,    /* an answer of the server, of any status */
    HTTP_UNREACHABLE, /* no connection, or it broke before the answer was whole */
    HTTP_SLOW,        /* no answer in time */
    HTTP_MISTAKEN,    /* address, certificate or its authorities are wrong: the same request fails again */
    HTTP_FOREIGN,     /* an answer, but not one of shootd: HTML, half JSON, a redirection */
    HTTP_TOO_LARGE,
    HTTP_STOPPED, /* by tick or on_bytes */
};

struct http_answer {
    enum http_end end;
    long status;        /* 0 without an answer */
    json_t *json;       /* NULL when there is none */
    struct buffer body; /* with any_text */
    char *etag;
    char *request_id;
    int64_t retry_after_s; /* -1: not said */
    bool unknown_host;     /* unreachable, for there is no such host; nor has it ever answered */
    bool repeated;         /* it is not the answer to the first attempt */
    char error[400];       /* unless answered: why, for people */
};

/* NULL with a message when the options cannot be used. */
struct http *http_new(const struct http_options *options, struct buffer *fault);
void http_free(struct http *http);
/* Waits for the answer. `ret` is freed with http_answer_done either way. */
void http_call(struct http *http, const struct http_request *request, struct http_answer *ret);
void http_answer_done(struct http_answer *answer);
/* Replaces tick of the options. */
void http_set_tick(struct http *http, bool (*tick)(void *ctx), void *ctx);
/* Requests are not repeated from now on: the caller asks again when it wants to. */
void http_never_repeat(struct http *http);
/* Sleeps, calling tick; true when that ends it early. */
bool http_pause(struct http *http, int64_t ms);

DEFINE_CLEANUP(http_cleanup, struct http *, http_free)
#define CLEANUP_ANSWER CLEANUP(http_answer_done)

#endif

/*
 * HTTP requests to the server over libcurl, one at a time and each with one attempt, with limits of time and
 * size. An answer that shootd would not send is refused (HTTP_FOREIGN). The proxies of the environment
 * (http_proxy, no_proxy and others) are used, but not for loopback. One thread.
 */
#ifndef CLI_HTTP_H
#define CLI_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attrs.h"
#include "base/buffer.h"
#include "base/json.h"

struct cli_http;

struct cli_http_options {
    const char *url;     /* the address: http://, https:// or unix:/path */
    const char *ca_file; /* NULL: the certificate authorities of the system */
    bool verbose;        /* prints a line on standard error for each request */
    /* Called about every 100 ms while a request is in progress; may be NULL. When it returns true, the
     * request ends (HTTP_STOPPED). */
    bool (*tick)(void *ctx);
    void *ctx;
};

struct cli_request {
    const char *method;
    const char *path;   /* the path, with the query */
    const char *accept; /* NULL: application/json */
    const char *body;   /* JSON, or NULL */
    const char *content_type;
    const char *token; /* the token, a secret; NULL: no token is sent */
    const char *idempotency_key;
    const char *etag;          /* the ETag, which is sent as If-None-Match with a GET, otherwise as
                                * If-Match */
    bool only_new;             /* sends If-None-Match: * with a PUT: the object must not exist yet */
    const char *last_event_id; /* the id of the event after which a stream continues; or NULL */
    int64_t timeout_ms;        /* the time limit of one attempt; 0: one minute */
    bool once;                 /* repeat_call does not repeat the request, and reports nothing */
    bool is_api;    /* an operation of shootd: its errors are problems, others are not its errors */
    bool any_text;  /* accepts a body that is not JSON */
    bool is_stream; /* the request asks for a stream of events */
};

enum http_end {
    HTTP_ANSWERED,    /* the server answered, with any status */
    HTTP_UNREACHABLE, /* there was no connection, or the connection broke before the answer was complete */
    HTTP_SLOW,        /* there was no answer in time */
    HTTP_MISTAKEN,    /* the address, the certificate or its authority is wrong: the same request would fail
                       * again */
    HTTP_FOREIGN,     /* the answer is not from shootd: HTML, incomplete JSON, an error that is no problem, a
                       * redirection */
    HTTP_TOO_LARGE,
    HTTP_STOPPED, /* `tick` ended the request, or its stream was closed */
};

struct cli_answer {
    enum http_end end;
    long status;        /* the status; 0: there was no answer */
    json_t *json;       /* the JSON in the body; NULL: the answer has no JSON */
    struct buffer body; /* the body, when the request has any_text */
    char *etag;
    char *request_id;
    int64_t retry_after_s; /* the seconds of Retry-After; -1: the answer has no Retry-After */
    bool unknown_host;     /* the host name has no address, and no earlier request was answered */
    bool repeated;         /* the answer belongs to a repeated attempt, not to the first */
    char error[400];       /* the reason for people, when there is no answer */
};

/* Makes an HTTP client. When the options cannot be used, writes a message to `fault` and returns NULL. */
struct cli_http *http_new(const struct cli_http_options *options, struct buffer *fault);
void http_free(struct cli_http *http);
/* Sends the request and waits for the answer. The caller frees `ret` with http_answer_done in any case. */
void http_call(struct cli_http *http, const struct cli_request *request, struct cli_answer *ret);
void http_answer_done(struct cli_answer *answer);

/*
 * Opens a stream of events: sends the request; http_stream_read then returns the bytes piece by piece. When
 * the answer is not a stream, it is in `ret` after http_stream_close. That function ends the transfer and
 * must always be called. `request` and `ret` must stay valid until then.
 */
struct http_stream;
struct http_stream *http_stream_open(struct cli_http *http, const struct cli_request *request,
                                     struct cli_answer *ret);
/* Waits up to about 100 ms for bytes, which are borrowed until the next call. The number of bytes may be 0.
 * Returns false when the stream has ended. */
bool http_stream_read(struct http_stream *stream, const char **ret_bytes, size_t *ret_len);
void http_stream_close(struct http_stream *stream);

/* Sleeps, and calls `tick` during the sleep. Returns true when `tick` ended the sleep early. */
bool http_pause(struct cli_http *http, int64_t ms);

DEFINE_CLEANUP(http_cleanup, struct cli_http *, http_free)
#define CLEANUP_ANSWER CLEANUP(http_answer_done)

#endif

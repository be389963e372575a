/*
 * The answer that will be sent, independent of libmicrohttpd: handlers fill it, http/send.c sends it. Part of
 * its request. Bodies are static bytes, an own text, or bytes that others serve too, which are not copied.
 */
#ifndef HTTP_ANSWER_H
#define HTTP_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attrs.h"
#include "base/json.h"
#include "base/buffer.h"

struct event_stream;
struct gzip_stream;

enum { ANSWER_MAX_HEADERS = 12, ANSWER_HEADER_BYTES = 256 };

struct answer_header {
    const char *name; /* static */
    char value[ANSWER_HEADER_BYTES];
};

struct answer {
    int status; /* 0: not decided */
    const char *bytes;
    size_t len;
    void *owner;                               /* of bytes that others serve too, or NULL */
    void (*release)(void *owner);              /* when they are needed no longer */
    char *text;                                /* owns bytes, or NULL */
    _Atomic(struct http_coded *) *coded_place; /* where the gzip form of prepared bytes is kept, or NULL */
    bool is_stream;                            /* the bytes come from `stream` as they arise */
    struct event_stream *stream;               /* a reference, or NULL when only the headers are wanted */
    bool is_unsized;                           /* the header section only, without a length; closes */
    struct gzip_stream *coded;                 /* makes the gzip form while it is sent, or NULL */
    bool secret;                               /* overwrite text before freeing it */
    unsigned header_count;
    struct answer_header headers[ANSWER_MAX_HEADERS]; /* last: what is not used is not cleared */
};

void answer_done(struct answer *a);
/* Adds a field; a value that does not fit is left out. Empty values too: libmicrohttpd refuses them (MH-6).
 */
void answer_header(struct answer *a, const char *name, const char *format, ...) ATTR_PRINTF(3, 4);
/* The same without a format, which the hot path has no time for. */
void answer_field(struct answer *a, const char *name, const char *value);
void answer_number(struct answer *a, const char *name, uint64_t number);

/* Each decides the status and the body. */
void answer_empty(struct answer *a, int status);
void answer_static(struct answer *a, int status, const char *type, const void *bytes, size_t len);
/*
 * Bytes that others serve too, with the place of their gzip form. They live until `release` is called with
 * `owner`; NULL: as long as the server.
 */
void answer_shared(struct answer *a, int status, const char *type, const void *bytes, size_t len,
                   _Atomic(struct http_coded *) *coded_place, void *owner, void (*release)(void *owner));
/* Takes `text`. */
void answer_text(struct answer *a, int status, const char *type, char *text, size_t len);
/* Takes `doc`. */
void answer_json(struct answer *a, int status, json_t *doc);

/* ---- for http/send.c ---- */

/* Chooses the coding of a decided answer; a 304 has the form whose tag the client named. */
void answer_compress(struct answer *a, bool is_head, const char *accept_encoding, const char *if_none_match);

#endif

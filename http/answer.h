/*
 * The answer to a request, independent of libmicrohttpd: handlers fill it, and http/send.c sends it. The
 * struct is a part of the request. The body is one of these: static bytes, a text that the answer owns,
 * shared bytes (they are not copied), or a stream.
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
    int status; /* 0: not decided yet */
    const char *bytes;
    size_t len;
    void *owner;                               /* the owner of shared bytes, or NULL */
    void (*release)(void *owner);              /* called when the bytes are no longer needed */
    char *text;                                /* the text that the answer owns, or NULL */
    _Atomic(struct http_coded *) *coded_place; /* where the gzip form of prepared bytes is cached, or NULL */
    bool is_stream;                            /* the bytes come from `stream` */
    struct event_stream *stream;               /* a reference to the stream, or NULL when only the headers are
                                                * sent */
    bool is_unsized; /* only the header section is sent, without a length; then the connection is closed */
    struct gzip_stream *coded; /* compresses the body while it is sent, or NULL */
    bool secret;               /* the text is overwritten before it is freed */
    struct {
        const char *name; /* the name, a static text; NULL: there is no such field */
        char *value;      /* the value, which the answer owns */
    } long_field;         /* the only field whose value may be longer than ANSWER_HEADER_BYTES */
    unsigned header_count;
    /* Must be the last member: a request is cleared only up to here (cleared_request in
     * http/server_request.c). */
    struct answer_header headers[ANSWER_MAX_HEADERS];
};

void answer_done(struct answer *a);
/* Adds a field. A field whose value does not fit is left out. A field with an empty value is left out, too,
 * because libmicrohttpd refuses it (MH-6). */
void answer_header(struct answer *a, const char *name, const char *format, ...) ATTR_PRINTF(3, 4);
/* Does the same as answer_header, but faster, because there is no format. */
void answer_field(struct answer *a, const char *name, const char *value);
void answer_number(struct answer *a, const char *name, uint64_t number);
/* Adds the only field of an answer whose value may be of any length. Takes over `value`, not empty. */
void answer_long_field(struct answer *a, const char *name, char *value);
/* Removes all fields. */
void answer_drop_fields(struct answer *a);

/* Each of the following functions sets the status and the body. */
void answer_empty(struct answer *a, int status);
void answer_static(struct answer *a, int status, const char *type, const void *bytes, size_t len);
/* Sets shared bytes, and the place where their gzip form is cached. The bytes must be valid until `release`
 * is called with `owner`; when `release` is NULL, they must be valid for the whole life of the server. */
void answer_shared(struct answer *a, int status, const char *type, const void *bytes, size_t len,
                   _Atomic(struct http_coded *) *coded_place, void *owner, void (*release)(void *owner));
/* Sets a text, and takes it over. */
void answer_text(struct answer *a, int status, const char *type, char *text, size_t len);
/* Sets a JSON document, and takes it over. */
void answer_json(struct answer *a, int status, json_t *doc);

/* ---- for http/send.c ---- */

/*
 * Chooses the coding of an answer whose status is set. A 304 gets the entity tag of the form (plain or gzip)
 * whose entity tag the client has sent; when it has sent both or none, the 304 gets the entity tag of the
 * form that the client would get now.
 */
void answer_compress(struct answer *a, bool is_head, const char *accept_encoding, const char *if_none_match);

#endif

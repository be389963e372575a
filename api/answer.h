/*
 * What will be sent, independent of libmicrohttpd: handlers fill it, api/respond.c sends it. Part of its
 * request. Bodies are static bytes, an own text, or a reference to a prepared blob of the view, which is not
 * copied.
 */
#ifndef API_ANSWER_H
#define API_ANSWER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/attrs.h"
#include "base/json.h"
#include "view/view.h"

struct request;
struct stream;

enum { ANSWER_MAX_HEADERS = 12, ANSWER_HEADER_BYTES = 256 };

#define TYPE_JSON    "application/json"
#define TYPE_PATCH   "application/merge-patch+json"
#define TYPE_YAML    "application/yaml"
#define TYPE_PROBLEM "application/problem+json"
#define TYPE_STREAM  "text/event-stream"
#define TYPE_TEXT    "text/plain; charset=utf-8"

struct answer_header {
    const char *name; /* static */
    char value[ANSWER_HEADER_BYTES];
};

struct answer {
    int status; /* 0: not decided */
    const char *bytes;
    size_t len;
    struct view_blob *blob;                    /* owns bytes, or NULL */
    char *text;                                /* owns bytes, or NULL */
    _Atomic(struct view_coded *) *coded_place; /* where the gzip form of prepared bytes is kept, or NULL */
    bool is_stream;                            /* the bytes come from `stream` as they arise */
    struct stream *stream;                     /* a reference, or NULL when only the headers are wanted */
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

/* Each decides the status and the body. */
void answer_empty(struct answer *a, int status);
void answer_static(struct answer *a, int status, const char *type, const void *bytes, size_t len);
/* Prepared bytes that live as long as the server, with the place of their gzip form. */
void answer_prepared(struct answer *a, int status, const char *type, const void *bytes, size_t len,
                     _Atomic(struct view_coded *) *coded_place);
/* Takes `text`. */
void answer_text(struct answer *a, int status, const char *type, char *text, size_t len);
/* Takes the reference; sends its body with its ETag. */
void answer_blob(struct answer *a, int status, struct view_blob *blob);
/* Takes `doc`. */
void answer_json(struct answer *a, int status, json_t *doc);

/* After the body was decided: turns a 200 into 304, or returns a 412, as the preconditions of the request say
 * (HT-18). */
struct problem *answer_apply_conditions(struct request *r, const char *etag);
/* The preconditions of a write of a resource with this tag. */
struct problem *check_write_conditions(struct request *r, const char *etag);

#endif

/* Interprets the header fields about the body of the request and about the requested answer (HT-10 to HT-13,
 * HT-54, AO-10). Pure. */
#ifndef HTTP_MESSAGE_CONTENT_H
#define HTTP_MESSAGE_CONTENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

struct headers;
struct problem;

#define TYPE_JSON    "application/json"
#define TYPE_PATCH   "application/merge-patch+json"
#define TYPE_YAML    "application/yaml"
#define TYPE_PROBLEM "application/problem+json"
#define TYPE_STREAM  "text/event-stream"
#define TYPE_LINES   "application/x-ndjson"
#define TYPE_TEXT    "text/plain; charset=utf-8"

enum content_flag {
    CONTENT_BODY = 1,           /* accepts a JSON object */
    CONTENT_BODY_OPTIONAL = 2,  /* with CONTENT_BODY: an absent body means an empty object */
    CONTENT_MERGE_PATCH = 4,    /* the body may also be application/merge-patch+json */
    CONTENT_ANY_TYPE = 8,       /* the Accept field is ignored: there is only one form */
    CONTENT_OFFERS_YAML = 16,   /* the operation also offers YAML */
    CONTENT_OFFERS_STREAM = 32, /* the operation also offers text/event-stream */
    CONTENT_OFFERS_LINES = 64,  /* the operation also offers application/x-ndjson */
    CONTENT_FLAGS_END_ = 128,   /* further flags belong to the application */
};

/* The content that an operation accepts and returns. */
struct content_rules {
    unsigned flags;
    size_t body_limit; /* the limit of the body in bytes; 0: the operation has no body, and a small body is
                        * ignored */
};

/* Returns the limit of the body for the operation, in bytes. */
size_t content_limit(const struct content_rules *rules);
/* Each of these checks returns NULL, or a problem that the caller owns. The check of Expect must be made
 * before all others. */
struct problem *content_check_expect(const struct headers *h);
struct problem *content_check(const struct headers *h, const struct content_rules *rules, bool is_patch,
                              bool has_body);
/* Whether the client prefers an event stream, and the operation offers one. */
bool content_prefers_stream(const struct headers *h, const struct content_rules *rules);

/* Returns the quality (0 to 1000) of a media type in an Accept value. An absent or empty field accepts every
 * type with 1000. */
unsigned accept_quality(const char *accept, const char *type);
/* Returns the weight of one list item such as "gzip;q=0.5"; 1000 for a malformed item. */
unsigned item_weight(const char *item, const char *end);

/* ---- the Prefer field (RFC 7240, AO-10) ---- */

struct preferences {
    int64_t wait_s; /* the value of `wait`; -1: the preference is absent */
    bool respond_async;
    bool minimal;        /* return=minimal */
    bool representation; /* return=representation */
};

/* Reads the preferences. The first value of each preference is used; unknown and malformed preferences are
 * ignored. */
struct preferences prefer_read(const struct headers *h);

/* ---- gzip of answers (HT-53). The plain form and the gzip form have their own strong entity tags, "x" and
 * "x-gz". Both belong to the same version, so preconditions accept both (base/etag.h) ---- */

/* Returns the quality (0 to 1000) that an Accept-Encoding value gives a coding, which may be "identity". The
 * result is -1 when the list contains neither the coding nor "*", and for NULL. */
int coding_quality(const char *accept_encoding, const char *coding);
/* Whether an Accept-Encoding value prefers gzip to no coding. False for NULL and "". */
bool compress_is_wanted(const char *accept_encoding);
/* Returns the gzip form; NULL when there is no memory, or when the gzip form is not smaller than the body.
 * The caller frees it. */
struct http_coded *compress_bytes(const char *bytes, size_t len, int level);
/* Begins a gzip form that is made in pieces; the caller ends it with deflateEnd. False: there is no
 * memory. */
struct z_stream_s;
bool compress_begin(struct z_stream_s *z, int level);

#endif

/* The meaning of the header fields for the body to come and for the answer wanted (HT-10 to HT-13, HT-54,
 * AO-10). Pure. */
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
    CONTENT_BODY = 1,           /* takes a JSON object */
    CONTENT_BODY_OPTIONAL = 2,  /* with CONTENT_BODY: no body is an empty object */
    CONTENT_MERGE_PATCH = 4,    /* the body may also be application/merge-patch+json */
    CONTENT_ANY_TYPE = 8,       /* the Accept field is not looked at: there is one form only */
    CONTENT_OFFERS_YAML = 16,   /* beside JSON */
    CONTENT_OFFERS_STREAM = 32, /* text/event-stream, beside JSON */
    CONTENT_OFFERS_LINES = 64,  /* application/x-ndjson, beside JSON */
    CONTENT_FLAGS_END_ = 128,   /* further flags are the application's */
};

/* The content that an operation takes and gives. */
struct content_rules {
    unsigned flags;
    size_t body_limit; /* bytes; 0: a small body is passed over */
};

/* The most bytes of body that the operation lets pass. */
size_t content_limit(const struct content_rules *rules);
/* Each returns NULL, or the problem, which the caller owns. Expect stands before all others. */
struct problem *content_check_expect(const struct headers *h);
struct problem *content_check(const struct headers *h, const struct content_rules *rules, bool is_patch,
                              bool has_body);
/* Whether the client prefers an event stream, and the operation offers one. */
bool content_prefers_stream(const struct headers *h, const struct content_rules *rules);

/* Quality (0 to 1000) that an Accept value gives a media type; an absent field takes everything. */
unsigned accept_quality(const char *accept, const char *type);
/* The weight of one list item, "gzip;q=0.5"; malformed ones count as 1 (1000). */
unsigned item_weight(const char *item, const char *end);

/* ---- the Prefer field (RFC 7240, AO-10) ---- */

struct preferences {
    int64_t wait_s; /* -1: none */
    bool respond_async;
    bool minimal;        /* return=minimal */
    bool representation; /* return=representation */
};

/* The first one of each preference counts; unknown and malformed ones are passed over. */
struct preferences prefer_read(const struct headers *h);

/* ---- gzip of answers (HT-53). Strong entity tags differ per coding: "x" and "x-gz" are one version in two
 * forms, and preconditions take either (http/message/conditional.h) ---- */

/* Quality (0 to 1000) that an Accept-Encoding value gives a coding, "identity" included; -1 when neither it
 * nor
 * "*" stands in the list, and for NULL. */
int coding_quality(const char *accept_encoding, const char *coding);
/* Whether an Accept-Encoding value wants gzip rather than nothing. NULL and "" do not. */
bool compress_is_wanted(const char *accept_encoding);
/* The gzip form; NULL when there is no memory for it or it is no smaller. The caller frees it. */
struct http_coded *compress_bytes(const char *bytes, size_t len, int level);
/* Begins one that is made piece by piece; the caller ends it with deflateEnd. False: no memory. */
struct z_stream_s;
bool compress_begin(struct z_stream_s *z, int level);

#endif

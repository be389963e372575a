/*
 * Collects the request header fields that are used, in one pass over libmicrohttpd's list (MH-4), and uses
 * these fields to decide where the request ends. The values are valid as long as the request exists; most of
 * them point into the connection's memory.
 */
#ifndef HTTP_MESSAGE_HEADERS_H
#define HTTP_MESSAGE_HEADERS_H

#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>

enum header_id {
    HEADER_HOST,
    HEADER_CONTENT_LENGTH,
    HEADER_TRANSFER_ENCODING,
    HEADER_CONTENT_TYPE,
    HEADER_CONTENT_ENCODING,
    HEADER_AUTHORIZATION,
    HEADER_EXPECT,
    HEADER_REQUEST_ID,
    HEADER_ACCEPT,
    HEADER_ACCEPT_ENCODING,
    HEADER_IF_MATCH,
    HEADER_IF_NONE_MATCH,
    HEADER_PREFER,
    HEADER_CACHE_CONTROL,
    HEADER_IDEMPOTENCY_KEY,
    HEADER_SEC_FETCH_SITE,
    HEADER_ORIGIN,
    HEADER_ACR_METHOD,
    HEADER_TRACEPARENT,
    HEADER_LAST_EVENT_ID,
    HEADER_FORWARDED_FOR,
    HEADER_MAX_,
};

struct headers {
    const char *values[HEADER_MAX_]; /* the values, without blanks around them; NULL: the field is absent.
                                      * Repeated lists are joined */
    unsigned counts[HEADER_MAX_];
    char *joined[HEADER_MAX_]; /* owns the values outside the connection's memory */
    bool has_joined;           /* one of `joined` is set */
    unsigned field_count;
    size_t bytes;
    const char *fault;  /* the part of the header section that is malformed, or NULL */
    bool lines_checked; /* each line was checked: it ends with CR LF and contains no NUL */
    const char *next;   /* while the fields are collected: where the next line must begin */
};

/*
 * Prevents libmicrohttpd from parsing cookies, which shootd does not use. When the memory of the connection
 * is too small for the cookies, the library would close the connection without an answer. Called before the
 * header section is read.
 */
void headers_refuse_cookies(struct MHD_Connection *mhd);
/* Collects the fields. `method` and `version` are the pointers from libmicrohttpd, which point into the
 * received bytes. */
void headers_collect(struct headers *h, struct MHD_Connection *mhd, const char *method, const char *version);
void headers_done(struct headers *h);
/* Whether the item equals `word`, ignoring case. */
bool header_item_is(const char *item, size_t len, const char *word);

/* ---- framing: the place where a request ends and the next request begins. It is checked before the rest of
 * the request is used (HT-14). Pure ---- */

struct problem;

struct framing {
    bool has_body;   /* a body is announced */
    bool must_close; /* no further request may be parsed on the connection */
};

struct framing framing_of(const struct headers *h);
/* Returns NULL, or a problem that forbids using any part of the request; the connection must then be closed.
 * The caller owns it. `target_len` is the length in the request line, including the query. */
struct problem *framing_check(const struct headers *h, size_t target_len, bool is_http_1_0);

#endif

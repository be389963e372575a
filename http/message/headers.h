/*
 * The request header fields we look at, collected in one pass over libmicrohttpd's list (MH-4), and what they
 * say of where the request ends. Values live as long as the request; most of them point into the connection's
 * memory.
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
    const char *values[HEADER_MAX_]; /* NULL: absent; no blanks around it; repeated lists are joined */
    unsigned counts[HEADER_MAX_];
    char *joined[HEADER_MAX_]; /* owns the values that are no part of the connection's memory */
    bool has_joined;           /* one of `joined` is set */
    unsigned field_count;
    size_t bytes;
    const char *fault;  /* what is malformed, or NULL */
    bool lines_checked; /* each line was seen to end with CR LF, and none to hold a NUL */
    const char *next;   /* while they are collected: where the next line has to begin */
};

/*
 * Keeps libmicrohttpd from parsing cookies, which nobody wants here and for which its memory may not suffice:
 * then it would close the connection without an answer. Before the header section is read.
 */
void headers_refuse_cookies(struct MHD_Connection *mhd);
/* `method` and `version` are those that libmicrohttpd hands over: they lie in the bytes that were received.
 */
void headers_collect(struct headers *h, struct MHD_Connection *mhd, const char *method, const char *version);
void headers_done(struct headers *h);
/* Iterates a comma-separated list: the next item without white space around it; false at the end. */
bool header_next_item(const char **cursor, const char **ret_item, size_t *ret_len);
/* item equals `word`, case-insensitive. */
bool header_item_is(const char *item, size_t len, const char *word);

/* ---- framing: where a request ends and the next one begins, before anything else of it is believed (6.5,
 * HT-14). Pure ---- */

struct problem;

struct framing {
    bool has_body;   /* one is announced */
    bool must_close; /* nothing after this request may be parsed */
};

struct framing framing_of(const struct headers *h);
/* NULL, or why nothing of the request may be believed; the connection then has to be closed. The caller owns
 * it. `target_len` is that of the request line, with its query. */
struct problem *framing_check(const struct headers *h, size_t target_len, bool is_http_1_0);

#endif

/* Where a request ends and the next one begins, before anything else of it is believed (6.5, HT-14). Pure. */
#ifndef HTTP_MESSAGE_FRAMING_H
#define HTTP_MESSAGE_FRAMING_H

#include <stdbool.h>
#include <stddef.h>

struct headers;
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

/* The Prefer field (RFC 7240, AO-10). Pure. */
#ifndef HTTP_MESSAGE_PREFER_H
#define HTTP_MESSAGE_PREFER_H

#include <stdbool.h>
#include <stdint.h>

struct headers;

struct preferences {
    int64_t wait_s; /* -1: none */
    bool respond_async;
    bool minimal;        /* return=minimal */
    bool representation; /* return=representation */
};

/* Of each preference the first one counts; unknown and malformed ones are passed over. */
struct preferences prefer_read(const struct headers *h);

#endif

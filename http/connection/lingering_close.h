/*
 * Closing without a reset. When an answer ends a connection before the whole request was read (a body that is
 * too large, wrong credentials), a plain close makes the kernel answer the rest of the body with a reset,
 * which can take the answer away from the client, or from a proxy, which then tells of a bad gateway. So the
 * socket stays open for a moment after libmicrohttpd has closed its own descriptor, and what comes is thrown
 * away (RFC 9112, 9.6).
 */
#ifndef HTTP_CONNECTION_LINGERING_CLOSE_H
#define HTTP_CONNECTION_LINGERING_CLOSE_H

#include <stddef.h>

#include "base/env.h"

enum { LINGERING_CLOSES_MAX = 256 };

struct lingering_closes {
    size_t count;
    struct {
        int fd;
        mono_us until;
    } items[LINGERING_CLOSES_MAX];
};

/* Keeps the connection of a descriptor that its owner is about to close; not when there are too many. */
void lingering_close_add(struct lingering_closes *l, int fd, mono_us now);
/* Throws away what has come, and closes what has ended or is over its time. Does not block. */
void lingering_close_check(struct lingering_closes *l, mono_us now);
/* Closes all. */
void lingering_close_done(struct lingering_closes *l);

#endif

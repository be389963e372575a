/* Parses the server-sent events of shootd's streams, from bytes as they arrive. Pure; one thread. */
#ifndef CLI_SSE_H
#define CLI_SSE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"

struct sse {
    struct buffer line, data;
    char type[64];
    char id[32]; /* the id of the last complete block, with or without data; a new stream continues after this
                  * id */
    char next_id[32]; /* the id of the block that is not complete yet */
    long retry_ms;    /* the retry time; -1: the stream sent no retry time */
    bool too_long;    /* a line or a block was longer than allowed, so the stream is not from shootd */
};

void sse_init(struct sse *sse);
void sse_done(struct sse *sse);
/*
 * Parses bytes and calls `on_event` for each complete block with data (type "" means "message"). False when
 * `on_event` returned false, or after a line that is too long.
 */
bool sse_take(struct sse *sse, const char *bytes, size_t len,
              bool (*on_event)(void *ctx, const char *type, const char *data), void *ctx);

#endif

/* Server-sent events, as the streams of shootd have them: a parser of bytes as they come. Pure; one thread.
 */
#ifndef CLI_SSE_H
#define CLI_SSE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"

struct sse {
    struct buffer line, data;
    char type[64];
    char id[32];      /* of the last whole block, also of one without data: where to go on */
    char next_id[32]; /* of the block under way */
    long retry_ms;    /* -1: not said */
    bool too_long;    /* a line or a block was larger than its bound: the stream is none of ours */
};

void sse_init(struct sse *sse);
void sse_done(struct sse *sse);
/*
 * Takes bytes; `on_event` gets each whole block with data (type "" is "message"). False when it returned
 * false, or after a line that is too long.
 */
bool sse_take(struct sse *sse, const char *bytes, size_t len,
              bool (*on_event)(void *ctx, const char *type, const char *data), void *ctx);

#endif

/*
 * The stream of events of the server, taken up again where it broke: nothing is missed and nothing comes
 * twice, also when the server restarts or is away for a while. One thread.
 */
#ifndef CLI_STREAM_H
#define CLI_STREAM_H

#include "cli/api.h"

struct stream_reader {
    const char *project, *cluster, *type; /* filters; NULL: all of them */
    /* A whole event, lent. NULL: events are missing here, what was read before is to be read anew. False ends
     * the stream. */
    bool (*on_event)(void *ctx, json_t *event);
    /* The stream is there, for the first time or again; may be NULL. */
    void (*on_open)(void *ctx);
    /* About every 100 ms while it is there, and while the server gives none but answers; it may ask the
     * server over another connection. True ends the stream. May be NULL. */
    bool (*on_tick)(void *ctx);
    void *ctx;
};

/* The number of the newest event. State that is read after it, and the stream behind it, miss nothing. */
int stream_newest(struct cli *cli, int64_t *ret_sequence);
/* Adds the filters to a question about events. */
void stream_add_filters(const struct stream_reader *reader, struct api_target *target);
/* Follows what comes after event `after`. Returns when the reader ends it (END_OK), and when it cannot go on,
 * after saying why. */
int stream_follow(struct cli *cli, const struct stream_reader *reader, int64_t after);

#endif

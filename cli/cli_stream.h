/*
 * Follows the stream of events of the server. After a break, a new stream continues at the same event, even
 * when the server restarts or cannot be reached for some time. No event is missed or reported twice. One
 * thread.
 */
#ifndef CLI_CLI_STREAM_H
#define CLI_CLI_STREAM_H

#include "cli/api.h"

struct stream_reader {
    const char *project, *cluster, *type; /* the filters; NULL: no filter */
    /* Receives a complete event, borrowed. An event of NULL means that events are missing at this point. Data
     * that was read before must then be read again. When this function returns false, the stream ends.
     */
    bool (*on_event)(void *ctx, json_t *event);
    /* Called when the stream was opened, for the first time or again; may be NULL. */
    void (*on_open)(void *ctx);
    /* Called about every 100 ms while the stream is open, and while the server answers but gives no stream.
     * The function may send requests over another connection. When the function returns true, the stream
     * ends. May be NULL. */
    bool (*on_tick)(void *ctx);
    void *ctx;
};

/* Reads the number of the newest event. A caller that reads the state after this call, and then follows the
 * stream from this number, misses no change. */
int stream_newest(struct cli *cli, int64_t *ret_sequence);
/* Adds the filters of the reader to a request for events. */
void stream_add_filters(const struct stream_reader *reader, struct api_target *target);
/* Follows the events after event `after`. Returns END_OK when the reader ends the stream, or an exit code
 * after reporting why it cannot continue. */
int stream_follow(struct cli *cli, const struct stream_reader *reader, int64_t after);

#endif

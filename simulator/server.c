#include "simulator/server.h"

#include "base/lock.h"
#include "base/mem.h"
#include "simulator/process.h"
#include "simulator/cloud/sim.h"

#include <assert.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define HANG_MS          60000
#define HANG_STEP_MS     50
#define OVERSIZE_PADDING (UINT64_C(70) * 1024 * 1024)
#define SLOW_PIECES      20
#define SLOW_DEFAULT_MS  100
#define STREAM_BLOCK     (64U * 1024U)

/* A body whose transmission is changed: the announced size, the bytes that are sent, and the speed. */
struct sim_stream {
    struct sim_exchange *x;
    uint64_t padding; /* the number of blanks before the text */
    uint64_t end;     /* the number of bytes that are sent */
    uint64_t promised;
};

static size_t stream_fill(const struct sim_stream *stream, uint64_t at, char *buffer, size_t room)
{
    assert(at <= stream->end);
    uint64_t left = stream->end - at;
    size_t size = left < room ? (size_t)left : room;
    for (size_t i = 0; i < size; i++)
        buffer[i] = at + i < stream->padding ? ' ' : stream->x->text[at + i - stream->padding];
    return size;
}

static ssize_t stream_read(void *context, uint64_t at, char *buffer, size_t room)
{
    struct sim_stream *stream = context;
    size_t size;
    if (at >= stream->end)
        return stream->end < stream->promised ? MHD_CONTENT_READER_END_WITH_ERROR
                                              : MHD_CONTENT_READER_END_OF_STREAM;
    if (stream->x->delivery == DELIVER_SLOW) {
        uint64_t piece = stream->end / SLOW_PIECES + 1;
        if (sim_sleep_ms(stream->x->sim, stream->x->delay_ms > 0 ? stream->x->delay_ms : SLOW_DEFAULT_MS))
            return MHD_CONTENT_READER_END_WITH_ERROR;
        room = room < piece ? room : (size_t)piece;
    }
    size = stream_fill(stream, at, buffer, room);
    if (at + size == stream->end)
        exchange_finish(stream->x, stream->x->status);
    return (ssize_t)size;
}

static void stream_free(void *context)
{
    free(context);
}

static struct MHD_Response *make_stream(struct sim_exchange *x)
{
    struct sim_stream *stream = mem_calloc(1, sizeof(*stream));
    stream->x = x;
    stream->padding = x->delivery == DELIVER_OVERSIZE ? OVERSIZE_PADDING : 0;
    stream->promised = stream->padding + x->text_size;
    stream->end = x->delivery == DELIVER_TRUNCATED ? x->text_size / 2 : stream->promised;
    return MHD_create_response_from_callback(stream->promised, STREAM_BLOCK, stream_read, stream,
                                             stream_free);
}

static struct MHD_Response *make_whole(struct sim_exchange *x)
{
    char *text = x->text;
    size_t size = x->text_size;
    static char nothing[1] = "";
    if (!text)
        return MHD_create_response_from_buffer(0, nothing, MHD_RESPMEM_PERSISTENT);
    x->text = NULL;
    return MHD_create_response_from_buffer(size, text, MHD_RESPMEM_MUST_FREE);
}

static void add_headers(struct MHD_Response *response, const struct sim_exchange *x)
{
    bool typed = false;
    for (void *at = json_object_iter(x->headers); at; at = json_object_iter_next(x->headers, at)) {
        const char *name = json_object_iter_key(at);
        const json_t *value = json_object_iter_value(at);
        char *number = json_is_string(value) ? NULL : json_dumps(value, JSON_ENCODE_ANY);
        (void)MHD_add_response_header(response, name, number ? number : json_string_value(value));
        typed = typed || !strcasecmp(name, "Content-Type");
        free(number);
    }
    if (!typed && x->content_type)
        (void)MHD_add_response_header(response, "Content-Type", x->content_type);
}

static bool client_left(struct sim_exchange *x)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(x->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct pollfd fd = {.events = POLLRDHUP};
    if (!info)
        return true;
    fd.fd = info->connect_fd;
    return poll(&fd, 1, 0) > 0 && (fd.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

static enum MHD_Result send_answer(struct sim_exchange *x)
{
    bool whole = x->delivery == DELIVER_WHOLE || !x->text || x->text_size == 0;
    struct MHD_Response *response = whole ? make_whole(x) : make_stream(x);
    enum MHD_Result result;
    if (!response)
        return MHD_NO;
    x->client_left = client_left(x);
    add_headers(response, x);
    /* The end of the request is counted before the client can see the end of the answer. A client that waits
     * for each answer therefore never has two requests in flight. */
    if (whole)
        exchange_finish(x, x->status);
    result = MHD_queue_response(x->connection, (unsigned)x->status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result drop_connection(struct sim_exchange *x)
{
    exchange_finish(x, 0);
    return MHD_NO;
}

static enum MHD_Result finish_request(struct sim_exchange *x)
{
    process_finish(x);
    for (int passed = 0; x->delivery == DELIVER_HANG && passed < HANG_MS; passed += HANG_STEP_MS)
        if (client_left(x) || sim_sleep_ms(x->sim, HANG_STEP_MS))
            break;
    if (x->delivery == DELIVER_HANG || x->delivery == DELIVER_DROP)
        return drop_connection(x);
    return send_answer(x);
}

static void keep_body(struct sim_exchange *x, const char *data, size_t size)
{
    size_t most = x->control ? EXCHANGE_STATE_MAX : EXCHANGE_BODY_MAX;
    assert(x->body_size <= most);
    if (x->body_too_large || size > most - x->body_size) {
        x->body_too_large = true;
        return;
    }
    char *grown = realloc(x->body, x->body_size + size);
    if (!grown) {
        x->body_too_large = true;
        return;
    }
    memcpy(grown + x->body_size, data, size);
    x->body = grown;
    x->body_size += size;
}

/* Sends the acknowledgement of a request's head now, instead of 40 ms later. Clients that send the head and
 * the body separately wait for the acknowledgement. */
static void acknowledge(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    int on = 1;
    if (info)
        (void)setsockopt(info->connect_fd, IPPROTO_TCP, TCP_QUICKACK, &on, sizeof(on));
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version ATTR_UNUSED,
                                  const char *upload_data, size_t *upload_data_size, void **state)
{
    struct sim *sim = context;
    struct sim_exchange *x = *state;
    if (!x) {
        acknowledge(connection);
        *state = x = process_begin(sim, connection, method, url);
        mutex_lock(&sim->lock);
        bool down = sim->down && !x->control;
        mutex_unlock(&sim->lock);
        return down ? drop_connection(x) : MHD_YES;
    }
    if (*upload_data_size > 0) {
        keep_body(x, upload_data, *upload_data_size);
        *upload_data_size = 0;
        return MHD_YES;
    }
    return finish_request(x);
}

static void on_completed(void *context ATTR_UNUSED, struct MHD_Connection *connection ATTR_UNUSED,
                         void **state, enum MHD_RequestTerminationCode code ATTR_UNUSED)
{
    *state = exchange_free(*state);
}

/* Escapes are decoded segment by segment after the path has been split. */
static size_t keep_escapes(void *context ATTR_UNUSED, struct MHD_Connection *connection ATTR_UNUSED,
                           char *text)
{
    return strlen(text);
}

struct MHD_Daemon *server_start(struct sim *sim, const struct sockaddr_in *address, uint16_t *ret_port)
{
    unsigned flags =
        MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL | MHD_USE_ITC;
    const union MHD_DaemonInfo *info;
    struct MHD_Daemon *daemon = MHD_start_daemon(
        flags, ntohs(address->sin_port), NULL, NULL, on_request, sim, MHD_OPTION_SOCK_ADDR, address,
        MHD_OPTION_NOTIFY_COMPLETED, on_completed, NULL, MHD_OPTION_UNESCAPE_CALLBACK, keep_escapes, NULL,
        MHD_OPTION_CONNECTION_LIMIT, 2000U, MHD_OPTION_END);
    if (!daemon)
        return NULL;
    info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
    *ret_port = info ? info->port : 0;
    return daemon;
}

void server_stop(struct MHD_Daemon *daemon)
{
    MHD_stop_daemon(daemon);
}

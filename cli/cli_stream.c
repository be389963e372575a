#include "cli/cli_stream.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/env.h"
#include "cli/problem.h"
#include "cli/renew.h"
#include "cli/sse.h"

/* shootd sends a comment line every 15 seconds and ends each stream after 15 minutes. The client's
 * limits are longer: a stream that is silent for SILENCE_MS is lost, and STREAM_MS limits each transfer. */
enum {
    SILENCE_MS = 40000,
    STREAM_MS = 20 * 60 * 1000,
    LEAST_PAUSE_MS = 100,
    FIRST_PAUSE_MS = 1000,
    LONGEST_PAUSE_MS = 15000,
    LONGEST_RETRY_MS = 300000,
    TICK_MS = 100
};

struct cli_stream {
    const struct stream_reader *reader;
    struct sse sse;
    bool heard;   /* bytes have arrived since the stream was opened */
    bool reached; /* the server has answered, even if it gave no stream */
    bool ended;   /* the reader has ended the stream */
    mono_us heard_at;
};

int stream_newest(struct cli *cli, int64_t *ret_sequence)
{
    struct api_target target CLEANUP_TARGET;
    json_t *page CLEANUP_JSON = NULL;
    api_target_init(&target, API_EVENTS, NULL, NULL, NULL);
    api_query(&target, "order", "desc");
    api_query(&target, "limit", "1");
    int code = api_get(cli, &target, &page);
    if (code == END_OK && !api_items(page))
        code = END_UNREACHABLE;
    *ret_sequence = json_int(page, "newest_sequence", 0);
    return code;
}

void stream_add_filters(const struct stream_reader *reader, struct api_target *target)
{
    api_query(target, "project", reader->project);
    api_query(target, "cluster", reader->cluster);
    api_query(target, "type", reader->type);
}

static bool on_block(void *ctx, const char *type, const char *data)
{
    static const struct json_limits limits = {1024 * 1024, 20000, 20000};
    const struct cli_stream *s = ctx;
    enum json_scan_end end;
    if (strcmp(type, "reset") == 0)
        return s->reader->on_event(s->reader->ctx, NULL);
    json_t *event CLEANUP_JSON = json_parse_foreign(data, strlen(data), &limits, &end);
    return !json_is_object(event) || s->reader->on_event(s->reader->ctx, event);
}

static bool take_bytes(struct cli_stream *s, const char *bytes, size_t len)
{
    if (!s->heard && s->reader->on_open)
        s->reader->on_open(s->reader->ctx);
    s->heard = true;
    s->heard_at = env_mono(env_real());
    bool goes_on = sse_take(&s->sse, bytes, len, on_block, s);
    s->ended = !goes_on && !s->sse.too_long;
    return goes_on;
}

static bool reader_ends_it(const struct cli_stream *s)
{
    return s->reader->on_tick && s->reader->on_tick(s->reader->ctx);
}

/* Reads bytes until the stream ends, sends nothing for too long, or its reader ends it. */
static void read_bytes(struct cli_stream *s, struct http_stream *from)
{
    const char *bytes = NULL;
    size_t len = 0;
    while (!s->ended && http_stream_read(from, &bytes, &len)) {
        if (len && !take_bytes(s, bytes, len))
            return;
        if (env_mono(env_real()) - s->heard_at > SILENCE_MS * US_PER_MS)
            return;
        s->ended = s->heard && reader_ends_it(s);
    }
}

/* Reads one stream until it ends. */
static void read_stream(struct cli *cli, struct cli_stream *s, struct cli_answer *answer)
{
    struct api_target target CLEANUP_TARGET;
    char last[sizeof(s->sse.id)];
    memcpy(last, s->sse.id, sizeof(last));
    api_target_init(&target, API_EVENTS, NULL, NULL, NULL);
    stream_add_filters(s->reader, &target);
    const struct cli_request request = {.method = "GET",
                                        .path = target.path.data,
                                        .accept = "text/event-stream",
                                        .token = renew_token(cli),
                                        .last_event_id = last,
                                        .timeout_ms = STREAM_MS,
                                        .is_api = true,
                                        .is_stream = true};
    s->heard = false;
    s->heard_at = env_mono(env_real());
    struct http_stream *from = http_stream_open(cli->http, &request, answer);
    read_bytes(s, from);
    http_stream_close(from);
    s->reached = s->heard || answer->end == HTTP_ANSWERED;
}

/* Waits between two streams. */
static void wait_ms(struct cli *cli, struct cli_stream *s, int64_t ms)
{
    const mono_us end = env_mono(env_real()) + ms * US_PER_MS;
    for (int64_t left; !s->ended && (left = (end - env_mono(env_real())) / US_PER_MS) > 0;) {
        (void)http_pause(cli->http, left < TICK_MS ? left : TICK_MS);
        s->ended = s->reached && reader_ends_it(s);
    }
}

static bool may_come_back(const struct cli_answer *answer)
{
    bool ended = answer->end == HTTP_STOPPED || (answer->end == HTTP_ANSWERED && answer->status == 200);
    return ended || problem_may_pass(answer);
}

/* Returns the pause before the next stream. The pause is as long as the stream (retry) or the server
 * (Retry-After) requests, and grows with the number of consecutive failures. */
static int64_t pause_ms(const struct cli_stream *s, const struct cli_answer *answer, unsigned failures)
{
    int64_t first = s->sse.retry_ms < 0 ? FIRST_PAUSE_MS : s->sse.retry_ms;
    int64_t least = failures ? FIRST_PAUSE_MS : LEAST_PAUSE_MS, wanted = problem_pause_ms(answer);
    first = first < least ? least : first > LONGEST_RETRY_MS ? LONGEST_RETRY_MS : first;
    int64_t own = first << (failures < 5 ? (failures ? failures - 1 : 0) : 4);
    int64_t most = first > LONGEST_PAUSE_MS ? first : LONGEST_PAUSE_MS;
    own = own < most ? own : most;
    return own > wanted ? own : wanted;
}

static void say_away(const struct cli_answer *answer, int64_t pause)
{
    if (problem_pause_ms(answer) > 0)
        cli_note("shootctl: the event stream was interrupted; it continues in %" PRId64
                 " s, as the server asks",
                 pause / 1000);
    else
        cli_note("shootctl: the event stream was interrupted; it continues");
}

static int follow(struct cli *cli, struct cli_stream *s)
{
    for (unsigned failures = 0;;) {
        struct cli_answer answer CLEANUP_ANSWER = {0};
        read_stream(cli, s, &answer);
        if (s->ended)
            return END_OK;
        if (s->sse.too_long)
            return cli_fail(END_UNREACHABLE, "the stream is not from shootd: a line has more than 1 MiB");
        if (!may_come_back(&answer)) {
            problem_say(cli, &answer);
            return (int)problem_code(&answer);
        }
        failures = s->heard ? 0 : failures + 1;
        int64_t pause = pause_ms(s, &answer, failures);
        if (failures == 1)
            say_away(&answer, pause);
        wait_ms(cli, s, pause);
        if (s->ended)
            return END_OK;
        sse_done(&s->sse); /* an incomplete block is discarded, because the next stream sends it again */
    }
}

int stream_follow(struct cli *cli, const struct stream_reader *reader, int64_t after)
{
    assert(reader->on_event);
    struct cli_stream s = {.reader = reader};
    sse_init(&s.sse);
    (void)snprintf(s.sse.id, sizeof(s.sse.id), "%" PRId64, after);
    int code = follow(cli, &s);
    sse_done(&s.sse);
    return code;
}

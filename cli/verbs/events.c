/* `events`: the last ones, and with -f those that come (a stream, taken up again where it broke). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/env.h"
#include "base/mem.h"
#include "cli/api.h"
#include "cli/glyphs.h"
#include "cli/output.h"
#include "cli/problem.h"
#include "cli/sse.h"
#include "cli/verbs/verbs.h"
#include "cli/when.h"

/* A stream sends a sign of life every 15 seconds, and ends by itself after 15 minutes. */
enum {
    SILENCE_MS = 40000,
    STREAM_MS = 20 * 60 * 1000,
    FIRST_PAUSE_MS = 1000,
    LONGEST_PAUSE_MS = 15000,
    DEFAULT_COUNT = 20
};

struct watching {
    struct cli *cli;
    struct output output;
    bool documents;
    struct sse sse;
    bool heard; /* bytes came since the stream was opened */
    mono_us heard_at;
};

static void print_line(const struct cli *cli, const json_t *event)
{
    const json_t *data = json_obj(event, "data");
    const char *project = json_str(data, "project"), *cluster = json_str(data, "cluster");
    char *when CLEANUP_FREE = when_column(cli, json_str(event, "timestamp"));
    char *type CLEANUP_FREE = glyphs_shown(json_str(event, "type")),
               *message CLEANUP_FREE = glyphs_shown(json_str(data, "message"));
    char *what CLEANUP_FREE = cluster ? mem_printf("%s/%s", project ? project : "?", cluster)
                                      : mem_strdup(json_str(data, "account"));
    char *shown CLEANUP_FREE = glyphs_shown(what);
    (void)fprintf(cli->out.file, "%-*s  %-22s  %-24s  %s\n", cli->out.is_terminal ? 10 : 27,
                  when ? when : "-", type, shown, message);
}

static int show(struct watching *w, json_t *event)
{
    int code = END_OK;
    if (w->documents)
        code = output_add(&w->output, event, json_str(event, "id"));
    else
        print_line(w->cli, event);
    (void)fflush(w->cli->out.file);
    return code;
}

static void add_filters(const struct cli *cli, struct api_target *target)
{
    const char *cluster = cli->parsed->arguments[0];
    bool all = parsed_on(cli->parsed, "all-projects");
    api_query(target, "project", all ? NULL : cli->settings.project.value);
    api_query(target, "cluster", cluster);
    api_query(target, "type", parsed_text(cli->parsed, "type"));
}

/* The last ones, the oldest of them first; *ret_newest is where a stream goes on. */
static int show_last(struct watching *w, int64_t *ret_newest)
{
    struct api_target target CLEANUP_TARGET;
    json_t *page CLEANUP_JSON = NULL;
    int64_t count = parsed_number(w->cli->parsed, "last", DEFAULT_COUNT);
    char limit[24];
    (void)snprintf(limit, sizeof(limit), "%" PRId64, count > 0 ? count : 1);
    api_target_init(&target, API_EVENTS, NULL, NULL, NULL);
    api_query(&target, "order", "desc");
    api_query(&target, "limit", limit);
    api_query(&target, "since", parsed_text(w->cli->parsed, "since"));
    add_filters(w->cli, &target);
    int code = api_get(w->cli, &target, &page);
    if (code != END_OK)
        return code;
    if (!json_arr(page, "items"))
        return cli_fail(END_UNREACHABLE,
                        "the server answered with a list that has no items: it is no shootd");
    *ret_newest = json_int(page, "newest_sequence", 0);
    json_t *items = json_arr(page, "items");
    for (size_t i = json_array_size(items); i-- > 0 && count > 0 && code == END_OK;)
        code = show(w, json_array_get(items, i));
    return code;
}

/* ---- the stream ---- */

static bool on_event(void *ctx, const char *type, const char *data)
{
    static const struct json_limits limits = {1024 * 1024, 20000, 20000};
    struct watching *w = ctx;
    enum json_scan_end end;
    if (strcmp(type, "reset") == 0) {
        cli_note("shootctl: events are missing here: they are not kept any more, or the store was restored");
        return true;
    }
    json_t *event CLEANUP_JSON = json_parse_foreign(data, strlen(data), &limits, &end);
    return json_is_object(event) ? show(w, event) == END_OK : true;
}

static bool on_bytes(void *ctx, const char *bytes, size_t len)
{
    struct watching *w = ctx;
    w->heard = true;
    w->heard_at = env_mono(env_real());
    return sse_take(&w->sse, bytes, len, on_event, w);
}

/* A connection that is silent for too long is dead. */
static bool is_silent(void *ctx)
{
    const struct watching *w = ctx;
    return env_mono(env_real()) - w->heard_at > SILENCE_MS * US_PER_MS;
}

static bool may_come_back(const struct http_answer *answer)
{
    bool answered = answer->end == HTTP_ANSWERED;
    bool never = answer->end == HTTP_TOO_LARGE || answer->end == HTTP_MISTAKEN;
    return answered ? answer->status == 200 || answer->status == 429 || answer->status >= 500
                    : !never && (answer->end != HTTP_FOREIGN || answer->status >= 500);
}

/* One stream after the other; returns only when it cannot go on. */
static int follow(struct watching *w, int64_t newest)
{
    unsigned failures = 0;
    (void)snprintf(w->sse.id, sizeof(w->sse.id), "%" PRId64, newest);
    for (;;) {
        struct api_target target CLEANUP_TARGET;
        struct http_answer answer CLEANUP_ANSWER = {0};
        char last[sizeof(w->sse.id)];
        memcpy(last, w->sse.id, sizeof(last));
        const struct http_request request = {.accept = "text/event-stream",
                                             .last_event_id = last,
                                             .timeout_ms = STREAM_MS,
                                             .once = true,
                                             .on_bytes = on_bytes,
                                             .ctx = w};
        api_target_init(&target, API_EVENTS, NULL, NULL, NULL);
        add_filters(w->cli, &target);
        w->heard = false;
        w->heard_at = env_mono(env_real());
        http_set_tick(w->cli->http, is_silent, w);
        api_call_raw(w->cli, &target, &request, &answer);
        http_set_tick(w->cli->http, NULL, NULL);
        if (w->sse.too_long)
            return cli_fail(END_UNREACHABLE, "the stream is none of shootd: a line has more than 1 MiB");
        if (!may_come_back(&answer)) {
            problem_say(w->cli, &answer);
            return (int)problem_code(&answer);
        }
        failures = w->heard ? 0 : failures + 1;
        if (failures == 1)
            cli_note("shootctl: the stream is away; following goes on");
        int64_t pause =
            failures ? (int64_t)FIRST_PAUSE_MS << (failures < 5 ? failures - 1 : 4) : FIRST_PAUSE_MS;
        (void)http_pause(w->cli->http, pause < LONGEST_PAUSE_MS ? pause : LONGEST_PAUSE_MS);
        sse_done(&w->sse); /* half a block comes again */
    }
}

int verb_events(struct cli *cli)
{
    bool follows = parsed_on(cli->parsed, "follow");
    enum output_form form = cli_form(cli);
    int64_t newest = 0;
    if (follows && (form == OUTPUT_JSON || form == OUTPUT_YAML))
        return cli_fail(END_USAGE, "-o %s has an end, which -f has not: -o jsonl",
                        form == OUTPUT_JSON ? "json" : "yaml");
    int code = cli_connect(cli);
    if (code != END_OK)
        return code;
    struct watching w = {.cli = cli, .documents = output_is_document(cli)};
    output_begin(&w.output, cli);
    sse_init(&w.sse);
    code = show_last(&w, &newest);
    if (code == END_OK && follows)
        code = follow(&w, newest);
    if (code == END_OK && w.documents)
        (void)output_end(&w.output);
    else
        output_drop(&w.output);
    sse_done(&w.sse);
    return code;
}

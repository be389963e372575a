/* The command `events`: prints the last events, and with -f also new events as they arrive. */
#include <stdio.h>

#include "base/mem.h"
#include "cli/glyphs.h"
#include "cli/output.h"
#include "cli/cli_stream.h"
#include "cli/verbs/verbs.h"
#include "cli/when.h"

/* The events are in memory together, because the server sends the newest first. Therefore FLAG_NUMBER_MAX is
 * the limit. */
enum { DEFAULT_COUNT = 20, PAGE_COUNT = 1000 };

struct watching {
    struct cli *cli;
    struct output output;
    bool documents;
    int code; /* the exit code of the output */
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
    return code == END_OK ? cli_flush() : code;
}

/* Adds the last `count` events to `events`, newest first. *ret_newest is the number after which a stream
 * continues. */
static int read_last(struct cli *cli, const struct stream_reader *reader, size_t count, json_t *events,
                     int64_t *ret_newest)
{
    struct api_target target CLEANUP_TARGET;
    struct api_list list = {.cli = cli, .target = &target};
    size_t page = count < PAGE_COUNT ? count : PAGE_COUNT;
    char limit[24];
    (void)snprintf(limit, sizeof(limit), "%zu", page ? page : 1);
    api_target_init(&target, API_EVENTS, NULL, NULL, NULL);
    api_query(&target, "order", "desc");
    api_query(&target, "limit", limit);
    api_query(&target, "since", parsed_text(cli->parsed, "since"));
    stream_add_filters(reader, &target);
    json_t *one;
    do {
        one = api_list_next(&list); /* also when no event is wanted, because of the number in the page */
        if (one && count)
            (void)json_array_append(events, one);
    } while (one && json_array_size(events) < count);
    *ret_newest = list.newest_sequence;
    return api_list_end(&list);
}

/* Prints the last events, oldest first. */
static int show_last(struct watching *w, const struct stream_reader *reader, int64_t *ret_newest)
{
    json_t *events CLEANUP_JSON = json_array();
    size_t count = (size_t)parsed_number(w->cli->parsed, "last", DEFAULT_COUNT);
    int code = read_last(w->cli, reader, count, events, ret_newest);
    for (size_t i = json_array_size(events); i-- > 0 && code == END_OK;)
        code = show(w, json_array_get(events, i));
    return code;
}

static bool on_event(void *ctx, json_t *event)
{
    struct watching *w = ctx;
    if (!event)
        cli_note("shootctl: events are missing here: they are not kept any more, or the store was restored");
    else
        w->code = show(w, event);
    return w->code == END_OK;
}

int verb_events(struct cli *cli)
{
    bool follows = parsed_on(cli->parsed, "follow"), all = parsed_on(cli->parsed, "all-projects");
    int64_t newest = 0;
    if (follows && !output_may_be_endless(cli, "-f"))
        return END_USAGE;
    int code = cli_connect(cli);
    if (code != END_OK)
        return code;
    struct watching w = {.cli = cli, .documents = output_is_document(cli)};
    const struct stream_reader reader = {.project = all ? NULL : cli->settings.project.value,
                                         .cluster = cli->parsed->arguments[0],
                                         .type = parsed_text(cli->parsed, "type"),
                                         .on_event = on_event,
                                         .ctx = &w};
    output_begin(&w.output, cli);
    code = show_last(&w, &reader, &newest);
    if (code == END_OK && follows)
        code = stream_follow(cli, &reader, newest);
    code = code == END_OK ? w.code : code;
    if (code == END_OK && w.documents)
        (void)output_end(&w.output);
    else
        output_drop(&w.output);
    return code;
}

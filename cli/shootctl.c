#include "cli/shootctl.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/mem.h"
#include "cli/api.h"
#include "cli/glyphs.h"
#include "cli/progress.h"
#include "cli/renew.h"

enum { MESSAGE_MAX_BYTES = 64 * 1024 };

static void say(const char *format, va_list args) __attribute__((format(printf, 1, 0)));
static void say(const char *format, va_list args)
{
    char *text = NULL;
    if (vasprintf(&text, format, args) < 0)
        abort();
    char *shown CLEANUP_FREE = glyphs_shown(text);
    (void)fprintf(stderr, "%s\n", shown);
    free(text);
}

void cli_note(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(format, args);
    va_end(args);
}

int cli_fail(enum exit_code code, const char *format, ...)
{
    va_list args;
    (void)fputs("shootctl: ", stderr);
    va_start(args, format);
    say(format, args);
    va_end(args);
    return (int)code;
}

enum output_form cli_form(const struct cli *cli)
{
    const char *name = parsed_text(cli->parsed, "output");
    size_t form = OUTPUT_TABLE;
    while (name && output_forms[form] && strcmp(output_forms[form], name) != 0)
        form++;
    return (enum output_form)form;
}

bool cli_can_ask(const struct cli *cli)
{
    return terminal_can_ask() && !parsed_on(cli->parsed, "no-input");
}

struct http *cli_open(struct cli *cli)
{
    struct buffer fault CLEANUP_BUFFER;
    const struct http_options options = {
        .url = cli->settings.url.value,
        .token_of = renew_token,
        .token_ctx = cli,
        .ca_file = cli->settings.ca_file.value,
        .retries = (unsigned)parsed_number(cli->parsed, "retries", 3),
        .verbose = parsed_on(cli->parsed, "verbose"),
        .tick = progress_tick,
        .ctx = cli,
    };
    buffer_init(&fault, MESSAGE_MAX_BYTES);
    struct http *http = http_new(&options, &fault);
    if (!http)
        (void)cli_fail(END_REFUSED, "%s", fault.data);
    return http;
}

int cli_connect(struct cli *cli)
{
    struct buffer fault CLEANUP_BUFFER;
    buffer_init(&fault, MESSAGE_MAX_BYTES);
    if (!settings_load(&cli->settings, cli->parsed, &fault))
        return cli_fail(END_USAGE, "%s", fault.data);
    if (!cli->settings.url.value)
        return cli_fail(END_USAGE,
                        "no server is named: 'shootctl login URL', or SHOOTD_URL and SHOOTD_TOKEN, or --url");
    cli->http = cli_open(cli);
    return cli->http ? END_OK : END_REFUSED;
}

const char *cli_project(struct cli *cli, int *ret_code)
{
    struct api_target target CLEANUP_TARGET = {0};
    json_t *page CLEANUP_JSON = NULL;
    *ret_code = END_OK;
    if (cli->settings.project.value)
        return cli->settings.project.value;
    api_target_init(&target, API_PROJECTS, NULL, NULL, NULL);
    api_query(&target, "limit", "20");
    *ret_code = api_get(cli, &target, &page);
    if (*ret_code != END_OK)
        return NULL;
    json_t *items = json_arr(page, "items");
    const char *only = json_array_size(items) == 1 ? json_str(json_array_get(items, 0), "name") : NULL;
    if (only) {
        cli->settings.project =
            (struct setting){mem_strdup(only), mem_strdup("the only one that the token sees")};
        return cli->settings.project.value;
    }
    struct buffer names CLEANUP_BUFFER;
    buffer_init(&names, MESSAGE_MAX_BYTES);
    for (size_t i = 0; i < json_array_size(items); i++)
        (void)buffer_printf(&names, "%s%s", i ? ", " : "",
                            json_str_or(json_array_get(items, i), "name", "?"));
    *ret_code = cli_fail(END_USAGE, "no project is named: --project, or SHOOTD_PROJECT; the token sees %s",
                         names.len ? names.data : "none");
    return NULL;
}

#include "base/buffer.h"
#include "base/mem.h"
#include "cli/api.h"
#include "cli/progress.h"
#include "cli/shootctl.h"

enum { MESSAGE_MAX_BYTES = 64 * 1024 };

struct cli_http *cli_open(struct cli *cli)
{
    struct buffer fault CLEANUP_BUFFER;
    const struct cli_http_options options = {
        .url = cli->settings.url.value,
        .ca_file = cli->settings.ca_file.value,
        .verbose = parsed_on(cli->parsed, "verbose"),
        .tick = progress_tick,
        .ctx = cli,
    };
    buffer_init(&fault, MESSAGE_MAX_BYTES);
    cli->retries = (unsigned)parsed_number(cli->parsed, "retries", 3);
    struct cli_http *http = http_new(&options, &fault);
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
        return cli_fail(
            END_USAGE,
            "no server is configured: use 'shootctl login URL', or SHOOTD_URL and SHOOTD_TOKEN, or --url");
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
        buffer_printf(&names, "%s%s", i ? ", " : "", json_str_or(json_array_get(items, i), "name", "?"));
    *ret_code =
        cli_fail(END_USAGE, "no project is selected: use --project or SHOOTD_PROJECT; the token sees %s",
                 names.len ? names.data : "none");
    return NULL;
}

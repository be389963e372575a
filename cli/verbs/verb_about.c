/* The commands `help` and `version`. */
#include <string.h>

#include "base/mem.h"
#include "base/version.h"
#include "cli/api.h"
#include "cli/glyphs.h"
#include "cli/help.h"
#include "cli/output.h"
#include "cli/verbs/verbs.h"

int verb_help(struct cli *cli)
{
    const char *name = cli->parsed->arguments[0];
    const struct cli_command *command = name ? command_find(name) : NULL;
    if (name && !command) {
        struct buffer fault CLEANUP_BUFFER;
        buffer_init(&fault, 4096);
        parse_unknown_command(name, &fault);
        return cli_fail(END_USAGE, "%s", fault.data);
    }
    if (output_is_document(cli)) {
        json_t *table CLEANUP_JSON = help_table();
        return output_one(cli, table, "shootctl");
    }
    help_print(stdout, command);
    return END_OK;
}

int verb_version(struct cli *cli)
{
    json_t *all CLEANUP_JSON = json_pack("{s:{s:s,s:s},s:n}", "client", "version", shootd_version, "revision",
                                         shootd_revision, "server");
    int code = END_OK;
    if (!parsed_on(cli->parsed, "client")) {
        struct buffer fault CLEANUP_BUFFER;
        buffer_init(&fault, 4096);
        bool loaded = settings_load(&cli->settings, cli->parsed, &fault);
        bool named = loaded && cli->settings.url.value;
        settings_done(&cli->settings);
        if (named || !loaded)
            code = cli_connect(cli);
    }
    if (code == END_OK && cli->http) {
        struct api_target target CLEANUP_TARGET;
        json_t *server = NULL;
        api_target_init(&target, API_VERSION, NULL, NULL, NULL);
        code = api_get(cli, &target, &server);
        json_set_take(all, "server", server);
    }
    if (output_is_document(cli)) {
        (void)output_one(cli, all, shootd_version);
        return code;
    }
    (void)fprintf(cli->out.file, "shootctl %s (%s)\n", shootd_version, shootd_revision);
    if (json_obj(all, "server")) {
        char *version CLEANUP_FREE = glyphs_shown(json_str(json_obj(all, "server"), "version"));
        char *revision CLEANUP_FREE = glyphs_shown(json_str(json_obj(all, "server"), "revision"));
        (void)fprintf(cli->out.file, "shootd   %s (%s) at %s\n", version, revision, cli->settings.url.value);
    }
    return code;
}

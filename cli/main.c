/* shootctl, the command line of shootd, which uses only the REST API. */
#include <locale.h>

#include "base/buffer.h"
#include "cli/help.h"
#include "cli/shootctl.h"

enum { MESSAGE_MAX_BYTES = 64 * 1024 };

/* Output that cannot be written, for example on a full disk, is a failure. */
static int flushed(int code)
{
    if ((fflush(stdout) != 0 || ferror(stdout)) && code == END_OK)
        return cli_fail(END_REFUSED, "standard output cannot be written: %m");
    return code;
}

static int run(const struct parsed *parsed)
{
    struct cli cli = {.parsed = parsed, .utc = parsed_on(parsed, "utc")};
    bool no_colour = parsed_on(parsed, "no-color");
    terminal_init(&cli.out, stdout, no_colour);
    terminal_init(&cli.err, stderr, no_colour);
    int code = parsed->command->run(&cli);
    if (cli.http)
        http_free(cli.http);
    settings_done(&cli.settings);
    return code;
}

int main(int argc, char **argv)
{
    struct buffer fault CLEANUP_BUFFER;
    struct parsed parsed;
    int code = END_OK;
    (void)setlocale(LC_TIME, "C");
    buffer_init(&fault, MESSAGE_MAX_BYTES);
    json_object_seed(0);
    bool good = parse_line(argc, argv, &parsed, &fault);
    if (!good) {
        code = cli_fail(END_USAGE, "%s", fault.data);
        help_usage(stderr, parsed.command);
    } else if (parsed.help) {
        help_print(stdout, parsed.command);
    } else if (!parsed.command) {
        help_usage(stderr, NULL);
        code = END_USAGE;
    } else {
        code = run(&parsed);
    }
    parsed_done(&parsed);
    return flushed(code);
}

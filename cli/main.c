/* shootctl, the command line of shootd, which uses only the REST API. */
#include <fcntl.h>
#include <locale.h>
#include <unistd.h>

#include "base/buffer.h"
#include "cli/help.h"
#include "cli/shootctl.h"

enum { MESSAGE_MAX_BYTES = 64 * 1024 };

/* Opens closed descriptors of standard streams, so that no socket or file gets their numbers and then the
 * output. Reading from descriptor 0 and writing to 1 and 2 fails as before. */
static void fill_closed_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
            _exit(END_REFUSED); /* without /dev/null the output could go into a file of the user */
}

/* Returns the exit code of a command. Lost output is a failure, also of a diff that found differences. */
static int flushed(int code)
{
    bool has_failed = code != END_OK && code != END_DIFFERENT;
    int output = has_failed ? END_OK : cli_flush();
    return output == END_OK ? code : output;
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
    fill_closed_streams();
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

#include "cli/shootctl.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/mem.h"
#include "cli/glyphs.h"

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

int cli_flush(void)
{
    if (ferror(stdout)) /* its errno is no longer known */
        return cli_fail(END_REFUSED, "standard output cannot be written");
    if (fflush(stdout) != 0)
        return cli_fail(END_REFUSED, "standard output cannot be written: %m");
    return END_OK;
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

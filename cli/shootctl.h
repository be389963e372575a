/*
 * One run of shootctl: the data that every verb uses. A verb is the function of a command (cli/verbs/). Verbs
 * return an exit code (cli/exits.h). Verbs print data on standard output and everything else on standard
 * error. One thread.
 */
#ifndef CLI_SHOOTCTL_H
#define CLI_SHOOTCTL_H

#include <stdbool.h>

#include "base/attrs.h"
#include "cli/exits.h"
#include "cli/http.h"
#include "cli/parse.h"
#include "cli/cli_settings.h"
#include "cli/terminal.h"

enum output_form { OUTPUT_TABLE, OUTPUT_WIDE, OUTPUT_JSON, OUTPUT_YAML, OUTPUT_NAME, OUTPUT_JSONL };

struct progress;

struct cli {
    const struct parsed *parsed;
    struct terminal out, err;
    bool utc; /* times are shown in UTC */
    struct cli_settings settings;
    struct cli_http *http;     /* the connection; NULL before cli_connect */
    unsigned retries;          /* the number of times that a request may be repeated */
    struct progress *progress; /* the progress on the screen, or NULL */
};

/* Reports a failure on standard error, with foreign text escaped, and returns the code. */
int cli_fail(enum exit_code code, const char *format, ...) ATTR_PRINTF(2, 3);
/* Prints a line on standard error. */
void cli_note(const char *format, ...) ATTR_PRINTF(1, 2);

/* Writes the text that is still buffered for standard output. Returns END_OK, or reports that output is lost,
 * for example on a full disk, and returns END_REFUSED. */
int cli_flush(void);

/* Returns the form that -o selects; without -o, the form is a table. The command must have the flag -o. */
enum output_form cli_form(const struct cli *cli);

/* Whether the user can be asked: standard input is a terminal, and --no-input is not given. */
bool cli_can_ask(const struct cli *cli);

/* Opens a connection with the current settings. After a failure reports the reason and returns NULL. The
 * caller frees it. */
struct cli_http *cli_open(struct cli *cli);
/* Reads the settings and prepares the connection. Returns 0, or reports the reason and returns an exit
 * code. */
int cli_connect(struct cli *cli);
/*
 * Returns the current project, borrowed. When no project is named, and the token may see a single project,
 * this project is the current project. After a failure reports the reason, writes the exit code to
 * `ret_code`, and returns NULL.
 */
const char *cli_project(struct cli *cli, int *ret_code);

#endif

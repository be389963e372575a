/*
 * One run of shootctl: what every verb works with. Verbs return an exit code (cli/exits.h); what they print
 * on standard output is data, everything else goes to standard error. One thread.
 */
#ifndef CLI_SHOOTCTL_H
#define CLI_SHOOTCTL_H

#include <stdbool.h>

#include "base/attrs.h"
#include "cli/exits.h"
#include "cli/http.h"
#include "cli/parse.h"
#include "cli/settings.h"
#include "cli/terminal.h"

enum output_form { OUTPUT_TABLE, OUTPUT_WIDE, OUTPUT_JSON, OUTPUT_YAML, OUTPUT_NAME, OUTPUT_JSONL };

struct progress;

struct cli {
    const struct parsed *parsed;
    struct terminal out, err;
    bool utc; /* times in UTC */
    struct settings settings;
    struct http *http;         /* NULL before cli_connect */
    struct progress *progress; /* what is shown while something is waited for, or NULL */
};

/* Says on standard error what failed and returns the code. Foreign text in it is escaped. */
int cli_fail(enum exit_code code, const char *format, ...) ATTR_PRINTF(2, 3);
/* A line on standard error. */
void cli_note(const char *format, ...) ATTR_PRINTF(1, 2);

/* The value of -o; a table without it. The command has the flag. */
enum output_form cli_form(const struct cli *cli);

/* Whether people can be asked: there is a terminal, and no --no-input. */
bool cli_can_ask(const struct cli *cli);

/* A connection with the settings in force; NULL after saying why there is none. The caller frees it. */
struct http *cli_open(struct cli *cli);
/* Reads the settings and prepares for requests; 0, or an exit code after saying why not. */
int cli_connect(struct cli *cli);
/*
 * The project that is meant; when none is named and the token sees one only, that one. NULL with the exit
 * code in `ret_code` after saying why. Lent.
 */
const char *cli_project(struct cli *cli, int *ret_code);

#endif

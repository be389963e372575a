/*
 * Parses a command line by the table of commands. Names must be exact. Flags are `--a=b`, `--a b` or `-o b`,
 * before or after the command; `--` ends them. Pure; one thread.
 */
#ifndef CLI_PARSE_H
#define CLI_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/cli_commands.h"

struct buffer;

struct given_flag {
    const struct flag *flag;
    const char *value; /* NULL for a switch */
};

struct parsed {
    const struct cli_command *command; /* the command; NULL: no command was named */
    bool help;                         /* --help was given; everything else is then ignored */
    const char **arguments;            /* the arguments; a NULL ends the array */
    size_t argument_count;
    size_t rest; /* the index of the first argument after `--`; argument_count without `--` */
    struct given_flag *given;
    size_t given_count;
};

/*
 * Parses a command line. The strings are borrowed from `argv`. All strings are UTF-8, except words after `--`
 * for another program. After a fault returns false; `fault` then has a message for people with the valid
 * values, and `ret` has the words before the fault. The caller always frees `ret` with parsed_done.
 */
bool parse_line(int argc, char *const *argv, struct parsed *ret, struct buffer *fault);
void parsed_done(struct parsed *parsed);

/* Returns the last value of a flag that the command has; NULL when the flag was not given. */
const char *parsed_text(const struct parsed *parsed, const char *name);
/* Whether a switch was given. */
bool parsed_on(const struct parsed *parsed, const char *name);
/* Returns the `nth` value (from 0) of a flag that may be repeated; NULL after the last. */
const char *parsed_nth(const struct parsed *parsed, const char *name, size_t nth);
/* Returns the milliseconds of a duration; `fallback` when the flag was not given. */
int64_t parsed_duration_ms(const struct parsed *parsed, const char *name, int64_t fallback);
int64_t parsed_number(const struct parsed *parsed, const char *name, int64_t fallback);

/* Returns the milliseconds of a text such as "250ms", "15s", "5m", "2h", "1d", ten years at most; -1 when the
 * text is not a duration. */
int64_t duration_ms(const char *text);
/* Returns the flag that a word names: `--name`, `--name=value` or `-n`. The flag is a flag of the command or,
 * when `command` is NULL, a flag of any command. */
const struct flag *parse_flag(const struct cli_command *command, const char *word);
/* Writes "unknown command 'X'" with the most similar command name into `fault`. */
void parse_unknown_command(const char *typed, struct buffer *fault);

#endif

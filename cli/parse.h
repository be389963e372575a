/*
 * Reads a command line by the table of commands: exact names, `--a=b`, `--a b`, `-o b`, flags
 * before and behind the command, `--` ends them. Pure; one thread.
 */
#ifndef CLI_PARSE_H
#define CLI_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/commands.h"

struct buffer;

struct given_flag {
    const struct flag *flag;
    const char *value; /* NULL of a switch */
};

struct parsed {
    const struct command *command; /* NULL: none was named */
    bool help;                     /* --help was there: it wins over all else */
    const char **arguments;        /* ends with NULL */
    size_t argument_count;
    size_t rest; /* index of the first argument behind `--`; argument_count without one */
    struct given_flag *given;
    size_t given_count;
};

/*
 * The strings are lent from `argv` and are UTF-8, but those behind `--` for another program. False with a
 * message for people, which says what is wrong and what would be right, in `fault`; `ret` is filled as far as
 * it was understood. Freed with parsed_done either way.
 */
bool parse_line(int argc, char *const *argv, struct parsed *ret, struct buffer *fault);
void parsed_done(struct parsed *parsed);

/* The last value of a flag that the command has, NULL when it was not given. */
const char *parsed_text(const struct parsed *parsed, const char *name);
/* Whether a switch was given. */
bool parsed_on(const struct parsed *parsed, const char *name);
/* The value after the `nth` (from 0) of a flag that may be repeated; NULL behind the last. */
const char *parsed_nth(const struct parsed *parsed, const char *name, size_t nth);
/* Milliseconds of a duration, `fallback` when it was not given. */
int64_t parsed_duration_ms(const struct parsed *parsed, const char *name, int64_t fallback);
int64_t parsed_number(const struct parsed *parsed, const char *name, int64_t fallback);

/* Milliseconds of "250ms", "15s", "5m", "2h", "1d", ten years at most; -1 when it is none. */
int64_t duration_ms(const char *text);
/* The flag that a word names, `--name`, `--name=value` or `-n`; of the command, or with NULL one that all
 * have. */
const struct flag *parse_flag(const struct command *command, const char *word);
/* Says "unknown command 'X'", with the nearest one. */
void parse_unknown_command(const char *typed, struct buffer *fault);

#endif

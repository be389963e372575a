/*
 * Parses a command line by the table of commands. Names must be exact. Flags are `--a=b`, `--a b` or `-o b`,
 * before or after the command; `--` ends them. Pure; one thread.
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
    const char *value; /* NULL for a switch */
};

struct parsed {
    const struct command *command; /* NULL: none was named */
    bool help;                     /* --help was given; nothing else counts then */
    const char **arguments;        /* ends with NULL */
    size_t argument_count;
    size_t rest; /* index of the first argument after `--`; argument_count without `--` */
    struct given_flag *given;
    size_t given_count;
};

/*
 * The strings are lent from `argv`. They are UTF-8, except words after `--` for another program. False with
 * a message for people in `fault`, which names the fault and the valid values; `ret` is then filled up to
 * the fault. The caller frees `ret` with parsed_done in any case.
 */
bool parse_line(int argc, char *const *argv, struct parsed *ret, struct buffer *fault);
void parsed_done(struct parsed *parsed);

/* The last value of a flag that the command has; NULL when the flag was not given. */
const char *parsed_text(const struct parsed *parsed, const char *name);
/* Whether a switch was given. */
bool parsed_on(const struct parsed *parsed, const char *name);
/* The `nth` value (from 0) of a flag that may be repeated; NULL after the last. */
const char *parsed_nth(const struct parsed *parsed, const char *name, size_t nth);
/* Milliseconds of a duration; `fallback` when the flag was not given. */
int64_t parsed_duration_ms(const struct parsed *parsed, const char *name, int64_t fallback);
int64_t parsed_number(const struct parsed *parsed, const char *name, int64_t fallback);

/* Milliseconds of "250ms", "15s", "5m", "2h", "1d", ten years at most; -1 when the text is not a duration. */
int64_t duration_ms(const char *text);
/* The flag that a word names: `--name`, `--name=value` or `-n`. It belongs to the command, or with NULL to
 * all commands. */
const struct flag *parse_flag(const struct command *command, const char *word);
/* Writes "unknown command 'X'" with the most similar command name into `fault`. */
void parse_unknown_command(const char *typed, struct buffer *fault);

#endif

/*
 * The table of commands. The parser, the help, the manual page and the suggestions use it. All data is
 * static and constant.
 */
#ifndef CLI_CLI_COMMANDS_H
#define CLI_CLI_COMMANDS_H

#include <stdbool.h>
#include <stddef.h>

struct cli;

enum flag_kind {
    FLAG_SWITCH,   /* the flag has no value */
    FLAG_TEXT,     /* any text that is not empty */
    FLAG_TEXTS,    /* the same, in a flag that may be repeated */
    FLAG_NUMBER,   /* a number from 0 to FLAG_NUMBER_MAX */
    FLAG_DURATION, /* a duration: 90s, 15m, 2h */
    FLAG_CHOICE,   /* one of `words` */
};

enum { FLAG_NUMBER_MAX = 100000 };

struct flag {
    const char *name; /* the name without dashes; NULL ends an array of flags */
    char letter;      /* the short form of the flag, or 0 */
    enum flag_kind kind;
    const char *value;        /* the name of the flag's value in the help */
    const char *const *words; /* the values of a FLAG_CHOICE; a NULL ends the array */
    const char *help;         /* one line for the help */
};

struct cli_command {
    const char *name;      /* the name; NULL ends the table */
    const char *arguments; /* the arguments in the form of the usage line */
    size_t least, most;    /* the smallest and the largest number of arguments */
    bool takes_rest;       /* words after `--` belong to another program */
    const struct flag *flags;
    const char *summary; /* one line for the help; "": the command is for programs, and the help does not show
                          * it */
    const char *about;   /* more text for the help; may be empty */
    const char *const *examples; /* command lines; each may end with ` # explanation`. NULL ends the array */
    int (*run)(struct cli *cli); /* runs the command, and returns an exit code */
};

/* The values of -o, in the order of enum output_form; a NULL ends the array. */
extern const char *const output_forms[];

extern const struct cli_command command_table[];
/* The flags that every command accepts. */
extern const struct flag common_flags[];

bool command_is_hidden(const struct cli_command *command);
/* Returns the command with this name; NULL: there is no such command. */
const struct cli_command *command_find(const char *name);
/* Returns a flag of the command, or a common flag, by its name of `len` bytes, or by its letter when `letter`
 * is not 0. NULL when there is no such flag. When `command` is NULL, only common flags are found. */
const struct flag *flag_find(const struct cli_command *command, const char *name, size_t len, char letter);

#endif

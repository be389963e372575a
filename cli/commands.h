/*
 * The table of commands: parser, help, manual page and suggestions are made from it. All of it is
 * static and never changes.
 */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include <stdbool.h>
#include <stddef.h>

struct cli;

enum flag_kind {
    FLAG_SWITCH,   /* has no value */
    FLAG_TEXT,     /* any text that is not empty */
    FLAG_NUMBER,   /* 0 to 1000000 */
    FLAG_DURATION, /* 90s, 15m, 2h */
    FLAG_CHOICE,   /* one of `words` */
};

struct flag {
    const char *name; /* without its dashes; NULL ends an array of flags */
    char letter;      /* its short form, or 0 */
    enum flag_kind kind;
    const char *value;        /* how help calls its value */
    const char *const *words; /* of FLAG_CHOICE, ends with NULL */
    const char *help;         /* one line */
};

struct command {
    const char *name;      /* NULL ends the table */
    const char *arguments; /* as usage shows them */
    size_t least, most;    /* how many there are */
    bool takes_rest;       /* words behind `--` are for another program */
    const struct flag *flags;
    const char *summary;         /* one line; empty: it is for programs, and help does not show it */
    const char *about;           /* what else there is to know; may be empty */
    const char *const *examples; /* command lines, each may have ` # about`; ends with NULL */
    int (*run)(struct cli *cli); /* returns an exit code */
};

/* The words of -o, in the order of enum output_form; ends with NULL. */
extern const char *const output_forms[];

extern const struct command command_table[];
/* Those that every command takes. */
extern const struct flag common_flags[];

bool command_is_hidden(const struct command *command);
/* NULL when there is none of this name. */
const struct command *command_find(const char *name);
/* A flag of the command, or one of the common ones; by its name of `len` bytes, or by its letter when
 * `letter` is not 0. NULL when there is none. `command` may be NULL. */
const struct flag *flag_find(const struct command *command, const char *name, size_t len, char letter);

#endif

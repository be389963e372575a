/* Help, made of the table of commands. One thread. */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include <stdio.h>

#include "base/json.h"
#include "cli/commands.h"

/* Prints that of one command, its examples first; that of all of them when it is NULL. */
void help_print(FILE *to, const struct command *command);
/* One line: usage and where there is more. */
void help_usage(FILE *to, const struct command *command);
/* The whole table as JSON: commands, common flags, exit codes, for the manual page. The caller owns it. */
json_t *help_table(void);

#endif

/* Help, made from the table of commands. One thread. */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include <stdio.h>

#include "base/json.h"
#include "cli/cli_commands.h"

/* Prints the help of one command, its examples first. With NULL, prints the help of the program. */
void help_print(FILE *to, const struct cli_command *command);
/* Prints one line with the usage and the way to get more help. */
void help_usage(FILE *to, const struct cli_command *command);
/* Returns the whole table as JSON for the manual page: commands, common flags, exit codes. The caller owns
 * it. */
json_t *help_table(void);

#endif

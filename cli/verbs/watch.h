/*
 * `--watch` of list and get: the rows as they are, then one for each change, until Ctrl-C. The stream of
 * events says when to look; what is shown is what the list says then. One thread.
 */
#ifndef CLI_VERBS_WATCH_H
#define CLI_VERBS_WATCH_H

#include "cli/api.h"

/* Whether --watch was not given, or -o has a form for it; else false after saying so. */
bool watch_is_possible(const struct cli *cli);
/* Watches what the list has that `target` asks for; `project` is the only one in it, or NULL. Returns when it
 * cannot go on, after saying why. */
int watch_list(struct cli *cli, const struct api_target *target, const char *project);
/* Watches the clusters that the command line names. */
int watch_names(struct cli *cli, const char *project);

#endif

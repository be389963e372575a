/* `--watch` of list and get: prints the rows, then a row for each change, until Ctrl-C. An event only shows
 * that the list may have changed; the rows are made from the list. One thread. */
#ifndef CLI_VERBS_VERB_WATCH_H
#define CLI_VERBS_VERB_WATCH_H

#include "cli/api.h"

/* Whether --watch is not given, or is possible with the form of -o. If not, reports the fault and returns
 * false. */
bool watch_is_possible(const struct cli *cli);
/* Watches the clusters in the list of `target`. `project` is the only project in it, or NULL. When the watch
 * cannot continue, reports why and returns an exit code. */
int watch_list(struct cli *cli, const struct api_target *target, const char *project);
/* Watches the clusters that the command line names. */
int watch_names(struct cli *cli, const char *project);

#endif
